"""Lesson 11: the halting heads of HRM and TRM, and what running to the end costs networks that learn by them."""
