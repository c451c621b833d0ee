"""Lesson 10: sudoku, where everyone hears everyone, and thought takes time because one thing follows from another."""
