"""Networks of your own, made to ponder: each file is a script that learns a small task in seconds on a CPU."""
