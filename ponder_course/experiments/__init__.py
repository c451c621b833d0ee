"""Experiments: what is trained and measured, and what the runs say.

`results` makes the runs of a grid and keeps them, with `store` and `workers`; `verdicts` judges them. Lesson 01 has
`price` and `presentation`, 02 `descent`, 03 `parity` and `papers_size`, 04 `reading` (its networks), `turning` (what is
measured of them) and `rotation` (the runs), 05 `lines`.
"""
