"""Lesson 02: what would be a loss for stopping?"""
