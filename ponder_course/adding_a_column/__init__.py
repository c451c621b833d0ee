"""Lesson 09: where, in a sequence, does it stop to think?"""
