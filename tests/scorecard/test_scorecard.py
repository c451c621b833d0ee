"""The scorecard on oracles, of which all numbers are known, on networks with a mistake, and as a stranger runs it."""

import hashlib
import json
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import one_hot

from ponder_course.scorecard.__main__ import main
from ponder_course.scorecard.measure import Looped, check, doubts, measure
from ponder_course.scorecard.table import PAGE, ROWS, rows, with_table
from ponder_course.scorecard.tasks import TASKS, Size

ROOT = PAGE.parents[1]


def oracle(task, questions, late, together):
    """Knows nothing before the need, and everything from then on; its head halts this much later, or earlier."""

    def network(x, N):
        n = torch.arange(1, N + 1).view(-1, *[1] * questions.y.ndim)
        knows = n >= questions.need
        logits = 20.0 * one_hot(questions.y.clamp(min=0), task.n_answers) * knows[..., None]
        need = torch.where(questions.y >= 0, questions.need, 1)
        if together:
            need, n = need.flatten(1).amax(1), n.view(-1, 1)
        return logits, torch.where(n >= (need + late).clamp(min=1), 20.0, -20.0)

    return network


@settings(max_examples=25)
@given(st.sampled_from(sorted(TASKS)), st.integers(-2, 2), st.booleans(), st.integers(0, 10**6))
def test_an_oracle_gets_exactly_its_numbers(name, late, together, seed):
    task = TASKS[name]
    questions = task.trained.draw(6, torch.Generator().manual_seed(seed))
    asked = questions.y >= 0
    of_samples = torch.where(asked, questions.need, 0).flatten(1).amax(1)
    need = of_samples[of_samples > 0] if together else questions.need[asked]
    model = Looped(oracle(task, questions, late, together), task)
    rules = measure(model, Size("", lambda n, generator: questions), 6, 0)["rules"]
    head, certain = rules["own head"], rules["certainty"]
    halts = (need + late).clamp(1, 2 * int(need.max())).double()
    assert head["steps"] == pytest.approx(halts.mean().item())
    assert head["early"] == pytest.approx((halts < need).double().mean().item())
    assert head["late"] == pytest.approx((halts > need).double().mean().item())
    assert certain["steps"] == certain["needed"] == pytest.approx(need.double().mean().item())
    assert (certain["right"], certain["early"], certain["late"]) == (1, 0, 0)
    if late >= 0:
        assert head["right"] == 1
    assert rules["the same for all"]["steps"] <= need.max()


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_what_a_task_draws_is_as_it_says(task):
    for size in (task.trained, task.larger):
        x, y, need = size.draw(4, torch.Generator().manual_seed(0))
        assert x.shape == (*y.shape, task.n_symbols)
        assert 0 <= x.min() <= x.max() < task.n_tokens
        assert y.max() < task.n_answers
        assert need[y >= 0].min() >= 1


def wrong(name, x, N):
    logits = torch.zeros(N, *x.shape[:-1], 10) + x.float().mean(-1, keepdim=True)
    if name == "too few loops":
        return logits[:3]
    if name == "classes first":
        return logits.movedim(-1, 1)
    if name == "nan":
        return logits / 0
    if name == "whole numbers":
        return logits.long()
    if name == "halts by class":
        return logits, logits
    if name == "knows N":
        return logits + N
    if name == "its head knows N":
        return logits, logits[..., 0] + N
    if name == "tosses coins":
        return torch.rand_like(logits)
    if name == "knows the others":
        return logits + x.float().mean()
    return logits + x[:, -1:].float().mean(-1, keepdim=True)  # reads the end


@pytest.mark.parametrize(
    ("name", "error", "named"),
    [
        ("too few loops", ValueError, "10 loops were asked for, the network gave 3"),
        ("classes first", ValueError, r"logits must have shape \[10, 1, 28, 10\].* got \[10, 10, 1, 28\]"),
        ("nan", ValueError, "logits must be finite"),
        ("whole numbers", TypeError, r"logits must be a floating-point tensor; got torch\.int64"),
        ("halts by class", ValueError, r"halting logits must have shape \[10, 1\] or \[10, 1, 28\]"),
        ("knows N", ValueError, "^logits look ahead: with 3 loops in all"),
        ("knows the others", ValueError, "^logits of a sample change if other samples are asked"),
        ("tosses coins", ValueError, "^logits are not the same twice"),
        ("its head knows N", ValueError, "halting logits look ahead"),
        ("reads the end", ValueError, "^logits look ahead: in a text no token may read a later one"),
    ],
)
def test_a_mistake_is_named_before_anything_is_trained(name, error, named):
    with pytest.raises(error, match=named):
        check(Looped(lambda x, N: wrong(name, x, N), TASKS["programs"]))


def test_what_looks_ahead_only_once_it_is_trained_is_refused(tmp_path, capsys):
    code = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)[1]
    code = code.replace(
        "        self.own =", "        self.clock = nn.Parameter(torch.zeros(size, 1))\n        self.own ="
    )
    code = code.replace("for _ in range(n_loops)", "for n in range(n_loops)").replace(
        "(h) + z", "(h) + z + n / n_loops * self.clock"
    )
    file = tmp_path / "clock.py"
    file.write_text(code, encoding="utf-8")
    with pytest.raises(SystemExit):
        main([str(file), "--tasks", "lines", "--updates", "9", "--samples", "8", "--out", str(tmp_path)])
    assert "lines, refused after training: logits look ahead" in capsys.readouterr().out
    assert not (tmp_path / "clock.json").exists()


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (lambda h: h.detach(), "no gradient"),
        (lambda h: h.sigmoid(), "between 0 and 1"),
        (lambda h: h * 0, "the same whatever is asked"),
        (lambda h: h, None),
    ],
    ids=["detached", "probabilities", "constant", "fine"],
)
def test_a_head_that_cannot_stop_is_doubted(head, said):
    weight = torch.tensor(1.0, requires_grad=True)

    def network(x, N):
        h = (torch.arange(N) - 3.0).view(-1, 1, 1) * weight + x[..., 0]
        return h[..., None].expand(*h.shape, 2), head(h)

    sentences = " ".join(doubts(Looped(network, TASKS["lines"])))
    assert (said in sentences) if said else not sentences


def test_a_stranger_runs_the_file_of_the_page(tmp_path, capsys):
    code = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)[1]
    file = tmp_path / "theirs.py"
    file.write_text(code, encoding="utf-8")
    small = ["--updates", "3", "--samples", "8", "--out", str(tmp_path)]
    main([str(file), *small])
    row = json.loads((tmp_path / "theirs.json").read_text(encoding="utf-8"))
    assert [*row["tasks"]] == ["lines", "columns"]  # it hears its neighbours on a line, and looks ahead in a text
    budget, larger = row["tasks"]["lines"]["budget"], row["tasks"]["lines"]["larger"]
    assert (budget["updates"], budget["examples"], budget["by"]) == (3, 96, "the scorecard")
    assert len(larger["by_loop"]) >= 64
    assert "of these right" in capsys.readouterr().out
    assert (tmp_path / "theirs.png").read_bytes().startswith(b"\x89PNG")
    file.write_text("def net(task): ...")
    with pytest.raises(ValueError, match=r"must define a function network\(task\)"):
        main([str(file), *small])


def test_the_page_has_the_table_of_its_rows_and_each_row_is_of_its_file():
    assert PAGE.read_text(encoding="utf-8") == with_table(), "run `python -m ponder_course.scorecard --table`"
    assert rows()
    for row in rows():
        file = ROWS / f"{row['network']}.py"
        assert hashlib.sha256(file.read_bytes()).hexdigest() == row["sha256"], f"run the scorecard on {file.name} anew"
