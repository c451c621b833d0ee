"""Lesson 12: what do words buy that loops do not?"""
