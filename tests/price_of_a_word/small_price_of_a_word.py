"""Tasks of lesson 14; its writers are no PonderNets, and learn in their own way."""

from ponder_course.price_of_a_word.task import DitheringTask, OneChainTask

TASKS = {"chains that dither": DitheringTask(8, 6), "one chain": OneChainTask(8)}
