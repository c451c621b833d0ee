"""Looking without training: with LOAD = "stored" each lesson that trains finds its networks in results/."""

import ast
import sys
from pathlib import Path

import pytest
import torch
from equations import Notebook, run
from running import LESSONS, NOTEBOOKS, namespace
from torch import nn

from ponder_course.common.trained import TrainOrLoad

ROOT = LESSONS.parent
sys.path.insert(0, str(ROOT / "tools"))
import course  # noqa: E402

THAT_TRAIN = [stem for stem, cells in NOTEBOOKS.items() if any("train_or_load(" in cell.source for cell in cells)]


def skip_without_digits(stem):
    has_digits = (ROOT / "data" / "MNIST").exists() or "DATASET: str" not in (LESSONS / f"{stem}.ipynb").read_text()
    if not has_digits:
        pytest.skip("the stored networks have learnt from MNIST, which is not in data/")


def calls(node):
    return any(isinstance(part, ast.Call) and ast.unparse(part.func) == "train_or_load" for part in ast.walk(node))


def train_or_load(stem, monkeypatch, **given):
    """Run what a lesson's networks need, with these parameters; return what it has asked for: {file: results}."""
    notebook, found = Notebook(stem), {}
    original = TrainOrLoad.__call__

    def recorded(self, learn, settings, untrained, name="networks"):
        results = original(self, learn, settings, untrained, name)
        found[f"{Path(self.files).name}_{name}.safetensors"] = results
        return results

    monkeypatch.setattr(TrainOrLoad, "__call__", recorded)
    monkeypatch.setattr(torch.optim.Optimizer, "__init__", lambda *_, **__: pytest.fail("it trains"))
    parameters = {i for i, statement in enumerate(notebook.statements) if isinstance(statement.node, ast.AnnAssign)}
    places = [place for place, statement in enumerate(notebook.statements) if calls(statement.node)]
    needed = parameters | {i for place in places for i in notebook.needed_by(place)}
    nodes = [notebook.statements[i].node for i in sorted(needed)]
    for i, node in enumerate(nodes):
        if isinstance(node, ast.AnnAssign) and node.target.id in given:
            nodes[i] = ast.parse(f"{node.target.id} = {given[node.target.id]!r}").body[0]
    run(nodes, namespace(monkeypatch))
    return found


@pytest.mark.parametrize("stem", THAT_TRAIN)
def test_a_lessons_networks_are_loaded_and_no_file_is_left_over(stem, monkeypatch):
    skip_without_digits(stem)
    found = train_or_load(stem, monkeypatch, LOAD="stored", BUDGET="class", DATASET="mnist")
    assert set(found) == {path.name for path in (ROOT / "results").glob(f"{stem}_*.safetensors")}
    for results in found.values():
        for result in results:
            model = result[0] if isinstance(result, tuple) else result
            assert isinstance(model, nn.Module)
            assert all(weight.isfinite().all() for weight in model.state_dict().values())


@pytest.mark.parametrize("stem", THAT_TRAIN)
def test_of_another_budget_they_are_refused(stem, monkeypatch):
    with pytest.raises(ValueError, match=r"LOAD.*BUDGET: 'smoke' here, 'class' there"):
        train_or_load(stem, monkeypatch, LOAD="stored", BUDGET="smoke", DATASET="digits")


def test_all_stored_networks_are_small_and_of_a_lesson():
    files = [*(ROOT / "results").glob("*.safetensors")]
    assert files
    assert sum(path.stat().st_size for path in files) < 750_000
    assert {path.name[:3] for path in files} <= {stem[:3] for stem in THAT_TRAIN}


@pytest.mark.slow
@pytest.mark.parametrize("stem", THAT_TRAIN)
def test_a_lesson_runs_through_with_its_stored_networks(stem, tmp_path):
    skip_without_digits(stem)
    row = course.run(LESSONS / f"{stem}.ipynb", {"LOAD": "stored"}, tmp_path / f"{stem}.ipynb")
    assert row["status"] == "ok"
