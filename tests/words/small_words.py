"""A task of lesson 12; its walkers are no PonderNets, and learn in their own way."""

from ponder_course.words.task import ChainTask

TASKS = {"chains of words": ChainTask(8, 3)}
