import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from processes import CONTEXT

from ponder_course import store
from ponder_course.store import append, at_hand, finished, key_of, plain, prepare, read
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
    file.write_bytes(whole[:-1])
    assert read(file) == ENTRIES
    append(file, ENTRIES[0])
    assert file.read_bytes() == whole + whole.splitlines(keepends=True)[0]


def test_a_file_that_holds_only_a_piece_starts_over(tmp_path):
    (tmp_path / "runs.jsonl").write_bytes(b'{"setting"')
    append(tmp_path / "runs.jsonl", ENTRIES[0])
    assert read(tmp_path / "runs.jsonl") == ENTRIES[:1]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: "seed,value" + text[10:], 1),
        (lambda text: text.replace('"result"', '"resul"', 2).replace('"resul"', '"result"', 1), 2),
        (lambda text: "7\n" + text, 1),
        (lambda text: text + "{}\n", 5),
        (lambda text: '{"runs": []}\n' + text, 1),
        (lambda text: text[:60] + "\n" + text[60:], 2),
        (lambda text: text.replace('{"value": 30}', "[30]"), 4),
        (lambda text: text.replace('{"seed": 2}', "2"), 3),
        (lambda text: text.replace("\n", "\n\n", 1), 2),
        (lambda text: text.replace("10", "\xff", 1), 2),
    ],
)
def test_a_damaged_line_is_named(file, change, line):
    file.write_bytes(change(file.read_text()).encode("latin-1"))
    with pytest.raises(DamagedFileError, match=rf"runs\.jsonl, line {line} is not a run as run_all writes it\. Delete"):
        read(file)


def test_lines_may_end_as_on_windows(file):
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    append(file, {"setting": {"seed": 4}, "result": {}})
    assert read(file) == [*ENTRIES, {"setting": {"seed": 4}, "result": {}}]


def test_many_threads_append_whole_lines(tmp_path):
    entries = [{"setting": {"seed": seed}, "result": {"text": "x" * 5000}} for seed in range(60)]
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda entry: append(tmp_path / "runs.jsonl", entry), entries))
    assert sorted(read(tmp_path / "runs.jsonl"), key=lambda entry: entry["setting"]["seed"]) == entries


def append_fifty(file, name):
    for seed in range(50):
        append(file, {"setting": {"seed": seed, "process": name}, "result": {"text": "x" * 5000}})


def test_two_processes_append_whole_lines(tmp_path):
    file = tmp_path / "runs.jsonl"
    processes = [CONTEXT.Process(target=append_fifty, args=(file, name)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    settings = [entry["setting"] for entry in read(file)]
    for name in "ab":
        assert [setting["seed"] for setting in settings if setting["process"] == name] == list(range(50))


def test_a_key_knows_no_order_and_no_type_of_numbers():
    assert key_of({"a": 1, "b": (2, 3)}) == key_of({"b": [2, np.int64(3)], "a": torch.tensor(1)})
    assert key_of({"a": 1}) != key_of({"a": 2})
    assert plain({"x": np.float64(0.5), "y": torch.ones(2), 3: None}) == {"x": 0.5, "y": [1.0, 1.0], "3": None}
    with pytest.raises(TypeError, match="settings and results must be numbers, strings, lists and dicts; got a Linear"):
        plain({"x": torch.nn.Linear(1, 1)})


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    assert prepare(tmp_path / "link.jsonl") == tmp_path / "real.jsonl"
    append(prepare(tmp_path / "link.jsonl"), ENTRIES[0])
    assert (tmp_path / "link.jsonl").is_symlink()
    assert read(tmp_path / "real.jsonl") == read(tmp_path / "link.jsonl") == ENTRIES[:1]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("folder", "folder"), ("file/runs.jsonl", "file"), ("/proc/x", "/proc/x"), ("/proc/none/x", "/proc/none")],
)
def test_a_file_that_cannot_be_written_is_named_at_once(tmp_path, name, wrong):
    if name.startswith("/proc") and not os.path.isdir("/proc/self"):
        pytest.skip("needs Linux")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=f"{wrong}'"):
        prepare(tmp_path / name)


def test_a_new_folder_is_made(tmp_path):
    append(prepare(tmp_path / "a" / "b" / "runs.jsonl"), ENTRIES[0])
    assert [json.loads(line) for line in (tmp_path / "a" / "b" / "runs.jsonl").read_text().splitlines()] == ENTRIES[:1]


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
