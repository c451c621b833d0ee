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
EXAMPLES = {path.stem for path in (ROOT / "examples").glob("*.py")} - {"__init__"}
NEED_MORE = {  # and what they need
    "torchvision_block": "the digits of the course",
    "huggingface": "transformers",
    "accelerate_loop": "accelerate",
}


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


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return with_only(tmp_path_factory.mktemp("bare"), wheel, *NEEDED)


@pytest.mark.slow
def test_the_snippet_of_readme_runs_alone(installed, tmp_path):
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    done = run(installed, "-c", f"{code}\nprint(prediction.steps.shape, PonderNet.__module__)", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "torch.Size([5]) ponder_utils.pondernet"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXAMPLES - NEED_MORE.keys()))
def test_an_example_runs_alone(name, installed, tmp_path):
    done = run(installed, "-m", f"examples.{name}", cwd=copied(["examples", "benchmarks"], tmp_path))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["huggingface", "accelerate_loop"])
def test_an_example_runs_with_the_package_it_names(name, wheel, tmp_path):
    package = NEED_MORE[name]
    pytest.importorskip(package)
    python = with_only(tmp_path / "with_it", wheel, *NEEDED, package)
    done = run(python, "-m", f"examples.{name}", cwd=copied(["examples"], tmp_path))
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"right on ([\d.]+)%", done.stdout)[1]) >= 95
