"""The experiments on ways to stop: what is trained, how its rules are read, and how hyperparameters are chosen."""

import inspect
import itertools
from dataclasses import replace

import pytest
import torch
from reference import halting, quantile_step, threshold_step

from ponder_course.common.runs import run_all
from ponder_course.common.store import key_of, plain
from ponder_course.light_cone.task import LineParityTask
from ponder_course.ways_to_stop import experiment as stopping
from ponder_course.ways_to_stop import regret as ranking
from ponder_course.ways_to_stop.problems import PROBLEMS, SAME_QUESTION, Inputs
from ponder_utils import rules
from ponder_utils.act import act_average
from ponder_utils.evaluation import binary_correct
from ponder_utils.halting import PonderOutput, halting_log_probs
from ponder_utils.losses import ACTLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import Step

TINY = {"size": 5, "N": 6, "batch": 4, "updates": 2, "lr": 5e-3, "clip": 1.0}
SHORT = {"valid": Inputs(5, 6, 8), "5 places": Inputs(5, 6, 9), "9 places": Inputs(9, 10, 7)}
problems = pytest.mark.parametrize("problem", PROBLEMS)


@pytest.fixture
def short(monkeypatch):
    """Problems with small tests."""
    for name, problem in PROBLEMS.items():
        tests = {"valid": Inputs(8, 6, 8), "8 elements": Inputs(8, 6, 9)} if name.startswith("8") else SHORT
        further = {test: each._replace(size=5, N=6, n_inputs=9) for test, each in problem.further_tests.items()}
        monkeypatch.setitem(PROBLEMS, name, problem._replace(tests=tests, further_tests=further))


def recipe_of(problem):
    return TINY | ({"size": 8} if problem.startswith("8") else {})


def test_no_experiment_makes_a_run_of_another_again_and_together_they_make_all():
    wanted = [key_of(setting) for experiment in stopping.EXPERIMENTS.values() for setting in experiment.settings]
    assert len({*wanted}) == len(wanted)
    for problem in ("lines", "no answer", "noisy teacher", "one answer"):
        both = [one for name in (problem, "hyperparameters") for one in stopping.EXPERIMENTS[name].settings]
        for name, training in stopping.TRAININGS.items():
            if problem == "lines" or name not in stopping.VARIANTS:
                here = [one for one in both if one["problem"] == problem and one["training"] == name]
                assert {one["hyperparameter"] for one in here} == {*training.values, *training.more_values}


@pytest.mark.parametrize("name", stopping.EXPERIMENTS)
def test_of_each_setting_all_seeds_are_stored_with_all_tests_and_rules(name, pytestconfig):
    seeds = {}  # all or none: nobody chooses among them
    for row in stopping.EXPERIMENTS[name].rows("stored", pytestconfig.rootpath / "results"):
        seeds.setdefault((row["problem"], row["training"], row["hyperparameter"]), set()).add(row["seed"])
        problem = PROBLEMS[row["problem"]]
        assert row["tests"].keys() == problem.tests.keys() | (problem.further_tests.keys() if name == "report" else ())
        for test in row["tests"].values():
            lengths = {rule: len(points) for rule, points in test["rules"].items()}
            rules_of_training = stopping.TRAININGS[row["training"]].rules
            assert lengths == {rule: len(stopping.RULES[rule].values) for rule in rules_of_training}
    wanted = {*(stopping.REPORTING if name == "report" else stopping.CHOOSING)}
    assert all(found == wanted for found in seeds.values())


def test_networks_that_report_are_those_that_the_stored_ones_choose(pytestconfig):
    results = pytestconfig.rootpath / "results"
    made = {name: experiment.rows("stored", results) for name, experiment in stopping.EXPERIMENTS.items()}
    runs = {problem: ranking.choosing(rows) for problem, rows in ranking.by_question(made).items()}
    on_8 = runs.pop("8 elements")
    known = {problem: rows for problem, rows in runs.items() if problem != "noisy teacher"}
    chosen = {problem: set() for problem in runs}
    for problem, rows in runs.items():
        for name, best in ranking.table(rows).items():
            chosen[problem].add((stopping.METHODS[name].training, best.hyperparameter))
    for price, names in itertools.product((0.002, ranking.PRICE, 0.02), ranking.families().values()):
        for problem, rows in runs.items():
            name, best = ranking.best_of(rows, names, price)
            chosen[problem].add((stopping.METHODS[name].training, best.hyperparameter))
        one = ranking.one_for_all(known, names, price)
        for problem in known:
            chosen[problem].add((stopping.METHODS[one.name].training, one.hyperparameter))
    for problem, wanted in chosen.items():
        settings = [setting for setting in stopping.REPORT if setting["problem"] == problem]
        assert {(setting["training"], setting["hyperparameter"]) for setting in settings} == wanted
        assert len(settings) == 8 * len(wanted)
    drawn = ("the same step for all", "certainty (CALM)", "ACT", "PonderNet, threshold")
    drawn += ("judge of right and wrong (TRM)",)
    on_8, wanted = ranking.table(on_8), set()
    for name in drawn:
        wanted.add((on_8[name].problem, stopping.METHODS[name].training, on_8[name].hyperparameter))
    settings = [setting for setting in stopping.REPORT if setting["problem"].startswith("8")]
    asked = {(setting["problem"], setting["training"], setting["hyperparameter"]) for setting in settings}
    assert asked == wanted
    assert len(settings) == 8 * len(asked)


def test_runs_are_put_together_by_what_they_ask():
    made = {name: experiment.settings[:1] for name, experiment in stopping.EXPERIMENTS.items()}
    found = ranking.by_question(made)
    assert found["lines"] == [made[name][0] for name in ("lines", "hyperparameters", "report")]
    assert len(found["8 elements"]) == 4
    assert [*found] == ["lines", "no answer", "noisy teacher", "one answer", "8 elements"]
    assert len(made["lines"]) == 1  # as they were
    assert ranking.by_question({}) == {question: [] for question in found}
    for name, question in SAME_QUESTION.items():
        one, other = PROBLEMS.get(name, PROBLEMS["lines"]), PROBLEMS[question]
        assert one._replace(recipe={}) == other._replace(recipe={})


@problems
def test_every_training_on_every_problem_is_measured_by_each_of_its_rules(problem, short):
    for training, how in stopping.TRAININGS.items():
        if how.values:
            row = stopping.run(problem, training, how.values[0], 0, **recipe_of(problem))
            assert row == plain(row)
            assert row.keys() == {"tests", "cpu_seconds"}
            assert row["tests"].keys() == PROBLEMS[problem].tests.keys()
            for test, (_, N, _, _) in PROBLEMS[problem].tests.items():
                result = row["tests"][test]
                assert set(result["rules"]) == set(how.rules)
                for rule, points in result["rules"].items():
                    assert len(points) == len(stopping.RULES[rule].values)
                    assert all(0 <= right <= 1 and 1 <= steps <= N for right, steps in points)
                assert ("in time" in result) == (not problem.startswith("8"))


@pytest.mark.parametrize("problem", ["lines", "no answer", "8 elements"])
def test_networks_that_report_are_measured_further(problem, short):
    row = stopping.run(problem, "every step", 0.0, stopping.REPORTING[0], **recipe_of(problem))
    asked = PROBLEMS[problem]
    assert row["tests"].keys() == asked.tests.keys() | asked.further_tests.keys()
    for test, result in row["tests"].items():
        for right, steps in result["rules"]["fixed"]:
            assert (right is None) == test.startswith("16 places, none with an answer")
            assert 1 <= steps <= 10


@pytest.mark.parametrize("training", ["last step", "ACT", "progressive", "judge", "gain"])
def test_a_run_is_repeated_by_its_setting_and_another_seed_is_another_network(training, short):
    value = stopping.TRAININGS[training].values[0]
    first, again, other = (stopping.learn("lines", training, value, seed, TINY).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_the_recipe_decides_how_a_network_is_trained():
    first = stopping.learn("lines", "every step", 0.0, 0, TINY).state_dict()
    for changed in ({"size": 6}, {"batch": 5}, {"updates": 3}, {"lr": 1e-3}, {"clip": 1e-3}, {"N": 3}):
        other = stopping.learn("lines", "every step", 0.0, 0, TINY | changed).state_dict()
        assert any(not torch.equal(first[name], other[name]) for name in first), changed


def test_a_fixed_depth_is_trained_for_its_fraction_of_the_steps():
    depths = [stopping.learn("lines", "last step", value, 0, TINY).max_steps for value in (0.01, 0.5, 1.0)]
    assert depths == [1, 3, 6]


def test_the_network_that_learns_from_the_gain_answers_as_the_one_before():
    x, _ = PROBLEMS["lines"].task(5).batch(6)
    before, after = (stopping.learn("lines", training, 0.0, 0, TINY)(x) for training in ("every step", "gain"))
    assert torch.equal(before.y_hat, after.y_hat)
    assert not torch.equal(before.halt_logits, after.halt_logits)


def output_of(n_steps=7, batch=40, places=()):
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(n_steps, batch, generator=generator)
    return PonderOutput(torch.randn(n_steps, batch, *places, generator=generator), a, halting_log_probs(a))


@pytest.mark.parametrize(
    "steps",
    [
        torch.ones(39, dtype=torch.long),  # fewer than inputs
        torch.zeros(40, dtype=torch.long),  # would take the last answer, at no cost
        torch.full((40,), 8),
        torch.full((40,), -1),
        torch.full((40,), 2.0),
        torch.ones(1, 40, dtype=torch.long),
        torch.tensor(3),
    ],
)
def test_steps_that_nobody_can_stop_at_are_refused(steps):
    with pytest.raises(ValueError, match="steps must hold a whole number from 1 to N = 7 for each of the 40 inputs"):
        stopping.at(output_of(), steps)


def test_every_input_is_stopped_at_its_own_step():
    output, steps = output_of(places=(3,)), torch.arange(40) % 7 + 1
    halted = stopping.at(output, steps)
    assert torch.equal(halted.y_hat[0], torch.stack([output.y_hat[n - 1, i] for i, n in enumerate(steps)]))
    assert torch.equal(halted.steps[0], steps)
    assert halted.weight.tolist() == [[1.0] * 40]


def test_rules_are_read_as_they_are_defined():
    output = output_of()
    logits = output.halt_logits.T.double().tolist()
    p = [halting(row) for row in logits]
    wanted = {
        ("fixed", 0.5): [4] * 40,
        ("fixed", 0.01): [1] * 40,
        ("quantile", 0.75): [quantile_step(row, 0.75) for row in p],
        ("threshold", 0.7): [threshold_step(row, 0.7) for row in logits],
        ("most probable", 0.0): [row.index(max(row)) + 1 for row in p],
    }
    for (name, value), steps in wanted.items():
        halted = stopping.halted(output, name, value)
        assert halted.steps.tolist() == [steps], name
        assert torch.equal(halted.y_hat[0], output.y_hat[halted.steps[0] - 1, torch.arange(40)])
        assert (halted.weight == 1).all()


@pytest.mark.parametrize(
    ("name", "rule", "value"),
    [
        ("confidence", {"rule": "confidence", "q": 0.8}, 0.8),
        ("entropy", {"rule": "entropy", "tolerance": 0.5}, 0.5),
        ("unchanged", {"rule": "unchanged", "t": 2}, 2),
        ("settled", {"rule": "settled", "tolerance": 0.03}, 0.03),
        ("either", {"rule": stopping.sure_or_settled, "tolerance": 0.03}, 0.03),
        ("most probable", {"rule": "most_probable"}, 0.0),
        ("quantile", {"rule": "quantile", "q": 0.5}, 0.5),
        ("threshold", {"rule": "threshold", "q": 0.5}, 0.5),
        ("judged", {"rule": "threshold", "q": 0.5}, 0.5),
    ],
)
def test_what_is_read_from_all_steps_is_what_predict_does_step_by_step(name, rule, value):
    torch.manual_seed(0)
    model, (x, _) = PonderNet(PROBLEMS["lines"].step(), 9).eval(), PROBLEMS["lines"].task(5).batch(30)
    halted = stopping.halted(model(x), name, value)
    prediction = model.predict(x, check_every=1, **rule)
    assert torch.equal(prediction.steps, halted.steps[0])
    torch.testing.assert_close(prediction.y_hat, halted.y_hat[0])


def test_sure_or_settled_is_either_of_both():
    y_hat = torch.tensor([[0.1, 1.0, 1.0, 9.0], [0.5, 2.2, 2.3, 9.0], [0.1, 0.5, 0.4, 0.5]]).T
    output = PonderOutput(y_hat, torch.zeros(4, 3), halting_log_probs(torch.zeros(4, 3)))
    assert stopping.sure_or_settled(output, 5e-3).tolist() == [3, 2, 3]
    assert stopping.sure_or_settled(output, 1e-4).tolist() == [3, 2, 0]


def test_a_draw_is_weighted_exactly_and_a_mean_is_of_probabilities():
    output, y = output_of(), (torch.arange(40) % 2).float()
    p, right = output.log_p.exp(), (output.y_hat > 0) == (y > 0.5)
    drawn = stopping.halted(output, "sample")
    accuracy, steps = stopping.score(drawn, y, y > -1, binary_correct)
    assert accuracy == pytest.approx((p * right).sum(0).mean().item())
    assert steps == pytest.approx((p * torch.arange(1, 8)[:, None]).sum(0).mean().item())
    few, steps_of_all = stopping.score(drawn, y, torch.arange(40) < 10, binary_correct)
    assert few == pytest.approx((p * right).sum(0)[:10].mean().item())
    assert steps_of_all == steps
    mean = stopping.halted(output, "expectation")
    torch.testing.assert_close(mean.y_hat[0].sigmoid(), (p * output.y_hat.sigmoid()).sum(0))
    assert (mean.steps == 7).all()
    act, wanted = stopping.halted(output, "average"), act_average(output)
    assert act.y_hat.shape == act.steps.shape == act.weight.shape == (1, 40)
    assert torch.equal(act.y_hat, wanted.y_hat)
    assert torch.equal(act.steps, wanted.steps)
    assert (act.weight == 1).all()


def test_the_loss_of_act_is_that_of_its_average():
    output, y = output_of(), (torch.arange(40) % 2).float()
    criterion = PROBLEMS["8 elements"].criterion
    wanted = ACTLoss(criterion, 0.1)(act_average(output), y[None])
    assert stopping.act_loss(criterion, 0.1)(output, y) == wanted
    training = stopping.TRAININGS["ACT"].loss(PROBLEMS["8 elements"], 0.1)
    assert training(output, y) == wanted


def test_a_network_that_is_right_from_the_needed_step_on_is_right_in_time_and_not_before(monkeypatch):
    """Its answer is right from step L on, and wrong before."""
    problem = PROBLEMS["lines"]

    class Prompt(Step):
        def encode(self, x):
            return x, torch.zeros(len(x))

        def forward(self, x, n):
            sign = torch.where((n + 1 >= problem.task.needed_steps(x).amax(1))[:, None], 1, -1)
            return sign * (2 * problem.task.answers(x) - 1), n + 1, torch.zeros(len(x))

    monkeypatch.setitem(PROBLEMS, "lines", problem._replace(tests=SHORT))
    found = stopping.measure(PonderNet(Prompt(), 6), "lines", ["fixed"])
    for test, (size, N, number, _) in SHORT.items():
        right, steps = found[test]["in time"]
        x, _ = problem.task(size).batch(number, torch.Generator().manual_seed(100 + [*SHORT].index(test)))
        assert right == 1
        assert steps == pytest.approx(problem.task.needed_steps(x).amax(1).float().mean().item())
        assert found[test]["rules"]["fixed"][-1] == [1.0, N]
        assert found[test]["rules"]["fixed"][0][0] < 1


class Right(torch.nn.Module):
    """Answers every line rightly at once, and halts by a coin."""

    def forward(self, x, h):
        return 2 * LineParityTask.answers(x) - 1, None, torch.zeros(len(x))


def test_a_teachers_errors_are_not_held_against_who_is_right(monkeypatch):
    monkeypatch.setitem(PROBLEMS, "noisy teacher", PROBLEMS["noisy teacher"]._replace(tests=SHORT))
    found = stopping.measure(PonderNet(Right(), 6), "noisy teacher", ["fixed"])
    assert all(right == 1 for right, _ in found["valid"]["rules"]["fixed"])


def test_lines_without_an_answer_are_not_graded_but_their_steps_count(monkeypatch):
    class Guess(Step):
        """Answers what has no answer otherwise, and later."""

        def encode(self, x):
            return x, torch.zeros(len(x))

        def forward(self, x, n):
            known = x[:, 2, 0] == 0
            sure = torch.where(known | (n >= 3), 9.0, 0.1)[:, None]
            flipped = torch.where(known, 1, -1)[:, None]
            return sure * flipped * (2 * LineParityTask.answers(x) - 1), n + 1, torch.zeros(len(x))

    problem = PROBLEMS["no answer"]._replace(tests={"valid": Inputs(5, 6, 200)})
    monkeypatch.setitem(PROBLEMS, "no answer", problem)
    right, steps = stopping.measure(PonderNet(Guess(), 6), "no answer", ["confidence"])["valid"]["rules"]["confidence"][
        3
    ]
    x, _ = problem.task(5).batch(200, torch.Generator().manual_seed(100))
    unknown = (~problem.task.answerable(x)).float().mean().item()
    assert right == 1
    assert steps == pytest.approx(1 + 3 * unknown)
    assert 0.1 < unknown < 0.5


def row(training, value, seed, valid, tested, rule="confidence", problem="lines"):
    tests = {"valid": {"rules": {rule: valid}}, "16 places": {"rules": {rule: tested}, "in time": [0.5, 3.0]}}
    return {"problem": problem, "training": training, "hyperparameter": value, "seed": seed, "tests": tests}


def test_hyperparameters_are_chosen_on_other_lines_the_rules_for_each_network_the_trainings_for_all():
    rows = [
        row("a", 1.0, 0, [[0.9, 5], [1.0, 9], [1.0, 12]], [[0.1, 1], [0.2, 2], [0.3, 3]]),
        row("a", 1.0, 1, [[1.0, 5], [1.0, 9], [0.2, 1]], [[0.4, 4], [0.5, 5], [0.6, 6]]),
        row("a", 2.0, 0, [[1.0, 20], [0, 1], [0, 1]], [[1.0, 7], [1.0, 8], [1.0, 9]]),  # worse on valid
        row("b", 1.0, 0, [[1.0, 1]] * 3, [[0.9, 1]] * 3),
    ]
    found = ranking.best(rows, "a", "confidence", price=0.01)
    values = stopping.RULES["confidence"].values
    assert found == ranking.Best("lines", 1.0, [values[1], values[0]], {"16 places": [[0.2, 2], [0.4, 4]]})
    assert ranking.best(rows, "a", "confidence", price=0.1).values == [values[0]] * 2  # expensive steps
    assert ranking.best(rows, "a", "entropy") is None
    assert ranking.best([], "a", "confidence") is None
    assert ranking.utility([0.9, 5], 0.01) == pytest.approx(0.85)
    assert ranking.regret([0.9, 5], 3, 0.01) == (pytest.approx(0.02), pytest.approx(0.1))
    assert ranking.in_time(rows, "b") == {"16 places": [[0.5, 3.0]]}
    assert ranking.in_time([]) == {}


def test_networks_that_choose_do_not_report():
    fresh = stopping.REPORTING[0]
    rows = [
        row("a", 1.0, 0, [[0.9, 5]] * 7, [[0.1, 1]] * 7),
        row("a", 1.0, fresh, [[0.2, 5]] * 6 + [[0.3, 5]], [[0.2, 2]] * 7),
        row("a", 2.0, 0, [[0.8, 5]] * 7, [[0.3, 3]] * 7),
        row("a", 2.0, fresh, [[1.0, 5]] * 7, [[0.4, 4]] * 7),  # would choose 2.0, and may not
        row("a", 3.0, fresh, [[1.0, 5]] * 7, [[0.5, 5]] * 7),
    ]
    found = ranking.best(rows, "a", "confidence")
    assert (found.hyperparameter, found.tests) == (1.0, {"16 places": [[0.2, 2]]})
    assert found.values == [stopping.RULES["confidence"].values[-1]]  # the rule's, for each network on lines of its own
    assert ranking.choosing(rows) == [rows[0], rows[2]]
    assert ranking.reporting(rows) == [rows[1], rows[3], rows[4]]
    assert ranking.reporting(rows[:1]) == rows[:1]


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
    first = stopping.RULES["confidence"].values[0]
    wanted = {"a": ("8 elements", [[0.3, 3], [0.4, 4]]), "b": ("8 elements slowly", [[0.5, 5]])}
    for training, (problem, points) in wanted.items():
        found = ranking.best(rows, training, "confidence")
        assert found == ranking.Best(problem, 1.0, [first] * len(points), {"16 places": points})


def test_a_regret_is_in_two_parts(monkeypatch):
    monkeypatch.setattr(stopping, "METHODS", {"mine": stopping.Method("nobody", "every step", "confidence")})
    rows = [row("every step", 0.0, seed, [[1.0, 1]] * 7, [[0.9, 5]] * 7) for seed in range(2)]
    found = ranking.regrets(rows, "16 places", price=0.01)["mine"]
    assert found == [(pytest.approx(0.02), pytest.approx(0.1))] * 2  # two steps later than the 3 in time
    in_time, late_and_wrong = ranking.utility([1.0, 3], 0.01), ranking.utility([0.9, 5], 0.01)
    assert sum(found[0]) == pytest.approx(in_time - late_and_wrong)
    for run in rows:
        del run["tests"]["16 places"]["in time"]
    assert ranking.regrets(rows, "16 places", price=0.01)["mine"][0].time == pytest.approx(0.05)


def three_methods(monkeypatch):
    methods = {
        "sure": stopping.Method("nobody", "every step", "confidence"),
        "other": stopping.Method("nobody", "last step", "confidence"),
        "rare": stopping.Method("a price", "ACT", "confidence"),
    }
    monkeypatch.setattr(stopping, "METHODS", methods)
    values = stopping.RULES["confidence"].values

    def run(training, hyperparameter, seed, valid, tested, problem="lines"):
        """The points where the rule's first value is right on so many, and all others on none, after 3 steps."""
        valid, tested = ([[right, 3.0]] + [[0.0, 3.0]] * (len(values) - 1) for right in (valid, tested))
        made = row(training, hyperparameter, seed, valid, tested, problem=problem)
        made["tests"]["valid"]["in time"] = [1.0, 3.0]
        return made

    return run, values[0]


def test_the_best_of_several_methods_is_chosen_on_other_lines(monkeypatch):
    run, first = three_methods(monkeypatch)
    rows = [run("every step", 0.0, 0, 0.9, 0.1), run("last step", 1.0, 0, 0.95, 0.2), run("last step", 0.5, 0, 0.8, 1)]
    name, best = ranking.best_of(rows, ["sure", "other", "rare"])
    assert (name, best) == ("other", ranking.Best("lines", 1.0, [first], {"16 places": [[0.2, 3.0]]}))
    assert ranking.best_of(rows, ["sure"])[0] == "sure"
    with pytest.raises(ValueError, match="rows must hold runs of one of the methods rare; got none"):
        ranking.best_of(rows, ["rare"])


def test_one_setting_for_all_problems_is_the_one_whose_worst_problem_is_best(monkeypatch):
    run, first = three_methods(monkeypatch)
    problems = {
        "lines": [
            run("every step", 0.0, 0, 1.0, 0.9), run("last step", 0.5, 0, 0.9, 0.8), run("last step", 1.0, 0, 0.9, 0.6),
            run("last step", 1.0, 1, 0.7, 0.4), run("ACT", 1.0, 0, 1.0, 1.0),
        ],
        "one answer": [
            run("every step", 0.0, 0, 0.5, 1.0), run("last step", 0.5, 0, 0.7, 0.3), run("last step", 1.0, 0, 0.9, 0.2),
        ],
    }  # fmt: skip
    best = ranking.one_for_all(problems, ["sure", "other", "rare"])
    assert best == ranking.Setting("other", 1.0, first)  # worst .8, others .7 and .5; ACT has runs of one only
    assert ranking.mean_regrets(problems, best, "16 places", ranking.PRICE) == pytest.approx([0.5, 0.8])
    assert ranking.mean_regrets(problems, best, "valid", ranking.PRICE) == pytest.approx([0.2, 0.1])
    assert ranking.one_for_all(problems, ["sure"]) == ranking.Setting("sure", 0.0, first)
    assert ranking.one_for_all(problems, ["rare"]) is None


def test_three_questions_are_answered_by_networks_that_have_chosen_nothing(monkeypatch):
    run, first = three_methods(monkeypatch)
    fresh = stopping.REPORTING[0]
    problems = {
        "lines": [
            run("every step", 0.0, 0, 1.0, 0.0), run("every step", 0.0, fresh, 0.0, 0.95),
            run("last step", 0.5, 0, 0.9, 0.0), run("last step", 0.5, fresh, 0.0, 0.85),
        ],
        "one answer": [
            run("every step", 0.0, 0, 0.6, 0.0), run("every step", 0.0, fresh, 0.0, 0.65),
            run("last step", 0.5, 0, 0.8, 0.0), run("last step", 0.5, fresh, 0.0, 0.75),
        ],
    }  # fmt: skip
    for rows in problems.values():
        for made in rows:
            right = made["tests"]["16 places"]["rules"]["confidence"][0][0]
            far = [[right / 5, 3.0]] * len(stopping.RULES["confidence"].values)
            made["tests"]["64 places"] = {"rules": {"confidence": far}, "in time": [1.0, 3.0]}
    found = ranking.three_questions(problems, ["sure", "other", "rare"])
    assert found.rule_for_each == pytest.approx([0.05, 0.25])
    assert found.setting == ranking.Setting("other", 0.5, first)
    assert found.one_setting == pytest.approx([0.15, 0.25])
    assert found.four_times_as_long == pytest.approx([0.83, 0.85])
    assert ranking.three_questions(problems, ["rare"]) is None


def test_a_family_reads_one_thing():
    found = ranking.families()
    names = [name for methods in found.values() for name in methods]
    assert sorted([*names, "PonderNet, certainty"]) == sorted(stopping.METHODS)  # a prior's network, by its answers
    assert {stopping.METHODS[name].rule for name in found["the answers alone"]} <= {
        "fixed", "confidence", "entropy", "unchanged", "settled", "either"
    }  # fmt: skip
    assert {stopping.METHODS[name].rule for name in found["a judge"]} == {"judged"}
    assert found["ACT's budget"] == ["ACT"]


LINES = stopping.EXPERIMENTS["lines"]
WANTED = [setting | TINY for setting in LINES.settings if setting["training"] in ("every step", "ACT")][:3]


def test_of_a_table_that_was_killed_only_what_is_missing_is_made(short, tmp_path):
    run_all(stopping.run, WANTED[:1], file=tmp_path / f"{LINES.name}.jsonl")
    made = []
    later = replace(LINES, settings=WANTED, run=lambda **setting: made.append(setting) or {"tests": {}})
    assert len(later.rows("class", tmp_path)) == 3
    assert made == WANTED[1:]
    assert len(later.rows("stored", tmp_path)) == 3


@pytest.mark.parametrize("name", stopping.EXPERIMENTS)
def test_short_runs_are_one_of_each_training(name):
    short, settings = stopping.EXPERIMENTS[name].short, stopping.EXPERIMENTS[name].settings
    assert [setting["training"] for setting in short] == [*dict.fromkeys(each["training"] for each in settings)]
    assert all(setting.items() >= {"updates": 5, "batch": 8}.items() for setting in short)


def test_the_methods_are_pairs_of_a_training_and_a_rule_that_it_is_measured_by():
    for name, method in stopping.METHODS.items():
        assert method.pays in stopping.FAMILIES, name
        assert method.rule in stopping.TRAININGS[method.training].rules, name
    for name, training in stopping.TRAININGS.items():
        assert set(training.rules) <= set(stopping.RULES), name


@pytest.fixture
def tables(monkeypatch):
    """The tables may be added to."""
    for name in ("RULES", "TRAININGS", "METHODS"):
        monkeypatch.setattr(stopping, name, dict(getattr(stopping, name)))


def twice_sure(output, q):
    sure = (output.y_hat.abs().sigmoid() >= q).all(-1)
    twice = torch.cat([torch.zeros_like(sure[:1]), sure[1:] & sure[:-1]])
    return torch.where(twice.any(0), twice.int().argmax(0) + 1, 0)


def test_a_way_to_stop_of_ones_own_stands_in_the_table(short, tables):
    before = dict(stopping.METHODS)
    stopping.add_method("twice sure", "every step", twice_sure, "q", (0.5, 0.51, 0.99))
    assert {name: stopping.METHODS[name] for name in before} == before
    assert stopping.METHODS["twice sure"] == ("nobody", "every step", "twice sure")
    rows = [setting | stopping.run(**setting) for setting in WANTED[:1]]
    assert rows[0]["training"] == "every step"
    points = rows[0]["tests"]["9 places"]["rules"]["twice sure"]
    assert points[0][1] == 2  # everyone is at least half sure
    assert points[2][1] == 10  # undecided to the end, which N is
    found = ranking.regrets(rows, "5 places")
    assert "twice sure" in found
    assert len(found) == len([method for method in stopping.METHODS.values() if method.training == "every step"])
    assert ranking.table(rows)["twice sure"].values[0] in (0.5, 0.51, 0.99)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mine", "no training", twice_sure), "training must be one of 'last step'"),
        (("confidence", "every step", twice_sure), "name must be new.*'confidence'"),
        (("ACT", "every step", twice_sure), "name must be new.*'ACT'"),
        (("mine", "every step", twice_sure, "q", ()), r"values must hold one or more; got 'mine' and \(\)"),
    ],
)
def test_a_way_to_stop_that_cannot_be_added_changes_nothing(arguments, message, tables):
    before = dict(stopping.RULES), dict(stopping.TRAININGS), dict(stopping.METHODS)
    with pytest.raises(ValueError, match=message):
        stopping.add_method(*arguments)
    assert before == (stopping.RULES, stopping.TRAININGS, stopping.METHODS)


def test_a_rule_that_gives_no_steps_is_refused(tables):
    stopping.add_method("mine", "every step", lambda output: output.y_hat)
    with pytest.raises(ValueError, match="rule must return one step per sample"):
        stopping.halted(output_of(), "mine")
    with pytest.raises(ValueError, match="name must be one of 'fixed'"):
        stopping.halted(output_of(), "none")


def test_rules_by_name_are_those_of_the_package():
    assert stopping.RULES["judged"].stop is rules.threshold
    for name in ("confidence", "entropy", "unchanged", "settled", "quantile", "threshold"):
        rule = stopping.RULES[name]
        assert rule.stop is rules.RULES[name]
        assert rule.parameter in inspect.signature(rule.stop).parameters
