"""The experiments on ways to stop: what is trained, how its rules are read, and how knobs are chosen."""

import inspect
import re
from functools import partial

import distributed
import pytest
import torch
from reference import halting, quantile_step, threshold_step

from ponder_utils import PonderNet, PonderOutput, binary_correct, halting_log_probs, rules
from ponder_course import results
from ponder_course.experiments import ways_to_stop as stopping
from ponder_course.store import key_of, plain
from ponder_utils.tasks import LineParityTask

TINY = {"size": 5, "N": 6, "batch": 4, "updates": 2, "lr": 5e-3, "clip": 1.0}
SHORT = {"valid": (5, 6, 8), "5 places": (5, 6, 9), "9 places": (9, 10, 7)}
problems = pytest.mark.parametrize("problem", stopping.PROBLEMS)


@pytest.fixture
def short(monkeypatch):
    """Problems with small tests."""
    for name, its in stopping.PROBLEMS.items():
        tests = {"valid": (8, 6, 8), "8 elements": (8, 6, 9)} if name.startswith("8") else SHORT
        monkeypatch.setitem(stopping.PROBLEMS, name, its._replace(tests=tests))


def recipe_of(problem):
    return TINY | ({"size": 8} if problem.startswith("8") else {})


@problems
def test_settings_are_all_different_and_what_a_run_takes(problem):
    wanted = stopping.settings(problem)
    assert len({key_of(setting) for setting in wanted}) == len(wanted)
    for setting in wanted:
        assert setting == plain(setting)
        inspect.signature(stopping.learn).bind(**setting)
    assert {its["training"] for its in wanted} >= {"every step", "progressive", "ACT", "PonderNet", "judge", "gain"}
    assert {its["seed"] for its in wanted} == set(range(5))


def test_no_experiment_makes_a_run_of_another_again_and_together_they_make_all():
    wanted = [key_of(setting) for name in stopping.EXPERIMENTS for setting in stopping.settings(name)]
    assert len({*wanted}) == len(wanted)
    both = [its for name in ("lines", "knobs") for its in stopping.settings(name)]
    for name, training in stopping.TRAININGS.items():
        assert {its["knob"] for its in both if its["training"] == name} == set(training.knobs)


def test_runs_are_put_together_by_what_they_ask():
    made = {name: [{"of": name}] for name in stopping.EXPERIMENTS}
    found = stopping.by_question(made)
    assert found["lines"] == [{"of": "lines"}, {"of": "knobs"}]
    assert len(found["8 elements"]) == 4
    assert [*found] == ["lines", "no answer", "noisy teacher", "one answer", "8 elements"]
    assert made["lines"] == [{"of": "lines"}]  # as they were
    for name, question in stopping.ASKS_THE_SAME.items():
        one, other = (stopping.PROBLEMS.get(its, stopping.LINES) for its in (name, question))
        assert one._replace(recipe={}) == other._replace(recipe={})


@problems
def test_every_training_on_every_problem_is_measured_by_each_of_its_rules(problem, short):
    for training, its in stopping.TRAININGS.items():
        if its.few:
            row = stopping.run(problem, training, its.few[0], 0, **recipe_of(problem))
            assert row == plain(row)
            for test, (_, N, _) in stopping.PROBLEMS[problem].tests.items():
                told = row["tests"][test]
                assert set(told["rules"]) == set(its.rules)
                for rule, pairs in told["rules"].items():
                    assert len(pairs) == len(stopping.RULES[rule][1])
                    assert all(0 <= right <= 1 and 1 <= steps <= N for right, steps in pairs)
                assert ("in time" in told) == (not problem.startswith("8"))


@pytest.mark.parametrize("training", ["last step", "ACT", "progressive", "judge", "gain"])
def test_a_run_is_repeated_by_its_setting_and_another_seed_is_another_network(training, short):
    knob = stopping.TRAININGS[training].few[0]
    first, again, other = (stopping.learn("lines", training, knob, seed, **TINY).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_a_fixed_depth_is_trained_for_its_share_of_the_steps():
    assert [stopping.learn("lines", "last step", share, 0, **TINY).max_steps for share in (0.01, 0.5, 1.0)] == [1, 3, 6]


def test_the_network_that_learns_from_the_gain_answers_as_the_one_before():
    x, _ = stopping.LINES.task(5).batch(6)
    before, after = (stopping.learn("lines", training, 0.0, 0, **TINY)(x) for training in ("every step", "gain"))
    assert torch.equal(before.y_hat, after.y_hat)
    assert not torch.equal(before.halt_logits, after.halt_logits)


def said(n_steps=7, batch=40, places=()):
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(n_steps, batch, generator=generator)
    return PonderOutput(torch.randn(n_steps, batch, *places, generator=generator), a, halting_log_probs(a))


def test_rules_are_read_as_they_are_defined():
    output = said()
    logits = output.halt_logits.T.double().tolist()
    p = [halting(row) for row in logits]
    wanted = {
        ("fixed", 0.5): [4] * 40,
        ("fixed", 0.01): [1] * 40,
        ("quantile", 0.75): [quantile_step(row, 0.75) for row in p],
        ("threshold", 0.7): [threshold_step(row, 0.7) for row in logits],
        ("most probable", 0.0): [row.index(max(row)) + 1 for row in p],
    }
    for (name, knob), steps in wanted.items():
        halted = stopping.RULES[name][0](output, knob)
        assert halted.steps.tolist() == [steps], name
        assert torch.equal(halted.y_hat[0], output.y_hat[halted.steps[0] - 1, torch.arange(40)])
        assert (halted.weight == 1).all()


@pytest.mark.parametrize(
    ("name", "rule", "argument", "knob"),
    [
        ("confidence", rules.confidence, "q", 0.8),
        ("entropy", rules.entropy, "most", 0.5),
        ("unchanged", rules.unchanged, "t", 2),
        ("settled", rules.settled, "most", 0.03),
        ("either", rules.either, "makers", [partial(rules.confidence, q=0.9), partial(rules.settled, most=0.03)]),
        ("quantile", rules.quantile, "q", 0.5),
        ("threshold", rules.threshold, "q", 0.5),
        ("judged", rules.threshold, "q", 0.5),
    ],
)
def test_what_is_read_from_all_steps_is_what_predict_does_step_by_step(name, rule, argument, knob):
    problem = stopping.LINES
    torch.manual_seed(0)
    model, (x, _) = PonderNet(problem.step(), 9).eval(), problem.task(5).batch(30)
    halted = stopping.RULES[name][0](model(x), 0.03 if name == "either" else knob)
    got = model.predict(x, partial(rule, **{argument: knob}), look_every=1)
    assert torch.equal(got.steps, halted.steps[0])
    torch.testing.assert_close(got.y_hat, halted.y_hat[0])


def test_a_draw_is_weighed_exactly_and_a_mean_is_of_probabilities():
    output, y = said(), (torch.arange(40) % 2).float()
    p, right = output.log_p.exp(), (output.y_hat > 0) == (y > 0.5)
    told = stopping.scored(stopping.RULES["sample"][0](output, 0.0), y, y > -1, binary_correct)
    assert told[0] == pytest.approx((p * right).sum(0).mean().item())
    assert told[1] == pytest.approx((p * torch.arange(1, 8)[:, None]).sum(0).mean().item())
    some = torch.arange(40) < 10
    told = stopping.scored(stopping.RULES["sample"][0](output, 0.0), y, some, binary_correct)
    assert told[0] == pytest.approx((p * right).sum(0)[:10].mean().item())
    mean = stopping.RULES["expectation"][0](output, 0.0)
    torch.testing.assert_close(mean.y_hat[0].sigmoid(), (p * output.y_hat.sigmoid()).sum(0))
    assert (mean.steps == 7).all()
    act = stopping.RULES["average"][0](output, 0.0)
    assert act.y_hat.shape == act.steps.shape == act.weight.shape == (1, 40)


def test_a_network_that_is_right_from_the_needed_step_on_is_right_in_time_and_not_before(monkeypatch):
    """It says the right answer from step L on, and the wrong one before."""
    problem = stopping.LINES

    class Prompt(torch.nn.Module):
        def start(self, x):
            return x, torch.zeros(len(x))

        def forward(self, x, n):
            sign = torch.where((n + 1 >= problem.task.needed_steps(x).amax(1))[:, None], 1, -1)
            return sign * (2 * problem.task.answers(x) - 1), n + 1, torch.zeros(len(x))

    monkeypatch.setitem(stopping.PROBLEMS, "lines", problem._replace(tests=SHORT))
    found = stopping.measure(PonderNet(Prompt(), 6), "lines", ["fixed"])
    for test, (size, N, number) in SHORT.items():
        right, steps = found[test]["in time"]
        x, _ = problem.task(size).batch(number, torch.Generator().manual_seed(100 + [*SHORT].index(test)))
        assert right == 1
        assert steps == pytest.approx(problem.task.needed_steps(x).amax(1).float().mean().item())
        assert found[test]["rules"]["fixed"][-1] == [1.0, N]
        assert found[test]["rules"]["fixed"][0][0] < 1


def test_a_teachers_errors_are_not_held_against_who_is_right(monkeypatch):
    class Right(torch.nn.Module):
        def forward(self, x, h):
            return 2 * LineParityTask.answers(x) - 1, None, torch.zeros(len(x))

    problem = stopping.PROBLEMS["noisy teacher"]
    monkeypatch.setitem(stopping.PROBLEMS, "noisy teacher", problem._replace(tests=SHORT))
    found = stopping.measure(PonderNet(Right(), 6), "noisy teacher", ["fixed"])
    assert all(right == 1 for right, _ in found["valid"]["rules"]["fixed"])


def row(training, knob, seed, valid, tested, rule="confidence", problem="lines"):
    tests = {"valid": {"rules": {rule: valid}}, "16 places": {"rules": {rule: tested}, "in time": [0.5, 3.0]}}
    return {"problem": problem, "training": training, "knob": knob, "seed": seed, "tests": tests}


def test_knobs_are_chosen_on_lines_of_their_own_the_rules_for_each_network_the_trainings_for_all():
    rows = [
        row("a", 1.0, 0, [[0.9, 5], [1.0, 9], [1.0, 12]], [[0.1, 1], [0.2, 2], [0.3, 3]]),
        row("a", 1.0, 1, [[1.0, 5], [1.0, 9], [0.2, 1]], [[0.4, 4], [0.5, 5], [0.6, 6]]),
        row("a", 2.0, 0, [[1.0, 20], [0, 1], [0, 1]], [[1.0, 7], [1.0, 8], [1.0, 9]]),  # worse on valid
        row("b", 1.0, 0, [[1.0, 1]] * 3, [[0.9, 1]] * 3),
    ]
    found = stopping.best(rows, "a", "confidence", price=0.01)
    grid = stopping.RULES["confidence"][1]
    assert found == stopping.Best("lines", 1.0, [grid[1], grid[0]], {"16 places": [[0.2, 2], [0.4, 4]]})
    assert stopping.best(rows, "a", "confidence", price=0.1).values == [grid[0], grid[0]]  # dear steps
    assert stopping.best(rows, "a", "entropy") is None
    assert stopping.best([], "a", "confidence") is None
    assert stopping.utility([0.9, 5], 0.01) == pytest.approx(0.85)
    assert stopping.regret([0.9, 5], 3, 0.01) == pytest.approx(0.12)
    assert stopping.in_time(rows, "b") == {"16 places": [[0.5, 3.0]]}
    assert stopping.in_time([]) == {}


def test_of_several_recipes_each_training_has_the_one_that_is_best_for_all_its_networks():
    slow, fast = {"problem": "8 elements slowly"}, {"problem": "8 elements"}
    rows = [
        row("a", 1.0, 0, [[1.0, 5]], [[0.1, 1]], **slow),
        row("a", 1.0, 1, [[0.2, 5]], [[0.2, 2]], **slow),  # fails
        row("a", 1.0, 0, [[0.9, 5]], [[0.3, 3]], **fast),
        row("a", 1.0, 1, [[0.9, 5]], [[0.4, 4]], **fast),
        row("b", 1.0, 0, [[0.9, 5]], [[0.5, 5]], **slow),
        row("b", 1.0, 0, [[0.8, 5]], [[0.6, 6]], **fast),
    ]
    first = stopping.RULES["confidence"][1][0]
    wanted = {"a": ("8 elements", [[0.3, 3], [0.4, 4]]), "b": ("8 elements slowly", [[0.5, 5]])}
    for training, (problem, pairs) in wanted.items():
        found = stopping.best(rows, training, "confidence")
        assert found == stopping.Best(problem, 1.0, [first] * len(pairs), {"16 places": pairs})


WANTED = [its | TINY for its in stopping.settings("lines") if its["training"] in ("every step", "ACT")][:3]


def test_of_a_table_that_was_killed_only_what_is_missing_is_made(short, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(stopping, "settings", lambda problem: WANTED)
    results.run_grid(stopping.run, WANTED[:1], store=tmp_path / "06_ways_to_stop_lines.jsonl")
    monkeypatch.setattr(stopping, "run", lambda **setting: made.append(setting) or {"tests": {}})
    assert len(stopping.runs_of("lines", "class", tmp_path, 1)) == 3
    assert made == WANTED[1:]
    assert len(stopping.runs_of("lines", "stored", tmp_path, 1)) == 3


def test_a_cluster_makes_the_same_table(short, tmp_path, monkeypatch):
    monkeypatch.setattr(stopping, "settings", lambda problem: WANTED)
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "processes": False}
    with distributed.LocalCluster(n_workers=1, **options) as cluster, distributed.Client(cluster) as client:
        there = stopping.runs_of("lines", "class", tmp_path, 1, client)
    here = [setting | stopping.run(**setting) for setting in WANTED]
    assert [its | {"trained": 0} for its in there] == [its | {"trained": 0} for its in here]
    assert all(0 < its["trained"] < 60 for its in there)


@problems
def test_smoke_makes_one_short_run_of_each_training_and_keeps_none(problem, short, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(stopping, "run", lambda **setting: made.append(setting) or {"tests": {}})
    stopping.runs_of(problem, "smoke", tmp_path, 1)
    assert len(made) == len({its["training"] for its in stopping.settings(problem)})
    assert all(its["updates"] == 5 for its in made)
    assert not list(tmp_path.iterdir())


def test_the_methods_are_pairs_of_a_training_and_a_rule_that_it_is_measured_by():
    for name, its in stopping.METHODS.items():
        assert its.pays in stopping.FAMILIES, name
        assert its.rule in stopping.TRAININGS[its.training].rules, name
    for name, its in stopping.TRAININGS.items():
        assert set(its.rules) <= set(stopping.RULES), name
        assert set(its.few) <= set(its.knobs), name


def test_what_is_lost_is_the_regret_in_two_parts(monkeypatch):
    monkeypatch.setattr(stopping, "METHODS", {"its": stopping.Method("nobody", "every step", "confidence")})
    rows = [row("every step", 0.0, seed, [[1.0, 1]] * 7, [[0.9, 5]] * 7) for seed in range(2)]
    found = stopping.lost(rows, "16 places", price=0.01)["its"]
    assert found == [(pytest.approx(0.02), pytest.approx(0.1))] * 2  # two steps later than the 3 in time
    assert sum(found[0]) == pytest.approx(stopping.regret([0.9, 5], 3, 0.01))
    for its in rows:
        del its["tests"]["16 places"]["in time"]
    assert stopping.lost(rows, "16 places", price=0.01)["its"][0][0] == pytest.approx(0.05)


def test_a_readers_own_rule_appears_in_the_table(short, monkeypatch, pytestconfig, capsys):
    """As README shows it."""
    (block,) = [
        its for its in re.findall(r"```python\n(.*?)```", (pytestconfig.rootpath / "README.md").read_text(), re.S)
        if "stopping" in its
    ]  # fmt: skip
    assert len([line for line in block.splitlines() if line.strip()]) <= 20
    for name in ("RULES", "TRAININGS", "METHODS"):
        monkeypatch.setattr(stopping, name, dict(getattr(stopping, name)))
    monkeypatch.setattr(stopping, "settings", lambda problem: WANTED)
    exec(block.replace("16 places", "5 places"), {})
    told = capsys.readouterr().out
    assert "twice sure ['lost for time" in told
    assert len(told.splitlines()) == len([its for its in stopping.METHODS.values() if its.training == "every step"])
