"""Lesson 08: what if everyone can ask anyone?"""
