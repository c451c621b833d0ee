"""The snippet of the evidence's README runs, as a reader would run it, on fewer lines."""

import re
from pathlib import Path
from unittest import mock

import torch

from ponder_evidence.ways_to_stop import experiment
from ponder_evidence.ways_to_stop.problems import PROBLEMS

ROOT = Path(__file__).resolve().parents[2]


def blocks(page, form):
    return re.findall(form, (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)


def test_a_rule_of_ones_own_stands_beside_all_others(monkeypatch, capsys):
    lines = PROBLEMS["lines"]
    tests = {name: test._replace(n_inputs=20) for name, test in lines.tests.items()}
    monkeypatch.setitem(PROBLEMS, "lines", lines._replace(tests=tests))
    (rule,) = blocks("docs/package.md", r"^def twice_sure.*?(?=\n\n\n)")
    (snippet,) = blocks("evidence/README.md", r"^```python\n(.*?)^```$")
    names = {"torch": torch}
    tables = (experiment.RULES, experiment.TRAININGS, experiment.METHODS)
    with mock.patch.dict(tables[0]), mock.patch.dict(tables[1]), mock.patch.dict(tables[2]):  # the rule does not stay
        exec(rule, names)
        exec(snippet.replace("settings[:2]", "[{**s, 'updates': 2} for s in settings[:2]]"), names)
    assert re.search(r"twice sure \['too much time -?\d\.\d+, wrong answers \d\.\d+', ", capsys.readouterr().out)
