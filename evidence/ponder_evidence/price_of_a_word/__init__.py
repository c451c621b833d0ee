"""Stored runs of lesson 14."""
