"""Lesson 13: does every token need the same depth?"""
