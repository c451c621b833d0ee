"""Experiments: what the lessons train and measure, a file or two for each lesson, and what their runs say."""
