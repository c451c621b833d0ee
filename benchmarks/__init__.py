"""The course's claims about speed, each measured with both sides in one run: `python -m benchmarks`."""
