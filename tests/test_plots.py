import io
from fractions import Fraction

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from ponder_utils import plots
from ponder_utils.plots import act, digits, theory, trained
from ponder_utils.plots import lines as line_figures

N, K, SEEDS = 6, [1, 2, 3, 4], 3
rng = np.random.default_rng(0)
by_step = rng.random((SEEDS, N))
logged = pd.DataFrame(
    {"kind": kind, "network": k, "update": u, "total": k + 1 / u, "accuracy": 0.5}
    for kind in ("RNN", "GRU") for k in range(SEEDS) for u in (1, 2, 3)
)  # fmt: skip
runs = pd.DataFrame(
    {"form": "paper's", "lambda_p": lambda_p, "steps": steps, "live": live}
    for lambda_p, steps, live in ((0.1, 1.0, True), (0.1, 2.0, False), (0.9, 3.0, False))
)
THREE = [0.5, 0.3, 0.2]
IMAGE = rng.random((28, 28))
GRID = (rng.random((5, 3)) < 0.5).astype(float)
FIGURES = {
    "halting": lambda: act.halting([[0.1, 0.5, 0.5]] * 2, [[0.1, 0.9], [1.0]], [0.1, 0.9]),
    "jumps": lambda: act.jumps([0, 1, 2], [2, 2, 1], [0.4, 0.2, 1.0], [2.4, 2.2, 2.0], [2.4, 2.2, 2.1]),
    "by_setting": lambda: act.by_setting(
        [{"ACT": {True: [(0.01, 0.9)], False: [(0.01, 0.8), (0.1, 0.6)]}}] * 2,
        ["tau"] * 2,
        ["accuracy", "N"],
        [True] * 2,
    ),
    "trade_off": lambda: act.trade_off({"ACT": [(2.0, 0.9)], "fixed": [(1.0, 0.6), (10.0, 1.0)]}, 0.5),
    "small_test_sets": lambda: act.small_test_sets(
        [2, 4], [[0.5], [0.5, 0.6]], 1, {2: [1] * 17, 4: [0] * 16 + [3]}, [13, 16, 13]
    ),
    "coin_tree": lambda: theory.coin_tree(
        [Fraction(1, 2), Fraction(3, 5), Fraction(1)], [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    ),
    "bound_path": lambda: theory.bound_path(
        [0, 1, 100], [2, 1, 3], [2, 1, 0.5], 1.0, {"prior": THREE, "posterior": THREE[::-1]}
    ),
    "priors": lambda: theory.priors({"a": {"renormalise": THREE, "remainder": THREE, "geometric": THREE}}),
    "prior_mean": lambda: theory.prior_mean([0.1, 0.5], {"1 / x": [10, 2], "cut off": [7, 2]}, 20),
    "two_divergences": lambda: theory.two_divergences([0.1, 0.01], {"paper": [2, 2.4], "reversed": [2, 5]}, 2.5),
    "fitted": lambda: theory.fitted(
        [{"a": THREE, "b": THREE}], [{"a": THREE, "b": THREE}], [[0.7, 0.1, 0.1]], ["case"]
    ),
    "underflow": lambda: theory.underflow([0, 1, 2], {"float16": [0.5, 0.1, 0.0]}, [0, -1, -2]),
    "assignments": lambda: theory.assignments({"none": [1.0, 0.1], "mean": [1.0, 1.0]}, ["prior", "oracle"]),
    "stopping": lambda: theory.stopping(THREE, THREE, {"sample": (2, 1, 0.5, 0.2), "median": (1, 0, 0.5, 0)}),
    "learning_curves": lambda: trained.learning_curves(
        logged, {"total": "loss", "accuracy": "accuracy"}, {"accuracy": 0.5}
    ),
    "halting_distribution": lambda: trained.halting_distribution(by_step[:2], by_step[2], ["a", "b"]),
    "accuracy_by_step": lambda: trained.accuracy_by_step(by_step, [0.9] * SEEDS, 0.5),
    "by_difficulty": lambda: trained.by_difficulty(
        K, [{"PonderNet": rng.random((SEEDS, 4)), "fixed": rng.random((SEEDS, 4))}], ["accuracy"], border=3
    ),
    "by_lambda_p": lambda: trained.by_lambda_p(runs, {"steps": "expected steps"}, {"steps": {"prior": [10, 1.1]}}),
    "images": lambda: digits.images([[IMAGE] * 3] * 2, [["exactly 0", "exactly 45", "exactly 90"]] * 2),
    "thoughts": lambda: digits.thoughts(
        [IMAGE] * 2, [THREE, THREE[::-1]], [[6, 6, 9], [9, 9, 9]], ["0 degrees", "180 degrees"], [6, 6]
    ),
    "by_variant": lambda: digits.by_variant(
        [{"as it is": {True: [4.0], False: [3.9, 4.1]}, "beta = 0": {True: [1.2]}}] * 2,
        ["steps", "change"],
        [{"as it is": 4.8}, {"as it is": 0.0, "beta = 0": 0.0}],
        "prior; no change",
    ),
    "price_of_accuracy": lambda: digits.price_of_accuracy(
        {"always stopped at step n": ([1, 2, 3], [0.2, 0.8, 0.9])}, {"sample": [(2.2, 0.7)], "fixed": [(1, 0.6)]}, 0.5
    ),
    "machine": lambda: line_figures.machine(6, 3, place=2),
    "changes": lambda: line_figures.changes([GRID, GRID], [[1, 2, 3], [2, 1, 2]], ["bit 1 is turned", "bit 2"]),
    "thoughts of lines": lambda: line_figures.thoughts(
        [GRID] * 2, [GRID] * 2, [[1, 2, 3], [1, 1, 2]], [4, 3], [GRID[:2]] * 2, ["easy", "hard"]
    ),
    "steps_against_need": lambda: line_figures.steps_against_need(
        {"one network": [[2.0, 3.0, None, 5.0], [2.5, 3.5, 4.5, 5.5]]}, 1, 2, {"theory": 1.5}, failed=[[4.0, 4.0]]
    ),
    "above_the_limit": lambda: line_figures.above_the_limit(
        [0.2, 0.5], {"theory": [4, 1]}, {"a": [(0.2, 3.9)], "b": []}
    ),
    "bought": lambda: line_figures.bought(
        [
            ("16 places", by_step[:2], {"sample": [(2, 0.7)]}, {"limit": ([1, 2], [0.5, 1])}, 4),
            ("digits", [], {}, {}, 9),
        ]
    ),
    "against_size": lambda: line_figures.against_size([16, 64], {"log": [4, 6]}, {"a network": [(16, 5)]}, "steps"),
    "by_group": lambda: line_figures.by_group({"with": {"right": [1, 0.9]}, "without": {"right": []}}, "right", (0, 1)),
    "traces": lambda: trained.traces(by_step[:2], by_step[:2], by_step[:2], ["easy", "hard"], [0, 1]),
}


def test_runs_are_drawn_where_they_were_measured():
    (first, second, failed, cone) = lines(FIGURES["steps_against_need"]())[:4]
    assert [*zip(*first.get_data(), strict=True)] == [(1, 2.0), (2, 3.0), (4, 5.0)]
    assert [*second.get_ydata()] == [2.5, 3.5, 4.5, 5.5]
    assert [*failed.get_xdata()] == [1, 2]
    assert [*cone.get_ydata()] == [1, 2, 3, 4]


def test_what_is_written_for_a_projector_is_at_least_11_points_high():
    for name in ("steps_against_need", "bought", "above_the_limit", "against_size", "by_group", "changes", "machine"):
        figure = FIGURES[name]()
        legends = [its for its in (*figure.legends, *(ax.get_legend() for ax in figure.axes)) if its]
        texts = [text for its in legends for text in its.get_texts()]
        for ax in figure.axes:
            texts += [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        assert min(text.get_fontsize() for text in texts) >= 11, name


def lines(figure, panel=0):
    return figure.axes[panel].get_lines()


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_white_whatever_the_readers_style(name):
    with plots.mpl.rc_context({"figure.facecolor": "black", "axes.facecolor": "black", "text.color": "white"}):
        figure = FIGURES[name]()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
    buffer.seek(0)
    pixels = matplotlib.image.imread(buffer)
    assert (pixels[0, 0, :3] == 1).all()
    assert pixels.shape[2] == 3 or (pixels[..., 3] == 1).all()
    assert all(to_rgb(ax.get_facecolor()) == (1, 1, 1) for ax in figure.axes)


@pytest.mark.parametrize("name", FIGURES)
def test_every_axis_is_labelled_and_every_line_named_once(name):
    for ax in FIGURES[name]().axes:
        assert ax.get_xlabel()
        labels = ax.get_legend_handles_labels()[1]
        assert len(set(labels)) == len(labels)


def test_every_seed_and_the_mean_are_drawn():
    drawn = [np.asarray(line.get_ydata()) for line in lines(FIGURES["accuracy_by_step"]())]
    for wanted in (*by_step, by_step.mean(0)):
        assert any(len(line) == N and np.allclose(line, wanted) for line in drawn)


def test_groups_differ_in_colour_and_in_dashes_or_marker():
    legend = FIGURES["by_difficulty"]().axes[0].get_legend_handles_labels()[0]
    a, b = legend[:2]
    assert a.get_color() != b.get_color()
    assert (a.get_linestyle(), a.get_marker()) != (b.get_linestyle(), b.get_marker())


def test_every_run_is_a_mark_full_if_it_is_of_this_session():
    stored, live, _ = FIGURES["by_lambda_p"]().axes[0].collections
    assert live.get_offsets().tolist() == [[0.1, 1.0]]
    assert stored.get_offsets().tolist() == [[0.1, 2.0], [0.9, 3.0]]
    assert len(live.get_facecolor()) == 1
    assert len(stored.get_facecolor()) == 0


def test_every_network_of_a_table_is_a_line():
    ax = FIGURES["learning_curves"]().axes[0]
    drawn = {tuple(line.get_ydata()) for line in ax.lines}
    assert drawn == {(k + 1, k + 1 / 2, k + 1 / 3) for k in range(SEEDS)}
    assert len(ax.lines) == 2 * SEEDS
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["RNN", "GRU"]


def test_bars_are_full_where_the_answer_is_right_and_hatched_where_it_is_wrong():
    first, second = FIGURES["thoughts"]().axes[2:]
    for ax, p_n, right in ((first, THREE, [True, True, False]), (second, THREE[::-1], [False] * 3)):
        bars = {round(bar.get_x() + bar.get_width() / 2): bar for bar in ax.patches}
        assert [bars[n].get_height() for n in (1, 2, 3)] == p_n
        assert [bars[n].get_hatch() is None for n in (1, 2, 3)] == right
    assert [text.get_text() for text in first.texts] == ["6", "6", "9"]


def test_variants_are_rows_from_the_top_each_beside_its_own_mark():
    ax = FIGURES["by_variant"]().axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["as it is", "beta = 0"]
    assert ax.yaxis_inverted()
    (compare,) = ax.get_lines()
    assert compare.get_xydata().tolist() == [[4.8, 0]]
    offsets = [marks.get_offsets().tolist() for marks in ax.collections]
    assert offsets == [[[3.9, 0], [4.1, 0]], [[4.0, 0]], [], [[1.2, 1]]]


def test_grey_begins_midway_between_the_last_training_angle_and_the_first_beyond():
    figure = trained.by_difficulty([0, 15, 30, 45], [{"a": rng.random((2, 4))}], ["steps"], border=22.5)
    (grey,) = figure.axes[0].patches
    assert (grey.get_x(), grey.get_x() + grey.get_width()) == (22.5, 52.5)


def test_palette_differs_in_lightness_from_white():
    """Contrast of at least 3:1 with the white face for the colours of the first lines: what WCAG asks of graphics."""

    def luminance(colour):
        c = np.array(to_rgb(colour))
        return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    for colour in plots.COLOURS[:3]:
        assert 1.05 / (luminance(colour) + 0.05) >= 3


def test_show_displays_the_sentence_twice_as_text_and_as_alternative_text(monkeypatch):
    shown = []
    monkeypatch.setattr(plots, "display", lambda *things: shown.extend(things))
    plots.show(FIGURES["traces"](), "It halts at step 3.")
    image, text = shown
    assert image._repr_mimebundle_()[1]["image/png"]["alt"] == "It halts at step 3."
    assert text.data == "It halts at step 3."
