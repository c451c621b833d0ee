"""`make gpu`: the table of what there is, and what it says where memory runs out."""

import torch

from benchmarks import gpu
from benchmarks.timing import Effort


def test_the_table_has_a_row_for_each_task_batch_and_width():
    rows = gpu.table("cpu", Effort(smoke=True), 1)
    sizes = [(row["task"], row["batch"], row["width"]) for row in rows]
    assert sizes == [(name, gpu.BATCHES[name][0], 32) for name in gpu.WORKS]
    assert all(row["updates_per_second"] > 0 for row in rows)


def test_memory_that_runs_out_is_a_row_without_a_number(monkeypatch):
    def no_memory(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(gpu, "seconds", no_memory)
    assert gpu.updates_per_second(gpu.WORKS["lines"], 4, 8, "cpu", Effort(smoke=True)) is None
