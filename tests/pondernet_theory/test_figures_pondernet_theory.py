"""The figures of lesson 02 draw the numbers that they are given."""

import math

import pandas as pd
import pytest
import torch
from drawn import bars, check, heights, named, pairs, points, written
from matplotlib.colors import to_hex

import ponder_utils as pu
from ponder_course.common.style import ANSWER, COLOURS, GREEN, HALTING, KL, LIMIT, PRIOR, PURPLE, WRONG
from ponder_course.pondernet_theory import figures as draw
from ponder_course.pondernet_theory.figures import (
    draw_assignments,
    draw_best_halting,
    draw_bounds,
    draw_fitted,
    draw_kl_bars,
    draw_learnt,
    draw_noise,
    draw_prior_means,
    draw_pushes,
    draw_stopping,
    draw_underflow,
)

P, Q, LOSSES = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.9, 0.4, 0.6]
TABLE = pd.DataFrame(
    {"steps": [2.0, 3.0], "steps_sd": [0.5, 0.0], "answer": [0.6, 0.3], "answer_sd": [0.2, 0.0]},
    index=["sample", "median"],
)
CLOSED, FITS = {"paper": [P, Q], "reversed": [Q, P]}, {"paper": [Q, Q], "reversed": [P, P]}
FIGURES = {
    "kl_bars": lambda: draw_kl_bars([0.5, 0.25, 0.25], {"a": [0.25, 0.5, 0.25], "b": [0, 0, 1]}),
    "best_halting": lambda: draw_best_halting(LOSSES, [("a", P, Q), ("b", Q, [0.0, 0.0004, 0.9996])]),
    "best_halting_log": lambda: draw_best_halting(LOSSES, [("a", P, [1e-40, 2e-9, 1.0])], lowest=1e-30),
    "pushes": lambda: draw_pushes(
        [0.1, 0.01], {"losses": [0.2, 0.02], "paper": [0.3, 0.01], "reversed": [0.15, 0.154]}, 0.16
    ),
    "learnt": lambda: draw_learnt(
        [1, 2, 3], {"none": [2, 3, 4], "mean": [5, 5, 5]}, {"none": [P, Q], "mean": [LOSSES]}
    ),
    "noise": lambda: draw_noise([[0, 0.1, 0.9, 0.4], [20, 0.01, 0.8, 0.3], [40, 0.001, 0.7, 0.2]]),
    "bounds": lambda: draw_bounds(
        [0.1, 1, 100],
        {"a": [("bound", [2, 1, 3]), ("exact", [1, 1, 1])], "b": [("mean loss", [4, 5, 6]), ("mixture", [3, 4, 5])]},
    ),
    "prior_means": lambda: draw_prior_means([0.02, 0.1, 1], {"renormalise": [10, 7, 1], "remainder": [17, 9, 1]}, 20),
    "fitted": lambda: draw_fitted({"easy": LOSSES, "hard": P}, CLOSED, FITS),
    "underflow": lambda: draw_underflow([0, 1, 2], {"half": [0.1, 0.01, 0]}, [-1, -3, -5]),
    "assignments": lambda: draw_assignments({"none": [1, 2], "mean": [3, 4]}, ["prior", "oracle"]),
    "stopping": lambda: draw_stopping(P, LOSSES, TABLE),
}


def over(x, y):
    return [[a, pytest.approx(b)] for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "assignments"])  # its numbers are small
def test_figures_are_opaque_labelled_and_legible(name):
    check(FIGURES[name])


def colours(container):
    return {to_hex(bar.get_facecolor()).upper() for bar in container}


def test_over_each_bar_stands_what_it_adds_to_the_divergence():
    ours, certain = FIGURES["kl_bars"]().axes
    assert [heights(container) for container in ours.containers] == [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]
    assert written(ours) == ["-0.25", "+0.50", "+0.00", "$p_G$"]
    assert written(certain) == ["0", "0", "+2.00"]
    assert [ax.get_title() for ax in (ours, certain)] == ["a: 0.25 bits", "b: 2.00 bits"]
    assert colours(ours.containers[1]) == {HALTING}
    assert ours.texts[0].get_position() == (1.22, 0.27)


def test_best_halting_has_losses_once_and_beside_them_prior_and_best():
    left, one, certain = FIGURES["best_halting"]().axes
    assert [(x, height) for x, height, _ in bars(left)] == [*enumerate(LOSSES, start=1)]
    assert written(left) == ["0.9", "0.4", "0.6"]
    for ax, prior, best in ((one, P, Q), (certain, Q, [0.0, 0.0004, 0.9996])):
        drawn = {container.get_label(): container for container in ax.containers}
        assert heights(drawn["prior"]) == prior
        assert heights(drawn["best $p_n$"]) == best
        assert colours(drawn["best $p_n$"]) == {HALTING}
    assert (written(one), written(certain)) == (["0.20"], ["0.00"])  # where the loss is smallest, at step 2
    assert one.texts[0].xy == (2, 0.3)  # above the prior
    assert [ax.get_title() for ax in (one, certain)] == ["a", "b"]


def test_on_a_log_axis_every_bar_has_its_number():
    (ax,) = FIGURES["best_halting_log"]().axes  # without the losses
    assert heights(ax.containers[0]) == [1e-30, 2e-9, 1.0]
    assert written(ax) == ["1e-30", "2e-09", "1.000"]
    assert [text.xy for text in ax.texts] == [(1, 1e-30), (2, 2e-9), (3, 1.0)]  # at the bars
    assert named(ax, "prior") == pairs([1, 2, 3], P)
    assert (ax.get_yscale(), ax.get_ylim()[0]) == ("log", 1e-30)


def test_what_is_drawn_may_be_tensors():
    t = torch.tensor([1.0, 2.0, 10.0])
    ax = draw_bounds(t, {"a": [("upper", t + 1), ("lower", t)]}).axes[0]
    assert named(ax, "upper") == [[1, 2], [2, 3], [10, 11]]
    one = draw_best_halting(t / 20, [("a", torch.tensor(P), torch.tensor(Q))]).axes[1]
    assert heights(one.containers[0]) == pytest.approx(Q)


def test_pushes_are_sizes_against_the_coin_which_falls_to_the_right():
    ax = FIGURES["pushes"]().axes[0]
    assert points(ax, color=ANSWER) == [[[0.1, 0.2], [0.01, 0.02]]]
    assert points(ax, color=HALTING) == [[[0.1, 0.3], [0.01, 0.01]]]
    assert points(ax, color=PURPLE) == [[[0.1, 0.15], [0.01, 0.154]]]
    assert points(ax, color=PRIOR) == [[[0.1, 0.16], [0.01, 0.16]]]
    assert ax.xaxis_inverted()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    heights_of = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert heights_of == {"losses": 0.02, "paper": 0.01, "reversed": 0.154, "$p_G(3)$": pytest.approx(0.288)}


def test_learnt_steps_are_marks_on_the_line_of_theory():
    ax = FIGURES["learnt"]().axes[0]
    assert points(ax, color=HALTING, marker="None") == [[[1, 2], [2, 3], [3, 4]]]
    assert points(ax, color=WRONG, marker="None") == [[[1, 5], [2, 5], [3, 5]]]
    assert points(ax, color=HALTING, marker="o") == [over([1, 2, 3], P), over([1, 2, 3], Q)]
    assert points(ax, color=WRONG, marker="s") == [over([1, 2, 3], LOSSES)]
    assert points(ax, color=LIMIT) == [[[1, 1], [2, 2], [3, 3]]]
    places = {text.get_text(): text.get_position() for text in ax.texts}
    assert places["needed"][1] == 3
    assert places["weighted first "] == (3, pytest.approx(4.3))
    assert places["averaged first"] == (1, 5.2)


def test_noise_is_drawn_over_the_updates_on_a_log_axis_with_a_name_at_each_line():
    ax = FIGURES["noise"]().axes[0]
    wanted = {HALTING: [0.1, 0.01, 0.001], PURPLE: [0.9, 0.8, 0.7], GREEN: [0.4, 0.3, 0.2]}
    for colour, line in wanted.items():
        assert points(ax, color=colour) == [pairs([0, 20, 40], line)]
    ends = {text.get_text().replace("\n", " "): text.get_position()[1] for text in ax.texts}
    assert ends == {
        "the gradient, squared": 0.001,
        "variance, one sampled step": 0.7,
        "variance, with a baseline": 0.2,
    }
    assert ax.get_yscale() == "log"


def test_each_bound_lies_above_what_it_bounds_and_the_gap_is_between():
    left, right = FIGURES["bounds"]().axes
    assert named(left, "bound") == [[0.1, 2], [1, 1], [100, 3]]
    assert named(left, "exact") == [[0.1, 1], [1, 1], [100, 1]]
    assert named(right, "mean loss") == [[0.1, 4], [1, 5], [100, 6]]
    assert named(right, "mixture") == [[0.1, 3], [1, 4], [100, 5]]
    (gap,) = left.collections
    corners = {tuple(corner) for corner in gap.get_paths()[0].vertices.tolist()}
    assert {(0.1, 1), (0.1, 2), (100, 1), (100, 3)} <= corners
    assert [line.get_color() for line in (*left.lines, *right.lines)] == [PURPLE, LIMIT, ANSWER, HALTING]


def test_a_priors_means_lie_below_that_before_the_cut():
    ax = FIGURES["prior_means"]().axes[0]
    assert points(ax, color=LIMIT) == [over([0.02, 0.1, 1], [50, 10, 1]), [[0.02, 20], [1, 20]]]
    assert points(ax, linestyle=":") == [pairs([0.02, 0.1, 1], [10, 7, 1])]
    assert points(ax, linestyle="--") == [pairs([0.02, 0.1, 1], [17, 9, 1])]
    heights_of = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert heights_of["renormalise"] < 10
    assert 17 < heights_of["remainder"] < 20


def test_fits_are_marks_and_closed_forms_lines_case_by_case():
    figure = FIGURES["fitted"]()
    assert [ax.get_title() for ax in figure.axes] == ["easy", "hard"]
    for i, (ax, losses) in enumerate(zip(figure.axes, (LOSSES, P), strict=True)):
        assert named(ax, r"loss $\ell_n$ (nats)") == over([1, 2, 3], losses)
        for which, label in enumerate(CLOSED):
            assert points(ax, marker="None", color=COLOURS[which]) == [over([1, 2, 3], CLOSED[label][i])]
            assert named(ax, label) == over([1, 2, 3], FITS[label][i])
        assert ax.get_yscale() == "log"


def test_underflow_is_a_logarithm_that_ends_in_a_cross():
    ax = FIGURES["underflow"]().axes[0]
    assert named(ax, "half") == over([0, 1], [-1, -2])
    assert points(ax, marker="X") == [over([1], [math.log10(0.01)])]
    assert named(ax, "sum of logarithms, float32") == [[0, -1], [1, -3], [2, -5]]


def test_assignments_are_pairs_of_bars():
    ax = FIGURES["assignments"]().axes[0]
    none, mean = ax.containers
    assert [heights(container) for container in (none, mean)] == [[1, 2], [3, 4]]
    assert [bar.get_x() < other.get_x() for bar, other in zip(none, mean, strict=True)] == [True, True]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["prior", "oracle"]
    assert ax.get_legend_handles_labels()[1] == ["none", "mean"]
    assert written(ax) == ["1.00", "2.00", "3.00", "4.00"]


def test_rules_stand_at_their_steps_and_answer_with_an_error_bar_for_each():
    left, right = FIGURES["stopping"]().axes
    assert heights(left.containers[0]) == P
    assert named(left, "answer, P(odd)") == over([1, 2, 3], LOSSES)
    sample, median = right.containers
    assert [container.get_label() for container in (sample, median)] == ["sample", "median"]
    assert sample.lines[0].get_xydata().tolist() == [[2.0, 0.6]]
    segments = [collection.get_segments()[0].tolist() for collection in sample.lines[2]]
    assert segments == [over([1.5, 2.5], [0.6, 0.6]), [[2.0, pytest.approx(0.4)], [2.0, pytest.approx(0.8)]]]
    assert median.lines[0].get_xydata().tolist() == [[3.0, 0.3]]
    assert not median.lines[2]


def best(losses, log_g, beta):
    return (log_g - losses / beta).softmax(0)


def test_pushes_are_the_gradients_on_the_third_logit_part_by_part():
    losses, log_prior = torch.tensor([0.7, 0.7, 0.05, 0.7]).double(), pu.geometric_log_prior(0.2, 4)
    found = draw.pushes(0.3, losses, log_prior, pu.halting_log_probs, pu.kl_divergence)
    parts = {
        "losses": lambda log_p: log_p.exp() @ losses,
        KL["p||p_G"]: lambda log_p: pu.kl_divergence(log_p, log_prior),
        KL["p_G||p"]: lambda log_p: pu.kl_divergence(log_prior, log_p),
    }
    assert found.keys() == parts.keys()
    a, small = torch.tensor([0.2, 0.2, 0.3, 0.2]).double().logit(), torch.tensor([0, 0, 1e-5, 0]).double()
    for name, part in parts.items():
        above, below = (part(pu.halting_log_probs(logits)) for logits in (a + small, a - small))
        assert found[name] == pytest.approx(((above - below) / 2e-5).item(), rel=1e-4)
    sizes = draw.sizes_of([found, {name: -2 * slope for name, slope in found.items()}])
    assert sizes == {name: [abs(slope), abs(2 * slope)] for name, slope in found.items()}
    last = f"{sizes[KL['p_G||p']][-1]:.2f}"
    assert draw.what_still_pulls(sizes) == f"At a dead step only the reversed divergence still pulls: {last}"


def test_the_best_halting_is_drawn_for_each_beta_and_at_the_sliders():
    losses = torch.tensor([0.9, 0.1, 0.6]).double()
    figure, finding = draw.best_by_beta(best, losses, (1, 0.1), lambda_p=0.4)
    p = [best(losses, pu.geometric_log_prior(0.4, 3), beta).tolist() for beta in (1, 0.1)]
    assert [ax.get_title() for ax in figure.axes[1:]] == ["$\\beta = 1$", "$\\beta = 0.1$"]
    assert [heights(ax.containers[0]) for ax in figure.axes[1:]] == p
    assert heights(figure.axes[0].containers[0]) == losses.tolist()
    assert finding == f"The smaller β, the more the losses decide: step 2 gets {p[0][1]:.2f}, {p[1][1]:.2f}"
    sliders = draw.sliders_of(losses)
    at = {name: start for name, (*_, start) in sliders.items()}
    assert [at[f"loss_{n}"] for n in (1, 2, 3)] == losses.tolist()
    assert heights(draw.best_at(best, **at).axes[1].containers[0]) == pytest.approx(p[1])  # at beta = 10^-1


def test_steps_learnt_are_beside_the_best_and_said():
    losses = torch.tensor([[0.7, 0.7], [0.1, 0.7], [0.1, 0.1]])
    log_prior = pu.geometric_log_prior(0.4, 3).float()[:, None]
    n, averaged = torch.tensor([1.0, 2.0, 3.0]), losses.mean(1, keepdim=True)
    wanted = draw.best_steps(best, losses, log_prior, 0.1)
    assert wanted["none"] == pytest.approx((n @ best(losses, log_prior, 0.1)).tolist())
    assert wanted["mean"] == pytest.approx(2 * [(n @ best(averaged, log_prior, 0.1)).item()])
    rows = torch.zeros(3, 6)
    found = draw.steps_learnt({"none": [lambda x: (None, rows)]}, pu.halting_log_probs)
    assert found == {"none": [[1.75] * 6]}  # coins of a half
    runs = {"none": [[1.0, 5.5], [1.0, 6.5]], "mean": [[3.0, 3.2], [2.9, 2.6]]}
    assert (
        draw.what_was_learnt(runs, 9)
        == "Weighted first, inputs that need more steps take more;\naveraged first, all take 3"
    )
    more = "input 6 takes 4.5 to 5.5 steps more than input 1; averaged first 0.2 to 0.3"
    assert draw.more_for_the_hardest(runs) == more
    runs["mean"][0] = [3.0, 4.0]
    assert draw.what_was_learnt(runs, 9) == "After 9 updates input 6 takes 4.5 to 5.5 steps more than input 1"


def test_how_noisy_a_sample_is_is_said_of_the_first_and_the_last_row():
    rows = [[0, 0.1, 0.9, 0.4], [20, 0.01, 0.8, 0.3], [40, 0.0001, 0.7, 0.2]]
    expected = "One sampled step: its variance is 9 times\nthe gradient squared at first, 7,000 times at the end"
    assert draw.how_noisy(rows) == expected
