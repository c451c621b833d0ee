"""The door to stored runs: what it reads, where it looks, and what is one setting."""

import json
import math

import numpy as np
import pytest
import torch

from ponder_course.common import store
from ponder_course.common.store import at_hand, finished, key_of, plain, read
from ponder_utils.checkpoints import DamagedFileError

ENTRIES = [{"setting": {"seed": seed}, "result": {"value": 10 * seed}} for seed in range(4)]


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps(entry) + "\n" for entry in ENTRIES))
    return file


def test_what_was_stored_is_read_in_order_and_the_first_result_of_a_setting_counts(file, tmp_path):
    assert read(file) == ENTRIES
    file.write_text(file.read_text() + json.dumps({"setting": {"seed": 0.0}, "result": {"value": -1}}))
    assert list(finished(file).values()) == [{"seed": seed, "value": 10 * seed} for seed in range(4)]
    assert finished(None) == finished(tmp_path / "none.jsonl") == {}


@pytest.mark.parametrize(
    ("change", "line"),
    [(lambda text: text + "{}\n", 5), (lambda text: text[:60] + "\n" + text[60:], 2), (lambda text: text[:-10], 4)],
)
def test_a_damaged_line_is_named(file, change, line):
    file.write_text(change(file.read_text()))
    with pytest.raises(DamagedFileError, match=rf"runs\.jsonl, line {line} "):
        read(file)


def test_equal_numbers_are_one_setting_and_true_is_none():
    assert key_of({"a": 1, "b": [2.0, {"c": np.float32(3)}]}) == key_of({"b": (2, {"c": 3.0}), "a": 1.0})
    assert key_of({"a": True}) != key_of({"a": 1})
    assert key_of({"a": 2**53 + 1}) != key_of({"a": 2.0**53})
    assert key_of({"a": 1.5, "b": math.nan}) == key_of({"b": np.float64("nan"), "a": torch.tensor(1.5)})


def test_what_is_stored_is_plain():
    live = {"curve": [torch.ones(2, requires_grad=True)], "by": ({"lr": torch.tensor(0.5)}, None), np.int64(3): 1}
    assert plain(live) == {"curve": [[1.0, 1.0]], "by": [{"lr": 0.5}, None], "3": 1}


@pytest.mark.parametrize("wrong", [1j, {1}, {1: 0, "1": 1}, {math.nan: 0}])
def test_what_cannot_be_stored_is_found_however_deep_it_lies(wrong):
    with pytest.raises(TypeError, match=r"result\['curve'\]\[1\]\['lr'\]"):
        plain({"curve": (0, {"lr": wrong})}, "result")


def test_what_is_missing_in_the_repositorys_folders_comes_from_the_wheel(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").touch()
    monkeypatch.setattr(store, "FOLDERS", [tmp_path])
    asked = tmp_path / "results" / "a.jsonl"
    assert at_hand(str(asked)) == tmp_path / "a.jsonl"
    assert at_hand(tmp_path / "mine" / "a.jsonl") == tmp_path / "mine" / "a.jsonl"
    asked.parent.mkdir()
    asked.touch()
    assert at_hand(asked) == asked
