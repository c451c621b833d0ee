"""`make gpu`: what it says where there is no GPU, and that each of its parts sees what is there."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks import gpu
from benchmarks.timing import Effort

ROOT = Path(__file__).resolve().parents[2]


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
def test_one_file_says_what_was_seen(status, code, tmp_path, monkeypatch, capsys):
    """All parts are stood in for: this machine has no GPU."""
    row = {"notebook": "x", "status": status, "minutes": 0.1, "headline": "found"}

    def run(command, **_):
        for part, report in zip(command, [*command[1:], ""], strict=True):
            if part == "--out":
                Path(report).mkdir(parents=True, exist_ok=True)
                Path(report, "course.json").write_text(json.dumps([row]))
            if part.startswith("--junitxml="):
                Path(part.split("=")[1]).write_text('<testsuite><testcase name="a"/></testsuite>')

    monkeypatch.setattr(gpu, "ROOT", tmp_path)
    (tmp_path / "benchmarks").mkdir()
    monkeypatch.setattr(gpu.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(gpu, "machine", lambda: {"gpu": "none"})
    monkeypatch.setattr(gpu, "lessons", lambda: {"02": False, "05": True})
    monkeypatch.setattr(gpu, "table", lambda device, *_: [{"device": device}])
    monkeypatch.setattr(gpu.subprocess, "run", run)
    assert gpu.main([]) == code
    seen = json.loads((tmp_path / "benchmarks" / "gpu.json").read_text())
    assert seen["tests"] == {"passed": 1, "failed": []}
    assert [part["device"] for part in seen["table"]] == ["cuda", "cpu"]
    ran = [(part["lesson"], part["budget"], part["device"]) for part in seen["lessons"]]
    assert ran == [("02", "smoke", "cpu"), ("05", "smoke", "cuda"), ("02", "class", "cpu"), ("05", "class", "cuda")]
    assert gpu.main(["--smoke"]) == code
    assert len(json.loads((tmp_path / "runs" / "gpu" / "gpu.json").read_text())["lessons"]) == 2
    assert "1 tests passed" in capsys.readouterr().out
