"""The problem sheets: points, checks that pass on the solutions and on nothing else, and nothing given away.

What they ask to derive is computed here in another way: by a gradient, a sum, an integral, a program, or all cases.
"""

import itertools
import json
import math
import re
from pathlib import Path
from statistics import mean

import nbformat
import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch.nn.functional import max_pool2d

from ponder_course.light_cone.beating_the_clock import fresh_lines
from ponder_course.light_cone.local_stoppers import by_hand, fewest_steps
from ponder_utils import ForestTask, LineParityTask, MazeTask, expected_steps, geometric_log_prior, kl_divergence
from ponder_utils.act import act_average
from ponder_utils.halting import PonderOutput, halting_log_probs

ROOT = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = [path.stem for path in sorted(ROOT.glob("*.ipynb"))]
SHEETS = {stem: ROOT / "problems" / f"{stem}_problems.ipynb" for stem in LESSONS}

sheets = pytest.mark.parametrize("lesson", LESSONS)


def cells_of(lesson):
    return nbformat.read(SHEETS[lesson], as_version=4).cells


def solution(lesson):
    """The Python of a solution, run: what it calls its answers."""
    text = (ROOT / "solutions" / "problems" / f"{lesson}.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
        exec(block, names)
    return names


def checks(lesson, answers):
    """What the sheet's checks say of these answers, by problem; where there is no answer, of the stubs."""
    names = {}
    cells = [cell for cell in cells_of(lesson) if cell.cell_type == "code"]
    exec(next(cell.source for cell in cells if cell.source.startswith(("import torch", "import math"))), names)
    for stub, cell in itertools.pairwise(cells):
        if "check" in cell.metadata.get("tags", []):
            exec(stub.source, names)
            names |= {name: answer for name, answer in answers.items() if name in names}
            exec(cell.source, names)
    return names["passed"]


def stubs(lesson):
    """The names under which a sheet expects answers."""
    cells = [cell for cell in cells_of(lesson) if cell.cell_type == "code"]
    found = []
    for stub, cell in itertools.pairwise(cells):
        if "check" in cell.metadata.get("tags", []):
            found += map("".join, re.findall(r"^(?:def (\w+)\(|(\w+) = None)", stub.source, re.M))
    return found


def test_every_lesson_has_a_sheet_and_a_solution():
    assert [path.name for path in sorted((ROOT / "problems").glob("*.ipynb"))] == [
        path.name for path in SHEETS.values()
    ]
    assert [path.stem for path in sorted((ROOT / "solutions" / "problems").iterdir())] == LESSONS


@sheets
def test_the_points_add_up(lesson):
    """Twenty for a sheet; and where the parts of a problem have points of their own, these are the problem's."""
    text = "\n".join(cell.source for cell in cells_of(lesson) if cell.cell_type == "markdown")
    problems = re.split(r"^## ", text, flags=re.M)[1:]
    points = [int(re.search(r"\((\d+) points\)$", problem.splitlines()[0])[1]) for problem in problems]
    assert len(points) == 3
    assert sum(points) == 20
    for problem, total in zip(problems[:2], points, strict=False):
        assert sum(map(int, re.findall(r"\*\*\([a-c]\) (\d) points", problem))) == total


@sheets
def test_checks_pass_on_the_solution_and_fail_on_the_stubs(lesson, capsys):
    passed = checks(lesson, {})
    assert passed
    assert not any(passed.values())
    assert set(capsys.readouterr().out.splitlines()) == {"Not yet: nothing written so far."}
    answers = solution(lesson)
    assert set(stubs(lesson)) <= answers.keys()
    assert all(checks(lesson, answers).values())


def shifted(answer, by):
    """The same numbers, a little off."""
    return [number + by for number in answer] if isinstance(answer, tuple | list) else answer + by


@sheets
def test_checks_forgive_rounding_and_nothing_more(lesson):
    answers = {name: value for name, value in solution(lesson).items() if name in stubs(lesson)}
    numbers = {name: value for name, value in answers.items() if not callable(value)}
    for by in (1e-6, -1e-6):
        assert all(checks(lesson, answers | {name: shifted(value, by) for name, value in numbers.items()}).values())
    as_tensors = {name: torch.as_tensor(value, dtype=torch.float64) for name, value in numbers.items()}
    assert all(checks(lesson, answers | as_tensors).values())
    right = sum(checks(lesson, answers).values())
    for name, value in numbers.items():
        for wrong in (shifted(value, 0.6), None, math.nan, "0.5", [], {}, object(), shifted(value, math.inf)):
            assert sum(checks(lesson, answers | {name: wrong}).values()) == right - 1, (name, wrong)


WRONG = {
    ("03_parity", "turn"): [
        lambda x, old, new, generator: torch.where(x == old, float(new), x),  # all of them
        lambda x, old, new, generator: x.scatter(1, (x == old).int().argmax(1, keepdim=True), float(new)),  # the first
        lambda x, old, new, generator: x,
        lambda x, old, new, generator: x.scatter(1, torch.randint(8, (len(x), 1), generator=generator), float(new)),
        lambda x, old, new, generator: x.scatter_(1, (x == old).float().multinomial(1), float(new)),  # in place
    ],
    ("04_mnist_rotation", "changing"): [
        lambda right: (right[0] != right[-1]).float().mean().item(),  # the ends only
        lambda right: (right[1:] != right[:-1]).float().mean().item(),  # of all steps
        lambda right: right.all(0).float().mean().item(),
        lambda right: 1 - right.any(0).float().mean().item(),
        lambda right: right.any(0) & ~right.all(0),  # not a mean
    ],
    ("06_ways_to_stop", "calibration_error"): [
        lambda says, right: (says - right.float()).abs().mean().item(),  # without bins
        lambda says, right: (says.mean() - right.float().mean()).abs().item(),  # one bin
        lambda says, right: math.nan,
        lambda says, right: None,
        lambda says, right: 1 / 0,
    ],
}


@pytest.mark.parametrize(
    ("lesson", "name", "wrong"), [(*place, wrong) for place, answers in WRONG.items() for wrong in answers]
)
def test_checks_fail_on_plausible_wrong_functions(lesson, name, wrong, capsys):
    answers = solution(lesson)
    right = sum(checks(lesson, answers).values())
    capsys.readouterr()
    assert sum(checks(lesson, answers | {name: wrong}).values()) == right - 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == right
    assert sum(line.startswith("Not yet: ") for line in lines) == 1


@sheets
def test_a_sheet_does_not_print_what_it_asks_for(lesson):
    """No number of the solution stands in the sheet's outputs or code, to the decimals that are asked for."""
    cells = [cell for cell in cells_of(lesson) if cell.cell_type == "code"]
    outputs = "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    for name in stubs(lesson):
        value = solution(lesson)[name]
        for number in [] if callable(value) else torch.as_tensor(value).flatten().tolist():
            if number != round(number, 1):
                assert f"{number:.3f}"[:5] not in outputs, name


def test_01_gradients_of_act():
    a = torch.tensor([0.3, 0.5, 0.6], dtype=torch.float64).logit().requires_grad_()
    states = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64)

    def loss(tau):
        output = act_average(PonderOutput(states[:, None], a[:, None], halting_log_probs(a[:, None])), epsilon=0.1)
        cross_entropy = torch.nn.functional.softplus(-output.y_hat)  # the target is 1
        return (cross_entropy + tau * (output.steps + output.remainder)).sum()

    answers = solution("01_act_background")
    (slopes,) = torch.autograd.grad(loss(0.06), a)
    assert slopes.tolist() == pytest.approx(answers["gradients"], abs=5e-4)
    first = torch.autograd.grad(loss(answers["price"]), a)[0][0]
    assert abs(first) < 1e-4 < slopes[0]


@pytest.mark.parametrize("least", [0.1, 0.02])
def test_01_what_the_gradient_sees_of_the_cost(least):
    def steps(unit):
        return np.ceil(0.99 / unit - 1e-12)

    units = np.linspace(least, 0.99, 400_001)
    seen = ((steps(units[1:]) + steps(units[:-1])) / 2 - 1) @ np.diff(units)
    n = steps(least)
    harmonic = sum(1 / m for m in range(1, int(n)))
    assert seen == pytest.approx(0.99 * harmonic - (n - 1) * least, abs=1e-3)
    if least == 0.02:
        fall = n + 1 - (n - 1) * least - 2
        assert seen / fall == pytest.approx(solution("01_act_background")["seen"], abs=1e-4)


def test_02_means_and_smallest_losses():
    answers = solution("02_pondernet_theory")
    priors = [geometric_log_prior(0.05, 30, repair) for repair in ("renormalise", "remainder")]
    assert [expected_steps(prior).item() for prior in priors] == pytest.approx(answers["means"])
    prior, beta = geometric_log_prior(0.4, 5), torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    losses = torch.tensor([0.7, 0.7, 0.1, 0.2, 0.4], dtype=torch.float64, requires_grad=True)
    smallest = -beta * (prior - losses / beta).logsumexp(0)
    best = (prior - losses / beta).softmax(0)
    divergence = kl_divergence(best.log(), prior)
    assert smallest.item() == pytest.approx(((best * losses).sum() + beta * divergence).item())
    assert smallest.item() == pytest.approx(answers["smallest"])
    slopes = torch.autograd.grad(smallest, (losses, beta))
    torch.testing.assert_close(slopes, (best, divergence))
    twelve, step = geometric_log_prior(0.4, 12), torch.arange(1, 13)
    guesses = (twelve - torch.where(step < 4, math.log(2), 0.05) / answers["largest_beta"]).softmax(0)[:3].sum()
    assert guesses.item() == pytest.approx(0.01, rel=1e-5)
    found = []
    for k in range(1, 7):
        losses = torch.where(step < k, math.log(2), 0.05).double()
        best = (twelve - losses / 0.05).softmax(0)
        found.append((best * losses).sum() + 0.05 * kl_divergence(best.log(), twelve))
    assert torch.stack(found).mean().item() == pytest.approx(answers["best_mean_loss"], rel=1e-6)


def test_03_the_counter_to_m():
    answers = solution("03_parity")
    for k, m in itertools.product(range(1, 13), range(1, 13)):
        probs = [math.comb(k, j) / 2**k for j in range(k + 1)]
        even, odd = (sum(probs[j] for j in range(m, k + 1) if j % 2 == parity) for parity in (0, 1))
        assert even - odd == pytest.approx((-1) ** m * math.comb(k - 1, m - 1) / 2**k)
        assert answers["accuracy_at"](k, m) == pytest.approx(sum(probs[:m]) + max(even, odd))
    for m in (1, 5, 9):
        assert sum(answers["accuracy_at"](k, m) - 0.5 for k in range(1, 200)) == pytest.approx(m)


def test_03_what_is_written_of_stored_networks():
    accuracy = {"ACT": [], "PonderNet": []}
    for line in (ROOT.parent / "results" / "03_papers_size_64.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["setting"]["network"] in accuracy:
            accuracy[entry["setting"]["network"]].append(mean(entry["result"]["accuracy"]))
    assert {f"{value:.1%}" for value in accuracy["PonderNet"]} >= {"82.7%"}
    assert [f"{end(accuracy['ACT']):.0%}" for end in (min, max)] == ["62%", "67%"]
    assert [round(64 * (end(accuracy["ACT"]) - 0.5)) for end in (min, max)] == [8, 11]


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("c", [0.05, 0.3])
def test_04_both_bounds_are_sharp(n, c):
    """Linear programs over the fractions of inputs with each pattern of right and wrong steps."""
    patterns = list(itertools.product((0, 1), repeat=n))
    sums_to_1 = [[1] * len(patterns)]
    by_step = [[pattern[step] for pattern in patterns] for step in range(n)]
    ends = {"union": [float(any(pattern)) for pattern in patterns]}
    ends["intersection"] = [float(all(pattern)) for pattern in patterns]
    for rates in ([0.9, 0.8, 0.85, 0.7][:n], [0.3] * n, [0.97] * n):
        known = {"A_eq": sums_to_1 + by_step, "b_eq": [1, *rates]}
        assert -linprog([-x for x in ends["union"]], **known).fun == pytest.approx(min(1, sum(rates)))
        smallest = linprog(ends["intersection"], **known).fun
        assert smallest == pytest.approx(max(0, sum(rates) - (n - 1)), abs=1e-9)
    flat = [[a - b for a, b in zip(by_step[0], row, strict=True)] for row in by_step[1:]]
    changes = [[float(len(set(pattern)) > 1) for pattern in patterns]]
    known = {"A_eq": sums_to_1 + flat, "b_eq": [1] + [0] * (n - 1), "A_ub": changes, "b_ub": [c]}
    for end, sign in (("union", 1), ("intersection", -1)):
        loss = [-sign * (x - r) for x, r in zip(ends[end], by_step[0], strict=True)]
        assert -linprog(loss, **known).fun == pytest.approx(c * (1 - 1 / n))


@pytest.mark.parametrize("length", range(1, 10))
def test_05_lines_are_guessed_as_often_as_the_bound_says(length):
    """The package's bound is the sheet's, and the solution's anchors reach it: counted over all lines."""
    x = torch.zeros(1, 2, length)
    x[0, 1, 0] = 1
    best = LineParityTask.best_probs(x, length)[:, 0]
    bits = np.array(list(itertools.product((0, 1), repeat=length)))
    ones = np.concatenate([np.zeros((len(bits), 1), int), bits.cumsum(1)], 1)  # of the first i bits
    for n in range(1, length + 1):
        coins = math.ceil((length - n) / (2 * n))
        assert best[n - 1].item() == 0.5**coins
        anchors = [min(2 * n * (j + 1), length) for j in range(coins)]
        right = np.ones(len(bits), bool)
        for place in range(n + 1, length + 1):
            anchor = next(c for c in anchors if c - n < place <= c + n)
            heard = range(max(1, place - n + 1), min(length, place + n - 1) + 1)
            assert set(range(min(place, anchor) + 1, max(place, anchor) + 1)) <= set(heard)
            right &= (ones[:, place] - ones[:, anchor]) % 2 == ones[:, place] % 2
        assert right.mean() == 0.5**coins


def test_06_no_stopper_is_faster_than_the_bound():
    assert solution("06_ways_to_stop")["bound"] == 2.8125
    x = fresh_lines("one segment", 8)
    by_rules = by_hand(x, 8).steps.float().mean().item()
    assert (by_rules, round(fewest_steps(x[:1]).item(), 2)) == (5.5, 2.98)


@pytest.mark.parametrize(("which", "pi", "r"), [(0, 0.3, 0.1), (1, 0.5, 0.05)])
def test_06_when_to_give_up(which, pi, r):
    """The best number of steps to wait, by the value of each."""
    values, arrived, paid, c = [], 0.0, 0.0, 0.005
    for waits in range(200):
        waiting = pi + (1 - pi) * (1 - r) ** waits
        values.append(arrived + 0.5 * waiting - paid)
        paid += c * waiting  # one more step, for whoever still waits
        arrived += (1 - pi) * (1 - r) ** waits * r
    assert int(np.argmax(values)) == solution("06_ways_to_stop")["give_up"][which]


def test_07_work_in_corridors_and_rooms():
    """Over all corridors of 20 places; over long corridors and large rooms, nearly the limits."""
    corridor, room = (solution("07_map_of_thought")[name] for name in ("corridor", "room"))
    for m, tolerance in ((20, None), (2000, 1e-3)):
        needs = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) + 1  # [stars, places]
        if tolerance is None:
            assert (needs.mean(), needs.max(1).mean()) == pytest.approx(corridor[:2])
        else:
            assert (needs.mean(1) / needs.max(1)).mean() == pytest.approx(corridor[2], abs=tolerance)
    grid = (np.arange(400) + 0.5) / 400
    apart = np.abs(np.subtract.outer(grid, grid))  # in one dimension
    below = np.searchsorted(np.sort(apart.ravel()), grid, side="right") / apart.size
    assert 1 - (below**2).mean() == pytest.approx(room[0], abs=2e-3)
    assert np.maximum.outer(apart.max(1), apart.max(1)).mean() == pytest.approx(room[1], abs=2e-3)
    for k in (1, 2, 3):
        from_corner = np.indices([60] * k).max(0) + 1
        assert from_corner.mean() / from_corner.max() == pytest.approx(k / (k + 1), abs=0.01)


@pytest.mark.parametrize("loops", [0.0, 0.3])
def test_07_places_that_rest_still_serve_the_others(loops):
    """The solution's step function: the colours heard of, in states that stay as they are from the need on."""
    x, y = MazeTask(6, loops=loops).batch(50, torch.Generator().manual_seed(1))
    is_open, need = x[:, :1], MazeTask.needed_steps(x)
    state, heard = torch.zeros_like(x[:, 1:]), torch.zeros_like(x[:, 1:])
    for n in range(1, need[is_open[:, 0] > 0].max() + 1):
        heard = is_open * torch.maximum(x[:, 1:], max_pool2d(state, 3, stride=1, padding=1))
        assert not heard[(need > n)[:, None].expand_as(heard)].any()  # in vain until then
        state = torch.where((need >= n)[:, None], heard, state)
        known = (need == n) & (is_open[:, 0] > 0)
        blue, purple = state.unbind(1)
        assert ((blue + purple)[known] > 0).all()
        assert torch.equal(torch.where(blue == purple, -1.0, purple)[known], y[known])


def test_07_what_waiting_costs():
    cost, r = solution("07_map_of_thought")["price"]
    prior = geometric_log_prior(0.8, 8)
    assert 0.03 * (prior[0] - prior[4]).item() == pytest.approx(cost)
    assert -(r * math.log(r) + (1 - r) * math.log(1 - r)) == pytest.approx(cost)


def arrows_known(n_steps, shows, reads_all):
    """How many arrows the last node of a chain of 90 knows after each step: by sets of arrows, each a pair of names.

    shows: "start", "now", or "before", a step ago. Each node reads the farthest that it can name, or all of them.
    """
    start = [{(node, max(0, node - 1))} for node in range(90)]
    now, before, found = start, start, []
    for _ in range(n_steps):
        shown = {"start": start, "now": now, "before": before}[shows]
        after = []
        for arrows in now:
            names = {name for arrow in arrows for name in arrow}
            asked = names if reads_all else {min(names)}
            after.append(arrows.union(*(shown[name] for name in asked)))
        now, before = after, now
        found.append(len(now[89]))
    return found


@pytest.mark.parametrize("reads_all", [False, True])
def test_08_reading_many_nodes_saves_no_step_and_old_news_are_fibonaccis(reads_all):
    assert arrows_known(6, "now", reads_all) == [2, 4, 8, 16, 32, 64]
    assert arrows_known(6, "start", reads_all) == [2, 3, 4, 5, 6, 7]
    assert arrows_known(8, "before", reads_all) == [2, 3, 5, 8, 13, 21, 34, 55]


def test_08_steps_with_old_news():
    steps, times = solution("08_alone_and_together")["old_news"]
    known = [1, 2]
    while len(known) < 80:
        known.append(known[-1] + known[-2])
    assert next(n for n, K in enumerate(known) if K >= 1001) == steps
    assert math.log(2) / math.log(known[-1] / known[-2]) == pytest.approx(times)


def test_08_halting_one_step_before_the_need_and_the_steps_of_the_ideal_network():
    right, *expected = solution("08_alone_and_together")["one_step"]
    chain = torch.arange(32).sub(1).clamp(min=0)[None]
    pointers = [chain]
    for _ in range(5):
        pointers.append(pointers[-1].gather(1, pointers[-1]))
    named = torch.stack(pointers)[:, 0]  # after n steps, the farthest ancestor that each node can name
    need = ForestTask.needed_steps(chain, "now")[0]
    early = (need - 1).clamp(min=1)
    assert (named[early, torch.arange(32)] == 0).nonzero().flatten().tolist() == [0, 1, 2, 4, 8, 16]
    assert right == 6
    at_three = named[need.clamp(max=3), torch.arange(32)]  # who takes depth 8 for the last
    assert (at_three == 0).sum() == 9
    log_prior = geometric_log_prior(0.8, 90).double()
    n = torch.arange(1, 91)[:, None]
    for reads, wanted in zip(("now", "start"), expected, strict=True):
        need = ForestTask.needed_steps(chain, reads)[0]
        log_p = torch.where(n >= need, log_prior[:, None], -math.inf).log_softmax(0)
        assert expected_steps(log_p).mean().item() == pytest.approx(wanted, abs=1e-5)
        p = log_p.exp()
        hazard = p / p.flip(0).cumsum(0).flip(0)
        torch.testing.assert_close(hazard[:60], torch.where(n >= need, 0.8, 0.0)[:60].double(), atol=1e-5, rtol=0)


def test_08_three_published_averages():
    answers = solution("08_alone_and_together")
    generator = torch.Generator().manual_seed(0)
    for w in (torch.tensor([0.4, 0.4, 0.2]), torch.rand(5, generator=generator).softmax(0)):
        T = torch.randn(len(w), 4, generator=generator)
        first, since = torch.zeros(4), torch.zeros(4)
        start = torch.ones(4)  # what the second formula leaves of where it begins
        for w_n, T_n in zip(w, T, strict=True):
            first = w_n * T_n + first * 1 - w_n
            since = w_n * T_n + (1 - w_n) * since
            start = (1 - w_n) * start
        torch.testing.assert_close(first, w @ T - 1)
        weights = torch.stack([w[n] * (1 - w[n + 1 :]).prod() for n in range(len(w))])
        torch.testing.assert_close(since, weights @ T)
        torch.testing.assert_close(start, (1 - weights.sum()).expand(4))
    assert torch.tensor([0.4, 0.4, 0.2]) @ torch.tensor([1.0, 2.0, 5.0]) - 1 == pytest.approx(answers["first_release"])
    by_unit_states = []
    for state in range(4):  # the last is where it begins
        o = float(state == 3)
        for n, w_n in enumerate((0.4, 0.4, 0.2)):
            o = w_n * (n == state) + (1 - w_n) * o
        by_unit_states.append(o)
    assert by_unit_states == pytest.approx(answers["since_then"])
    for is_copied, wanted in zip((False, True), answers["accumulated"], strict=True):
        a, b, o = 1.0, 1.0, 0.0
        for n, w_n in enumerate((0.4, 0.4, 0.2), 1):
            a, b = a if is_copied and n > 1 else a + b, a + b
            o += w_n * b
        assert o == pytest.approx(wanted)


@pytest.mark.parametrize(("n", "s"), [(1, 0.25), (2, 0.25), (2, 0.6), (3, 0.25), (3, 1 - 0.5 ** (1 / 7))])
def test_08_who_must_be_awake(n, s):
    """All ways to sleep: 2^(d n) of them, each with its probability."""
    d = 2**n - 1
    ways = np.arange(2 ** (d * n), dtype=np.int32)
    awake = [(ways >> bit) & 1 == 1 for bit in range(d * n)]
    known = [np.ones(len(ways), np.int8) for _ in range(d + 1)]  # arrows, of the node at each depth
    for step in range(n):
        after = [known[0]]
        for depth in range(1, d + 1):
            asked = np.maximum(depth - known[depth], 0)
            shown = np.choose(asked, known)
            heard = np.minimum(known[depth] + shown, depth + 1)
            after.append(np.where(awake[step * d + depth - 1], heard, known[depth]).astype(np.int8))
        known = after
    n_awake = sum(part.astype(np.int8) for part in awake)
    probability = (1 - s) ** n_awake * s ** (d * n - n_awake)
    assert probability.sum() == pytest.approx(1)
    assert probability[known[d] == d + 1].sum() == pytest.approx((1 - s) ** d)
    if n == 3:
        at_a_quarter, half = solution("08_alone_and_together")["awake"]
        assert (1 - s) ** d == pytest.approx(at_a_quarter if s == 0.25 else 0.5)
        assert s in (0.25, pytest.approx(half))


def test_the_first_steps_of_the_projects_run(capsys):
    text = (ROOT / "problems" / "projects.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert len(blocks) == 3
    for block in blocks:
        exec(block.replace(", 200, ", ", 2, "), {})
    for points in re.findall(r"^\*\*Points\.\*\* (.*)$", text, re.M):
        assert sum(map(int, re.findall(r"\d+", points))) == 40


def test_the_guide_for_teachers_is_short():
    text = (ROOT.parent / "TEACHING.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 200 * len(LESSONS)
