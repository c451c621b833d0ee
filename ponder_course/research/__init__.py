"""Long evidence, a room for each lesson: what no lesson, but its evidence, runs and draws.

It imports the lessons' rooms, and no lesson imports it.
"""
