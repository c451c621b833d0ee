"""Lesson 06: who stops best?"""
