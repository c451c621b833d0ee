import inspect
from hashlib import sha256

import pytest
import torch

from ponder_course.common.notebook import attempt, check_hashed, check_on, check_parameters, pick_device

PARAMETERS = 'BUDGET: str = "class"  # how much\nSEEDS: int = 3\nloose = 1'


@pytest.mark.parametrize("cell", ["x?", "%%bash\nfor i in a: b; do echo $i; done", "x: int = (", "x: int = 1\0"])
def test_an_undeclared_parameter_is_refused_by_name_whatever_other_cells_hold(cell):
    check_parameters([cell, PARAMETERS, "# Parameters\nSEEDS = 1\n", cell])
    with pytest.raises(ValueError, match="SEED, loose; this notebook has BUDGET, SEEDS"):
        check_parameters([cell, PARAMETERS, "# Parameters\nSEED = 1\nloose = 3\n", cell])


@pytest.mark.parametrize("there", [[], ["mps"], ["cuda"], ["cuda", "mps"]])
def test_devices_simulated(there, monkeypatch):
    """Apple's GPU is simulated: it is said to be there, and no tensor is put on it."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in there)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in there)
    assert pick_device("auto") == torch.device([*there, "cpu"][0])
    for kind in ("cpu", *there):
        assert pick_device(kind) == torch.device(kind)
    for kind in {"cuda", "mps"} - {*there}:
        with pytest.raises(ValueError, match=f"^DEVICE .*'auto' or 'cpu'.*{kind}"):
            check_parameters(['DEVICE: str = "auto"'], {"DEVICE": kind})


def test_a_hashed_answer_is_right_in_any_form_for_one_problem_only():
    digest = sha256(b"ponder 01 1a 0.25 -1.00 0.00").hexdigest()[:16]
    rounded, grid = [0.2501, -1.001, -0.001], torch.tensor([[0.25], [-1], [0]], requires_grad=True)  # and no -0
    for answer in (rounded, grid, lambda: (0.25, -1.0, 0.0)):
        assert check_hashed(answer, "01 1a", digest, decimals=2)
        assert not check_hashed(answer, "01 1b", digest, decimals=2)


def raises():
    raise ValueError("two\nlines")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda x, k: [k * number for number in x], "Right."),
        (lambda x, k: [2 * number for number in x], "Not yet: [1.0, 2.0], 3 should give [3, 6], not [2.0, 4.0]"),
        (lambda x, k: raises(), "Not yet: ValueError: two lines"),
        (None, "Not yet: TypeError: 'NoneType' object is not callable"),
    ],
)
def test_an_answer_is_checked_on_cases(answer, message, capsys):
    x = [1.0, 2.0]
    assert attempt(check_on((x, 2, [2, 4]), (x, 3, [3, 6])), answer) == (message == "Right.")
    assert capsys.readouterr().out == f"{message}\n"
    assert x == [1.0, 2.0]


def test_nothing_is_right_where_python_leaves_assertions_out(capsys):
    names, source = {}, inspect.getsource(inspect.getmodule(attempt))
    exec(compile(source, "notebook.py", "exec", optimize=1), names)  # as python -O does
    assert not names["attempt"](names["check_on"]((2, 4.0)), lambda n: 0.0)
    assert not names["check_hashed"](123.0, "01 1a", "0" * 16)
    assert capsys.readouterr().out.count("Not yet: nothing can be checked") == 2
