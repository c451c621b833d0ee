"""Experiments whose runs are stored: from a setting to what is measured, as `results.run_grid` wants it."""
