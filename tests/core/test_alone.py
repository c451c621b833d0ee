"""The helper alone: with torch, numpy, tqdm, filelock and what these require, and nothing else to import."""

import re
import zipfile
from email.parser import HeaderParser

import pytest
from environments import HELPER, ROOT, copied, run, wheel_of, with_only
from packaging.requirements import Requirement

import ponder_utils

pytest.importorskip("resource", reason="Windows makes no symbolic links unasked")

NEEDED = ("torch", "numpy", "tqdm", "filelock")
EXAMPLES = {path.stem for path in (ROOT / "examples").glob("*.py")}
EXAMPLES -= {"__init__", "torchvision_block", "scorecard"}  # which read digits and tasks of the course
NEED_MORE = {"huggingface": "transformers", "accelerate_loop": "accelerate"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheel_of(copied(HELPER, tmp_path_factory.mktemp("sources")), tmp_path_factory.mktemp("wheel"))


TRAINING = """
import importlib.util
others = ["matplotlib", "pandas", "ipywidgets", "IPython", "sklearn", "torchvision", "scipy", "loky"]
assert not any(map(importlib.util.find_spec, others))
from torch import nn
from ponder_utils import GRUStep, ParityTask, PonderLoss, PonderNet, train
task = ParityTask(4)
for n_updates in (3, 5):  # and goes on
    model, loss = PonderNet(GRUStep(4, 8), 3), PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), prior=0.3)
    options = {"evaluate": lambda model: {"accuracy": 1.0}, "log_every": 1, "checkpoint_dir": "checkpoints"}
    rows = train(model, loss, lambda generator: task.batch(8, generator), n_updates, lr=0.01, **options)
assert len(rows) == 5, rows
"""


def test_it_trains_with_a_checkpoint_where_nothing_else_can_be_imported(tmp_path):
    python = with_only(tmp_path / "bare", None, *NEEDED)
    done = run(python, "-c", TRAINING, cwd=copied(["ponder_utils"], tmp_path))
    assert done.returncode == 0, done.stderr


def test_the_wheel_holds_the_helper_and_asks_for_no_more(wheel):
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        text = opened.read(f"ponder_utils-{ponder_utils.__version__}.dist-info/METADATA").decode()
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "ponder_utils").rglob("*.py")} <= names
    assert "ponder_utils/py.typed" in names
    assert {name.split("/")[0] for name in names} == {
        "ponder_utils",
        f"ponder_utils-{ponder_utils.__version__}.dist-info",
    }
    required = [Requirement(line) for line in HeaderParser().parsestr(text).get_all("Requires-Dist")]
    assert {part.name for part in required if part.marker is None} == set(NEEDED)
    for part in required:  # an upper bound would take away a torch that is there already
        assert {specifier.operator for specifier in part.specifier} <= {">="}, part


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_runs_alone_or_with_the_package_it_names(name, wheel, tmp_path):
    needed = [*NEEDED, NEED_MORE[name]] if name in NEED_MORE else NEEDED
    pytest.importorskip(needed[-1])
    python = with_only(tmp_path / "bare", wheel, *needed)
    done = run(python, "-m", f"examples.{name}", cwd=copied(["examples", "benchmarks"], tmp_path))
    assert done.returncode == 0, done.stderr
    if name in NEED_MORE:
        assert float(re.search(r"right on ([\d.]+)%", done.stdout)[1]) >= 95
