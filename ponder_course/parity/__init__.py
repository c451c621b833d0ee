"""Lesson 03: can time be part of the answer?"""
