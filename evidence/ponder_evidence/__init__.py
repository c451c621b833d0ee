"""The experiments behind the lessons, a room for each: what makes the stored runs, and what only their notebooks draw.

It imports `ponder_utils` and the lessons' rooms, and nothing imports it.
"""
