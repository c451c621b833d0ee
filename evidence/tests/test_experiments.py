"""The experiments of all lessons: what their settings are, and what is stored of them."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import ponder_evidence
from ponder_course.common.runs import seeded
from ponder_course.common.store import key_of, plain, read
from ponder_evidence.runs import grid

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "evidence" / "results"


def experiments():
    """All experiments of the evidence, by the order of its modules."""
    found = []
    for info in pkgutil.walk_packages(ponder_evidence.__path__, "ponder_evidence."):
        module = importlib.import_module(info.name)
        found += getattr(module, "EXPERIMENTS", {}).values()
    return found


EXPERIMENTS = experiments()
BY_NAME = pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)


def test_every_stored_file_belongs_to_an_experiment():
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(names) == len(set(names))
    assert {path.stem for path in RESULTS.glob("*.jsonl")} <= set(names)


@BY_NAME
def test_settings_differ_and_those_that_are_stored_are_among_them(experiment):
    keys = [key_of(setting) for setting in experiment.settings]
    assert len({*keys}) == len(keys)
    assert all(setting == plain(setting) for setting in experiment.settings + experiment.short)
    entries = read(RESULTS / f"{experiment.name}.jsonl")
    assert {key_of(entry["setting"]) for entry in entries} <= {*keys}


def test_each_setting_with_each_seed_in_either_order_and_the_first_seed_is_shown():
    assert seeded([{"a": 1}, {"a": 2}], 2) == [{"a": a, "seed": seed} for a in (1, 2) for seed in (0, 1)]
    settings = seeded([{"a": 1}, {"a": 2}], range(5, 7), seed_by_seed=True)
    assert settings == [{"a": a, "seed": seed} for seed in (5, 6) for a in (1, 2)]
    experiment = grid("made_up", dict, settings, {"updates": 3}, n_short=5, checkpointed=True)
    assert experiment.settings == settings
    assert experiment.short == [{"a": 1, "seed": 5, "updates": 3}, {"a": 2, "seed": 5, "updates": 3}]
    assert experiment.checkpointed
    assert len(grid("made_up", dict, settings, {}).short) == 1


def test_make_results_makes_every_run_that_a_notebook_can_make():
    """Each notebook with the largest RUN that it allows."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (named,) = re.findall(r"^OF_PAPERS_SIZE := ([\w ]+?) *#", makefile, re.M)
    pattern = r"check_parameters\(In, globals\(\), RUN=\(([^)]*)\)"
    allowed = {}
    for path in (ROOT / "evidence" / "notebooks").glob("*.ipynb"):
        for choices in re.findall(pattern, path.read_text(encoding="utf-8")):
            allowed[path.stem] = choices
    assert set(named.split()) == {stem for stem, choices in allowed.items() if "paper" in choices}
