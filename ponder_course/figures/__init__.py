"""Figures of the course: `style` and what lessons share, and a file for each lesson."""
