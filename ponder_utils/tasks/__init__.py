"""Tasks: whole batches of inputs and targets, made on the device from a `torch.Generator`."""

from ponder_utils.tasks.columns import ColumnTask
from ponder_utils.tasks.forests import ForestTask
from ponder_utils.tasks.lines import AdditionTask, LineParityTask
from ponder_utils.tasks.mazes import MazeTask
from ponder_utils.tasks.parity import ParityTask
from ponder_utils.tasks.rotation import RotationTask, rotated_by, rotated_within
from ponder_utils.tasks.sequences import LogicTask, RunningSumTask, SortTask

__all__ = [
    "AdditionTask", "ColumnTask", "ForestTask", "LineParityTask", "LogicTask", "MazeTask", "ParityTask",
    "RotationTask", "RunningSumTask", "SortTask", "rotated_by", "rotated_within",
]  # fmt: skip
