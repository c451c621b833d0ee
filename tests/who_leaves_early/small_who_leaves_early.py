"""A task of lesson 13; its readers are no PonderNets, and learn in their own way."""

from ponder_course.who_leaves_early.task import ProgramTask

TASKS = {"programs": ProgramTask(8, 3)}
