import json
import math

import numpy as np
import pytest
import torch
from processes import CONTEXT

from ponder_course.common import store
from ponder_course.common.store import append, at_hand, finished, key_of, plain, prepare, read
from ponder_utils.checkpoints import DamagedFileError

ENTRIES = [{"setting": {"seed": seed}, "result": {"value": 10 * seed}} for seed in range(4)]


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "runs.jsonl"
    for entry in ENTRIES:
        append(file, entry)
    return file


def test_what_was_appended_is_read_in_order(file, tmp_path):
    assert read(file) == ENTRIES
    loss = plain([np.nan, torch.tensor(math.inf), -np.inf])
    append(file, {"setting": {}, "result": {"loss": loss}})
    assert str(read(file)[-1]["result"]) == "{'loss': [nan, inf, -inf]}"
    assert read(tmp_path / "none.jsonl") == []
    assert finished(None) == finished(tmp_path / "none.jsonl") == {}


def test_the_first_result_of_a_setting_counts_and_no_error_does(file):
    append(file, {"setting": {"seed": 0}, "result": {"value": -1}})
    append(file, {"setting": {"seed": 9}, "error": "KeyError: 'x'"})
    assert len(read(file)) == 6
    assert list(finished(file).values()) == [{"seed": seed, "value": 10 * seed} for seed in range(4)]


def test_a_piece_of_a_line_that_a_kill_has_left_is_cut_off_by_the_next_writer(file):
    whole = file.read_bytes()
    for cut in (2, 30, len(whole.splitlines()[-1])):
        file.write_bytes(whole[:-cut])
        assert read(file) == ENTRIES[:3]
        append(file, ENTRIES[3])
        assert file.read_bytes() == whole


def test_a_last_line_whose_newline_an_editor_has_taken_away_is_kept(file):
    whole = file.read_bytes()
    file.write_bytes(whole + b" " * 1000)  # of a trial that was killed
    assert prepare(file) == file.resolve()
    assert file.read_bytes() == whole
    file.write_bytes(whole[:-1])
    assert read(file) == ENTRIES
    append(file, ENTRIES[0])
    assert file.read_bytes() == whole + whole.splitlines(keepends=True)[0]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: "seed,value" + text[10:], 1),
        (lambda text: text + "{}\n", 5),
        (lambda text: text[:60] + "\n" + text[60:], 2),
        (lambda text: text.replace('{"value": 30}', "[30]"), 4),
        (lambda text: text.replace("10", "\xff", 1), 2),
        (lambda text: text.replace('{"value": 0}', 'null, "error": "x"'), 1),
        (lambda text: text.replace('"result": {"value": 10}', '"error": ["x"]'), 2),
        (lambda text: text.replace('{"value": 20}', "[" * 200_000), 3),
    ],
)
def test_a_damaged_line_is_named(file, change, line):
    file.write_bytes(change(file.read_text()).encode("latin-1"))
    with pytest.raises(DamagedFileError, match=rf"runs\.jsonl, line {line} "):
        read(file)


@pytest.mark.parametrize("end", [b"[" * 200_000, b"a line that nobody ended", b'{"setting": {}}', b'{"runs": {"a"'])
def test_an_end_that_no_run_can_have_left_is_named_and_nothing_is_cut_off(file, end):
    content = file.read_bytes() + end
    file.write_bytes(content)
    for use in (read, prepare, lambda file: append(file, ENTRIES[0])):
        with pytest.raises(DamagedFileError, match=r"runs\.jsonl, line 5 "):
            use(file)
        assert file.read_bytes() == content


def test_equal_numbers_are_one_setting_and_true_is_none():
    assert key_of({"a": 1, "b": [2.0, {"c": np.float32(3)}]}) == key_of({"b": (2, {"c": 3.0}), "a": 1.0})
    assert key_of({"a": True}) != key_of({"a": 1})
    assert key_of({"a": 2**53 + 1}) != key_of({"a": 2.0**53})
    assert key_of({"a": 1.5, "b": math.nan}) == key_of({"b": np.float64("nan"), "a": torch.tensor(1.5)})


def test_what_is_stored_is_a_copy_of_plain_numbers():
    live = {"curve": [torch.ones(2, requires_grad=True)], "by": ({"lr": torch.tensor(0.5)}, None), np.int64(3): 1}
    kept = plain(live)
    assert json.dumps(kept) == '{"curve": [[1.0, 1.0]], "by": [{"lr": 0.5}, null], "3": 1}'
    live["by"][0]["lr"].mul_(0)
    live["curve"].append(2)
    assert kept == {"curve": [[1.0, 1.0]], "by": [{"lr": 0.5}, None], "3": 1}


def put_in(packed, file, seed):
    store.PACKED = packed
    append(prepare(file), {"setting": {"seed": seed}, "result": {}})


def test_two_processes_put_their_runs_behind_one_copy_of_those_in_the_wheel(tmp_path, file):
    packed, mine = file.parent, tmp_path / "mine" / "results" / "runs.jsonl"
    processes = [CONTEXT.Process(target=put_in, args=(packed, mine, seed)) for seed in range(10, 14)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    entries = read(mine)
    assert entries[:4] == ENTRIES
    assert sorted(entry["setting"]["seed"] for entry in entries[4:]) == [10, 11, 12, 13]


@pytest.mark.parametrize(("folder", "is_packed"), [("results", True), ("benchmarks", True), ("mine", False)])
def test_what_is_missing_in_the_repositorys_folders_comes_from_the_wheel(folder, is_packed, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "PACKED", tmp_path / "stored")
    asked = tmp_path / folder / "a.jsonl"
    assert at_hand(asked) == asked  # nowhere
    store.PACKED.mkdir()
    (store.PACKED / "a.jsonl").touch()
    assert at_hand(str(asked)) == (store.PACKED / "a.jsonl" if is_packed else asked)
    asked.parent.mkdir()
    asked.touch()
    assert at_hand(asked) == asked


@pytest.mark.parametrize(
    "wrong",
    [
        *(1j, {1}, b"x", torch.ones(1, dtype=torch.cfloat), np.datetime64(1, "s"), object()),
        *({1: 0, "1": 1}, {None: 0, "null": 1}, {math.nan: 0}, {(1, 2): 0}, {b"x": 0}),  # names that JSON confuses
    ],
)
def test_what_cannot_be_stored_is_found_however_deep_it_lies(wrong):
    with pytest.raises(TypeError, match=r"result\['curve'\]\[1\]\['lr'\]"):
        plain({"curve": (0, {"lr": wrong})}, "result")
