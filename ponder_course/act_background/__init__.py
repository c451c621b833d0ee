"""Lesson 01: can a network learn when to stop?"""
