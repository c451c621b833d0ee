"""`make gpu`: what it says where there is no GPU, and that each of its parts sees what is there."""

import json

import pytest
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


@pytest.mark.parametrize(("status", "code"), [("ok", 0), ("FAILED in cell 3", 1)])
def test_a_lesson_that_fails_is_in_the_file_and_in_the_exit_status(status, code, tmp_path, monkeypatch):
    """All parts are stood in for: this machine has no GPU."""
    monkeypatch.setattr(gpu, "ROOT", tmp_path)
    monkeypatch.setattr(gpu.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(gpu, "machine", dict)
    monkeypatch.setattr(gpu, "run_tests", lambda folder: {"passed": 1, "failed": []})
    monkeypatch.setattr(gpu, "lessons", lambda: {"05": True})
    monkeypatch.setattr(gpu, "run_lesson", lambda name, *_: {"lesson": name, "status": status})
    monkeypatch.setattr(gpu, "table", lambda device, *_: [{"device": device}])
    assert gpu.main(["--smoke"]) == code
    seen = json.loads((tmp_path / "runs" / "gpu" / "gpu.json").read_text())
    assert [part["device"] for part in seen["table"]] == ["cuda", "cpu"]
    assert seen["lessons"] == [{"lesson": "05", "status": status}]
