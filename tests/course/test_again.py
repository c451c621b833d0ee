"""Stored runs beside those that today's code makes: how old they are, and how they compare."""

import json
import sys
from pathlib import Path

import pytest

from ponder_course.common.runs import Experiment, run_all

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import again  # noqa: E402

STORED, OTHER = {"steps": [1.0, 5.0], "name": "a"}, {"steps": [2.0, 6.0], "name": "a"}


@pytest.mark.parametrize(
    ("new", "others", "verdict"),
    [
        (STORED, [], "to the bit"),
        (STORED | {"cpu_seconds": 9}, [OTHER], "to the bit"),
        (
            STORED | {"steps": [1.5, 5.0]},
            [OTHER],
            "within noise: 1 of 3 numbers differ, 0 beyond other seeds (these: 2 to 2)",
        ),
        (
            STORED | {"steps": [2.5, 5.0]},
            [OTHER],
            "within noise: 1 of 3 numbers differ, 1 beyond other seeds (these: 1 to 1)",
        ),
        (
            STORED | {"steps": [3.0, 7.0]},
            [OTHER],
            "different: 2 of 3 numbers differ, 2 beyond other seeds (these: 0 to 0)",
        ),
        (STORED | {"steps": [3.0, 7.0]}, [], "different: 2 of 3 numbers differ, 2 beyond other seeds (these: none)"),
        (STORED | {"name": "b"}, [STORED, OTHER], "within noise: 1 of 3"),
        (
            STORED | {"name": "b"},
            [STORED, STORED],
            "different: 1 of 3 numbers differ, 1 beyond other seeds (these: 0 to 0)",
        ),
        ({"steps": [1.0], "name": "a"}, [STORED], "different: 1 of 3"),
        (STORED | {"steps": [1.0, float("nan")]}, [STORED], "different: 1 of 3"),
        (STORED | {"steps": [1.0, None]}, [STORED], "different: 1 of 3"),
    ],
)
def test_a_run_that_was_made_again_is_compared_number_by_number(new, others, verdict):
    assert again.compare(new, STORED, others).startswith(verdict)


def doubled(x, seed):
    return {"y": 2 * x, "noise": seed}


def test_the_shortest_run_with_other_seeds_is_made_again_once_and_older_ones_are_counted(tmp_path, monkeypatch):
    experiment = Experiment("made_up", doubled, [], [])
    monkeypatch.setattr(again, "experiments", lambda: [experiment, Experiment("never", doubled, [], [])])
    settings = [{"x": 1, "seed": 0}, {"x": 1, "seed": 1}, {"x": 2, "seed": 0}]
    file, made = tmp_path / "made_up.jsonl", tmp_path / "again" / "made_up.jsonl"
    run_all(doubled, settings, file=file)
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    for entry, seconds in zip(entries, (3.0, 2.0, 1.0), strict=True):
        entry["seconds"] = seconds
    entries[0]["fingerprint"] = "0" * 16
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))

    (line,) = again.table(tmp_path, tmp_path / "again")
    assert line.split() == ["made_up", "1", "of", "3", "older,", "none", "made", "again"]
    again.make_again(tmp_path, tmp_path / "again")
    (entry,) = map(json.loads, made.read_text().splitlines())
    assert entry["setting"] == settings[1]
    (line,) = again.table(tmp_path, tmp_path / "again")
    assert line.endswith("older, made again: to the bit")

    entry["fingerprint"], entry["result"]["noise"] = "0" * 16, 5
    made.write_text(json.dumps(entry) + "\n")
    (line,) = again.table(tmp_path, tmp_path / "again")
    assert "(with older code): different: 1 of 2" in line
    again.make_again(tmp_path, tmp_path / "again")
    assert again.table(tmp_path, tmp_path / "again")[0].endswith("older, made again: to the bit")
