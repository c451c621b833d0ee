"""Lesson 09: how can a network know that no news is on the way?"""
