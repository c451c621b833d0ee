"""Lesson 05: and if it must?"""
