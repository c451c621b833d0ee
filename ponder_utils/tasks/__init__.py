"""Tasks: whole batches of inputs and targets, made on the device from a `torch.Generator`."""

from ponder_utils.tasks.parity import ParityTask

__all__ = ["ParityTask"]
