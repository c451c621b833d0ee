"""Lesson 04: it takes four steps: is it thinking?"""
