"""Lesson 07: what if each place may stop by itself?"""
