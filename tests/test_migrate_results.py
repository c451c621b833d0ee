import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import migrate_results  # noqa: E402


def line(setting, result):
    return json.dumps({"setting": setting, "result": result, "seconds": 1.5, "made_with": "x", "crc32": "00000000"})


@pytest.mark.parametrize(
    ("stem", "result", "new"),
    [
        ("01_act_ACT_class", {"accuracy": [1.0], "n_updates": [2.25]}, {"accuracy": [1.0], "steps": [2.25]}),
        ("01_act_controls_class", {"thinks": [1e-05], "one": [0]}, {"steps": [1e-05], "one_step": [0]}),
        ("03_papers_size_64", {"curve": {"knob": 1}, "trained": 1}, {"curve": {"knob": 1}, "trained": 1}),
        ("04_mnist_rotation_closer", {"shares": {"late": 0.1}}, {"fractions": {"late": 0.1}}),
        ("06_ways_to_stop_knobs", {"trained": 3.25, "tests": {"a": [None]}}, {"cpu_seconds": 3.25, "tests": {"a": [None]}}),
    ],
)
def test_names_change_and_values_do_not(stem, result, new):
    old = line({"N": 20, "knob": 0.1, "seed": 0}, result)
    row = json.loads(migrate_results.migrated(old, stem))
    assert list(row) == ["setting", "result", "seconds", "made_with", "version", "fingerprint"]
    assert list(row["setting"].items()) == [("N", 20), ("hyperparameter", 0.1), ("seed", 0)]
    assert row["result"] == new
    assert row["fingerprint"] is None
    assert migrate_results.values(old) == migrate_results.values(migrate_results.migrated(old, stem))


def test_a_changed_value_is_seen():
    assert migrate_results.values(line({}, {"a": 0.1})) != migrate_results.values(line({}, {"a": 0.10000000000000002}))


def test_two_columns_never_become_one():
    with pytest.raises(ValueError, match="two columns would have one name"):
        migrate_results.migrated(line({}, {"steps": 1, "n_updates": 2}), "01_act_ACT_class")


def test_all_files_are_migrated_and_renamed(tmp_path, monkeypatch):
    monkeypatch.setattr(migrate_results, "RESULTS", tmp_path)
    (tmp_path / "06_ways_to_stop_knobs.jsonl").write_text(line({"knob": 1}, {"trained": 2}) + "\n")
    migrate_results.main()
    (path,) = tmp_path.iterdir()
    assert path.name == "06_ways_to_stop_hyperparameters.jsonl"
    assert json.loads(path.read_text())["setting"] == {"hyperparameter": 1}
