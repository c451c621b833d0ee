"""A task of lesson 11; its step is no PonderNet, and learns in its own way."""

from ponder_course.judges.task import SumTask

TASKS = {"sums": SumTask(6, n_values=3)}
