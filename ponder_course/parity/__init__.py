"""Lesson 03: does it think longer on harder inputs?"""
