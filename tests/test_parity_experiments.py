"""The engine of the experiments on parity: settings, what a run measures, and what is read from runs."""

import inspect
from statistics import fmean

import pytest
import torch
from scipy.stats import ttest_ind
from torch import nn

from ponder_utils import ACT, ParityTask, PonderNet, RNNCell, RNNStep, evaluate
from ponder_course import results, verdicts
from ponder_course.experiments import parity
from ponder_course.store import key_of, plain

TINY = {"elements": 4, "k_max": 3, "hidden": 6, "batch": 4, "updates": 3, "N": 5, "lr": 7e-3, "clip": 0.1}


def output_of(N=5, n_inputs=7):
    torch.manual_seed(0)
    x, y = ParityTask(4).batch(n_inputs)
    return PonderNet(RNNStep(4, 6), N)(x), y


@pytest.mark.parametrize("name", parity.RUNS)
def test_settings_are_all_different_and_what_their_runs_take(name):
    wanted = parity.settings(name)
    assert len({key_of(setting) for setting in wanted}) == len(wanted)
    call, options = parity.RUNS[name]
    for setting in wanted:
        assert setting == plain(setting)
        assert setting["loss"] in {*parity.LOSSES, "ACT"}
        if not options:
            inspect.signature(call).bind(**setting)


@pytest.mark.parametrize("name", ["prior", "ones", "beyond", "border"])
def test_what_is_stored_is_among_the_settings_so_that_no_run_is_made_twice(name, pytestconfig):
    rows = results.load_results(pytestconfig.rootpath / f"results/03_parity_{name}_class.jsonl")
    wanted = parity.settings(name)
    named = {part for setting in wanted for part in setting}
    there = {key_of({part: its for part, its in row.items() if part in named}) for row in rows}
    assert there == {key_of(setting) for setting in wanted}


def test_other_seeds_are_of_the_same_setting_as_ten_of_the_grid():
    again = parity.settings("again")
    alike = [row for row in parity.settings("prior") if {**row, "seed": 0} == {**again[0], "seed": 0}]
    assert [row["seed"] for row in alike] == list(range(10))
    assert not {row["seed"] for row in alike} & {row["seed"] for row in again}


def test_the_textbook_form_is_what_torch_calls_kl_div():
    output, y = output_of()
    p, p_G = parity.textbook_p(output.halt_logits), 0.3 * 0.7 ** torch.arange(5)
    torch.testing.assert_close(p, output.log_p.exp())
    theirs = nn.functional.kl_div(p.T.log(), p_G.expand(len(y), 5), reduction="batchmean")
    terms = parity.TextbookLoss(0.3, 5)(output, y)
    torch.testing.assert_close(terms.regularization, theirs)
    torch.testing.assert_close(terms.total, terms.reconstruction + 0.01 * theirs)


def test_out_of_log_space_a_network_that_is_sure_is_infinitely_wrong_and_in_it_not():
    output, y = output_of()
    sure = output._replace(halt_logits=torch.full_like(output.halt_logits, 40.0))
    sure = sure._replace(log_p=parity.textbook_p(sure.halt_logits).clamp(min=1e-30).log())
    assert parity.TextbookLoss(0.3, 5)(sure, y).total.isinf()
    assert parity.LOSSES["log space, reversed"](0.3, 5)(sure, y).total.isfinite()


def test_losses_of_a_fixed_depth_are_of_the_last_answer_or_the_mean_over_all():
    output, y = output_of()
    by_step = [nn.functional.binary_cross_entropy_with_logits(y_hat, y) for y_hat in output.y_hat]
    torch.testing.assert_close(parity.LOSSES["last step"](0.2, 5)(output, y).total, by_step[-1])
    torch.testing.assert_close(parity.LOSSES["every step"](0.2, 5)(output, y).total, sum(by_step) / 5)


def test_the_direction_is_that_of_the_name():
    output, y = output_of()
    paper, turned = (parity.LOSSES[form](0.3, 5)(output, y).regularization for form in parity.FORMS[:2])
    prior = 0.3 * 0.7 ** torch.arange(5)
    log_g, p = (prior / prior.sum()).log()[:, None], output.log_p.exp()
    torch.testing.assert_close(paper, (p * (output.log_p - log_g)).sum(0).mean())
    torch.testing.assert_close(turned, (log_g.exp() * (log_g - output.log_p)).sum(0).mean())


def test_probes_have_exactly_k_and_are_the_same_every_time():
    for k, (x, y), (again, _) in zip(parity.tested_k(5), parity.probes(5), parity.probes(5), strict=True):
        assert (x.abs().sum(1) == k).all()
        assert torch.equal(y, (x == 1).sum(1).remainder(2).float())
        assert torch.equal(x, again)
    assert parity.tested_k(64) == list(range(1, 65, 4))


def test_what_is_measured_of_a_network():
    torch.manual_seed(0)
    model = PonderNet(RNNStep(4, 6), 5).train()
    scores = [evaluate(model, x, y) for x, y in parity.probes(4)]
    assert parity.measure(model, 4) == {"accuracy": [s.accuracy for s in scores], "steps": [s.steps for s in scores]}
    fixed = parity.measure(model, 4, fixed=True)
    assert fixed == {"accuracy": [s.accuracy_by_step[-1] for s in scores], "steps": [5.0] * 4}
    assert model.training


class Counts(nn.Module):
    """A step that halts after as many steps as `count` says of the input, and one more."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def start(self, x):
        return self.count(x), torch.zeros(len(x))

    def forward(self, z, n):
        return torch.zeros(len(z)), n + 1, 40 * (n - z + 0.5)


@pytest.mark.parametrize(
    ("count", "k", "ones"),
    [
        (lambda x: (x == 1).sum(1).float(), None, 1),
        (lambda x: x.abs().sum(1), 1, None),
        (lambda x: torch.zeros(len(x)), 0, 0),
    ],
)
def test_what_steps_hang_on_is_found(count, k, ones):
    found = parity.about_ones(PonderNet(Counts(count), 8), 5)
    for name, share in (("k", k), ("ones", ones)):
        if share is None:
            assert 0.2 < found["explained"][name] < 0.8
        else:
            assert found["explained"][name] == pytest.approx(share, abs=1e-6)
    if ones:
        assert found["by_ones"] == pytest.approx([1, 2, 3, 4, 5, 6], abs=1e-4)


def test_the_variance_between_groups_is_that_of_their_means():
    values, groups = torch.tensor([1.0, 3, 5, 5], dtype=torch.float64), torch.tensor([0, 0, 2, 2])
    assert parity._between(values, groups) == pytest.approx(2.25 / 2.75)  # means 2, 2, 5, 5 around 3.5


def test_what_is_measured_of_act():
    torch.manual_seed(0)
    act = ACT(RNNCell(5, 6), max_updates=3)
    told = parity.measure_act(act, 4)
    for k, (x, y) in enumerate(parity.probes(4)):
        with torch.no_grad():
            output = act(x[None])
        assert told["accuracy"][k] == pytest.approx(((output.y_hat[0] > 0) == (y > 0.5)).float().mean().item())
        assert told["steps"][k] == pytest.approx(output.n_updates.float().mean().item())


def test_networks_that_are_run_together_are_measured_one_by_one():
    settings = [
        TINY | {"loss": "log space", "lambda_p": lambda_p, "seed": seed} for lambda_p in (0.1, 0.9) for seed in (0, 1)
    ]
    together = parity.run(settings)
    assert [row.keys() for row in together] == [{"stopped", "accuracy", "steps"}] * 4
    for setting, row in zip(settings, together, strict=True):
        assert row["stopped"] == 0
        assert parity.run([setting])[0]["steps"] == pytest.approx(row["steps"], rel=1e-4)
    assert len({tuple(row["steps"]) for row in together}) == 4
    (more,) = parity.run(settings[:1], ones=True)
    assert set(more) == {"stopped", "accuracy", "steps", "by_ones", "explained"}


@pytest.mark.parametrize(("loss", "more"), [("ACT", {"tau": 1e-4}), ("every step", {})])
def test_runs_at_the_border(loss, more):
    row = parity.run_at_the_border(**TINY, loss=loss, seed=0, **more)
    assert row == plain(row) == parity.run_at_the_border(**TINY, loss=loss, seed=0, **more)
    assert row["accuracy"] != parity.run_at_the_border(**TINY, loss=loss, seed=1, **more)["accuracy"]
    assert len(row["accuracy"]) == len(row["steps"]) == 4
    if loss == "every step":
        assert [its[-1] for its in row["by_step"]] == row["accuracy"]
        assert row["steps"] == [5.0] * 4
    else:
        assert all(1 <= steps <= 5 for steps in row["steps"])


def test_learnt_means_finished_and_right_on_the_k_that_it_was_trained_on():
    row = {"elements": 4, "k_max": 2, "accuracy": [1.0, 0.98, 0.1, 0.1], "steps": [3.0, 4.0, 6.0, 5.5], "stopped": 0}
    bad, crashed = row | {"accuracy": [1.0, 0.9, 1.0, 1.0]}, row | {"stopped": 7}
    assert parity.parted([row, bad, crashed]) == ([row], [bad, crashed])
    assert parity.learnt(bad, 0.95)
    assert not parity.learnt(crashed, 0.5)
    assert results.chosen([row, crashed], stopped=7) == [crashed]
    assert parity.rise(row) == 2.5
    assert parity.rises([row, bad, crashed, crashed]) == ([2.5], 1, 2)
    assert parity.rise(row, last=3, first=2) == 2.0


def test_the_interval_of_a_difference_is_welchs():
    a, b = [0.1, 0.4, 0.3, 0.35], [0.6, 0.7, 0.9]
    told = verdicts.apart(a, b, ".6f")
    expected = ttest_ind(b, a, equal_var=False).confidence_interval()
    assert told == f"{fmean(b) - fmean(a):.6f} [{expected.low:.6f}, {expected.high:.6f}], 3 and 4 runs"
    assert verdicts.apart([1.0], b) == "too few runs"
    assert verdicts.apart([1.0, 1.0], [2.0, 2.0], ".1f") == "1.0 [1.0, 1.0], 2 and 2 runs"


def test_stored_runs_are_read_smoke_is_short_and_stores_nothing_and_class_makes_what_is_missing(
    tmp_path, monkeypatch, capsys
):
    made = []

    def call(seed, updates, **rest):
        made.append((seed, updates))
        return {"steps": [1.0]}

    wanted = [{"seed": seed, "updates": 500, "loss": "every step", "N": 5} for seed in range(3)]
    monkeypatch.setitem(parity.RUNS, "border", (call, {}))
    monkeypatch.setattr(parity, "settings", lambda name: wanted)
    assert parity.runs_of("border", "stored", tmp_path, 1) == []
    assert "No stored runs" in capsys.readouterr().out
    assert len(parity.runs_of("border", "smoke", tmp_path, 1)) == 1
    assert made == [(0, 10)]
    assert not list(tmp_path.glob("*.jsonl"))
    assert len(parity.runs_of("border", "class", tmp_path, 1)) == 3
    assert len(parity.runs_of("border", "class", tmp_path, 1)) == 3
    assert made == [(0, 10), (0, 500), (1, 500), (2, 500)]
    assert len(parity.runs_of("border", "stored", tmp_path, 1)) == 3
