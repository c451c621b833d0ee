"""Lesson 14: who pays for thinking, and when?"""
