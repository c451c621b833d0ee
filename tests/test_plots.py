import io

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from ponder_course import figures as plots
from ponder_course.figures import act_background as act
from ponder_course.figures import light_cone as line_figures
from ponder_course.figures import machines
from ponder_course.figures import mnist_rotation as digits
from ponder_course.figures import parity as trained
from ponder_course.figures import pondernet_theory as theory
from ponder_course.figures import ways_to_stop as stopping

N, K, SEEDS = 6, [1, 2, 3, 4], 3
rng = np.random.default_rng(0)
by_step = rng.random((SEEDS, N))
logged = pd.DataFrame(
    {"kind": kind, "network": k, "update": u, "total": k + 1 / u, "accuracy": 0.5}
    for kind in ("RNN", "GRU") for k in range(SEEDS) for u in (1, 2, 3)
)  # fmt: skip
watched = pd.DataFrame(
    {"kind": "a", "network": k, "update": u, "easy": [0.5, 0.3, 0.2], "hard": [0.2, 0.3, 0.5][:: 1 if u else -1]}
    | {"easy right": 1.0 if u else 0.5, "hard right": 0.6 if u else 0.5}
    for k in range(2) for u in (0, 9)
)  # fmt: skip
priced = pd.DataFrame(
    {"kind": "ACT", "setting": tau, "accuracy": accuracy, "updates": updates, "learnt": accuracy > 0.9, "live": live}
    for tau, accuracy, updates, live in ((0.01, 1.0, 3.0, True), (0.01, 0.6, 1.0, False), (0.1, 0.95, 2.0, False))
)
THREE = [0.5, 0.3, 0.2]
IMAGE = rng.random((28, 28))
GRID = (rng.random((5, 3)) < 0.5).astype(float)
FIGURES = {
    "halting": lambda: act.halting([[0.1, 0.5, 0.5]] * 2, [[0.1, 0.9], [1.0]], [0.1, 0.9]),
    "jumps": lambda: act.jumps([0, 1, 2], [2, 2, 1], [0.4, 0.2, 1.0], [2.4, 2.2, 2.0], [2.4, 2.2, 2.1]),
    "by_setting": lambda: act.by_setting(priced, {"accuracy": "accuracy", "updates": "updates"}, "tau"),
    "stories": lambda: act.stories(
        {"cheap": [{"update": [0, 9], "accuracy": [0.5, 1], "thinks": [2, 3]}], "early": []},
        {"cheap": [], "early": [(0, 5)]},
        live=1,
    ),
    "over_batches": lambda: act.over_batches(
        {"early": [{"update": [0, 9], "accuracy": [0.5, 1], "thinks": [2, 3]}] * 2, "new": []}, first=2, falls=5
    ),
    "trade_off": lambda: act.trade_off({"ACT": [(2.0, 0.9)], "fixed": [(1.0, 0.6), (10.0, 1.0)]}, 0.5),
    "small_test_sets": lambda: act.small_test_sets(
        [2, 4], [[0.5], [0.5, 0.6]], 1, {2: [1] * 17, 4: [0] * 16 + [3]}, [13, 16, 13]
    ),
    "best_halting": lambda: theory.best_halting(THREE, [("a", THREE, THREE), ("b", THREE, THREE[::-1])]),
    "pushes": lambda: theory.pushes([0.1, 0.01], {"losses": [0.1, 0.01], "reversed": [0.15, 0.154]}, 0.154),
    "learnt": lambda: theory.learnt(K, {"none": K, "mean": [2] * 4}, {"none": [K, K], "mean": [[2] * 4]}),
    "bound_path": lambda: theory.bound_path([0, 1, 100], {"bound": [2, 1, 3], "mixture": [2, 1, 0.5]}, 1.0),
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
    "over_training": lambda: trained.over_training(watched, {"easy": "k = 1", "hard": "k = 8"}, THREE, [0, 9]),
    "stopped_at": lambda: trained.stopped_at({"a": (by_step, [(2.5, 0.9)]), "b": (by_step[:1], [])}),
    "two_counts": lambda: trained.two_counts(
        {"a": [(THREE, [1, *THREE], True), (THREE[::-1], [1, *THREE], False)], "b": [(THREE, [1, *THREE], True)]},
        [1, 2, 3],
        "steps",
    ),
    "rises": lambda: trained.rises(
        {
            "small": {
                "paper's": {0.1: ([1, 2, 3], 0, 0), 0.9: ([0.5, 1], 7, 1)},
                "reversed": {0.1: ([], 0, 10), 0.9: ([2] * 3, 0, 0)},
            }
        },
        (-1, 4),
        "more",
    ),
    "beyond": lambda: trained.beyond(
        [1, 2, 3], 2, {"ACT": ([THREE], []), "fixed": ([], [THREE])}, {"ACT": [1.0, 2.0]}, "steps"
    ),
    "accuracy_and_steps": lambda: trained.accuracy_and_steps(
        [1, 2, 3], {"ACT": [(THREE, [1, 2, 3], True)], "fixed": [(THREE, [3, 3, 3], False)]}, 2, 20
    ),
    "by_ones": lambda: trained.by_ones({"a": {2: ([3, 2, 1], [1, 1, 0.5])}, "b": {1: ([4, 2], [1, 1])}}),
    "shares": lambda: trained.shares({"small": {"a": [0, 1]}, "large": {"a": [0.5, 0.5]}}, [0.1, 0.9], "crashed"),
    "images": lambda: digits.images([[IMAGE] * 3] * 2, [["exactly 0", "exactly 45", "exactly 90"]] * 2),
    "thoughts": lambda: digits.thoughts(
        [IMAGE] * 2, [THREE, THREE[::-1]], [[6, 6, 9], [9, 9, 9]], ["0 degrees", "180 degrees"], [6, 6], [0, 1]
    ),
    "flat_line": lambda: digits.flat_line(
        {"CNN": by_step[:2], "patches": by_step[1:]}, {"CNN": [(2.2, 0.7)], "patches": []}, {"CNN": [(1, 0.6)]}, 1, 0.1
    ),
    "beside_prior": lambda: digits.beside_prior({"CNN": by_step[:2]}, {"CNN": by_step[2]}),
    "over_angles": lambda: digits.over_angles(
        [0, 45, 90, 180], [{"CNN": rng.random((SEEDS, 4))}] * 2, ["accuracy", "steps"], 22.5, sharey=True
    ),
    "forest": lambda: digits.forest(
        [("short", "", []), ("as it is", "each", [[4.0, 3.9], [1]]), ("beta = 0", "batch", [[1.2], []])],
        ["steps", "change"],
        ["each", "batch"],
        left="fewer",
        right="more",
    ),
    "light_cone": lambda: machines.light_cone(6, 3, place=2),
    "readers": lambda: machines.readers(IMAGE),
    "act_cell": lambda: machines.act_cell([0.1, 0.3, 0.6, 0.5], [0.1, 0.3, 0.6]),
    "pondernet": lambda: machines.pondernet([0.2, 0.5, 1.0], [0.2, 0.4, 0.4]),
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
    "ways_to_stop": lambda: machines.ways_to_stop(),
    "signals": lambda: stopping.signals(
        {"a": by_step[:2], "b": by_step[1:]}, {"short": 2, "hopeless": None}, {"a": 0.9, "b": 0.5}
    ),
    "tradeoffs": lambda: stopping.tradeoffs(
        {"lines": {"ACT": [[(0.9, 7), (0.5, 3)]] * 2, "coin": [[(0.6, 4)]]}, "noisy": {"coin": [[(0.6, 4)]]}},
        {"ACT": "a price", "coin": "a prior"},
        {"lines": 3.5},
    ),
    "regrets": lambda: stopping.regrets(
        {"lines": {"ACT": [(0.01, 0.02), (0.03, 0.0)], "coin": [(0.2, 0.1)]}, "noisy": {"coin": [(-0.01, 0.3)]}},
        {"ACT": "a price", "coin": "a prior"},
        {"lines": {"ACT": (0.05, 0.01)}},
        most=25,
    ),
    "traces": lambda: trained.traces(by_step[:2], by_step[:2], by_step[:2], [[0, 1], [-1, 1]], [0, 1]),
}


def test_runs_are_drawn_where_they_were_measured():
    (first, second, failed, cone) = lines(FIGURES["steps_against_need"]())[:4]
    assert [*zip(*first.get_data(), strict=True)] == [(1, 2.0), (2, 3.0), (4, 5.0)]
    assert [*second.get_ydata()] == [2.5, 3.5, 4.5, 5.5]
    assert [*failed.get_xdata()] == [1, 2]
    assert [*cone.get_ydata()] == [1, 2, 3, 4]


def test_what_is_written_for_a_projector_is_at_least_11_points_high():
    for name in (
        "best_halting",
        "pushes",
        "learnt",
        "bound_path",
        "priors",
        "underflow",
        "stopping",
        "fitted",
        "halting",
        "jumps",
        "by_setting",
        "stories",
        "over_batches",
        "small_test_sets",
        "steps_against_need",
        "bought",
        "above_the_limit",
        "against_size",
        "by_group",
        "changes",
        "light_cone",
        "images",
        "thoughts",
        "readers",
        "flat_line",
        "beside_prior",
        "over_angles",
        "forest",
        "ways_to_stop",
        "signals",
        "tradeoffs",
        "regrets",
        "two_counts",
        "by_ones",
    ):
        figure = FIGURES[name]()
        legends = [its for its in (*figure.legends, *(ax.get_legend() for ax in figure.axes)) if its]
        texts = [text for its in legends for text in its.get_texts()]
        for ax in figure.axes:
            texts += [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        assert min(text.get_fontsize() for text in texts if text.get_text().strip()) >= 11, name


def test_updates_that_are_not_made_are_drawn_as_such():
    texts = [text.get_text() for text in FIGURES["act_cell"]().axes[0].texts]
    assert texts.count("never made") == 1
    assert [text for text in texts if text.startswith("$p_")] == [
        "$p_1$ = 0.10",
        "$p_2$ = 0.30",
        "$p_3$ = $1 - 0.40$ = 0.60",
    ]


def test_best_halting_and_the_means_of_priors_are_written_and_the_bound_touches_where_it_is_marked():
    texts = [[text.get_text() for text in ax.texts] for ax in FIGURES["best_halting"]().axes]
    assert texts == [["0.50", "0.30", "0.20"]] * 2 + [["0.500", "0.300", "0.200"], ["0.200", "0.300", "0.500"]]
    assert [text.get_text().strip() for text in FIGURES["priors"]().axes[0].texts] == ["1.7", "1.7"]
    (touch,) = [line for line in lines(FIGURES["bound_path"]()) if line.get_label() == "they touch"]
    assert touch.get_xydata().tolist() == [[1, 1.0]]


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
        assert ax.get_xlabel() or not ax.axison
        labels = ax.get_legend_handles_labels()[1]
        assert len(set(labels)) == len(labels)


def test_groups_differ_in_colour_and_in_dashes_or_marker():
    legend = FIGURES["learning_curves"]().axes[0].get_legend_handles_labels()[0]
    a, b = legend[:2]
    assert a.get_color() != b.get_color()
    assert (a.get_linestyle(), a.get_marker()) != (b.get_linestyle(), b.get_marker())


def test_a_mark_is_a_mean_with_its_interval_or_a_cross_for_each_run_and_what_is_missing_is_counted():
    ax = FIGURES["rises"]().axes[0]
    shown = [line.get_xydata().tolist() for line in ax.get_lines() if len(line.get_xdata())]
    low, high = (2 + sign * 4.3027 / 3**0.5 for sign in (-1, 1))  # Student's t, two degrees of freedom
    x = 0.1 - 0.05 / 2
    interval = next(points for points in shown if len(points) == 2 and points[0][0] == pytest.approx(x))
    assert interval == [pytest.approx([x, low], rel=1e-4), pytest.approx([x, high], rel=1e-4)]
    assert [[pytest.approx(x), 2]] in shown
    assert [[pytest.approx(0.9 - 0.05 / 2), 0.5], [pytest.approx(0.9 - 0.05 / 2), 1]] in shown
    rows = {text.get_text()[:-1]: text.get_position()[1] for text in ax.texts if text.get_text().endswith(":")}
    assert [*rows] == ["not learnt", "crashed"]
    numbers = {(round(text.get_position()[0], 3), text.get_position()[1]): text.get_text() for text in ax.texts}
    assert numbers[0.875, rows["not learnt"]] == "7"
    assert numbers[0.875, rows["crashed"]] == "1"
    assert numbers[0.125, rows["crashed"]] == "10"
    assert len(ax.texts) == 2 + 3


def test_only_runs_that_learnt_are_in_a_mean_and_the_others_are_counted():
    act, fixed, change = FIGURES["beyond"]().axes[:3]
    assert (act.get_title(), fixed.get_title()) == ("ACT\n1 of 1 learnt", "fixed\n0 of 1 learnt")
    assert [line.get_color() for line in fixed.get_lines() if len(line.get_xdata()) == 3] == [trained.GREY]
    assert [1.5] in [[*line.get_ydata()] for line in change.get_lines()]


def test_the_moments_of_training_are_columns_and_every_network_a_line():
    first, second, right = FIGURES["over_training"]().axes
    assert [ax.get_title() for ax in (first, second, right)] == ["0 updates", "9 updates", "accuracy"]
    assert [line.get_ydata().tolist() for line in second.get_lines()] == [THREE, THREE, THREE[::-1], THREE[::-1], THREE]
    assert [[*line.get_ydata()] for line in right.get_lines()[:4]] == [[0.5, 1.0]] * 2 + [[0.5, 0.6]] * 2
    assert [line.get_xdata()[0] for line in right.get_lines()[4:]] == [0, 9]


def test_a_network_looks_the_same_in_every_figure_and_one_that_did_not_learn_is_grey():
    stopped, steps = (FIGURES[name]().axes[0].get_lines() for name in ("stopped_at", "two_counts"))
    assert [line.get_marker() for line in stopped[:3]] == ["o", "s", "^"]
    assert [line.get_marker() for line in steps[:2]] == ["o", "s"]
    assert (steps[0].get_color(), steps[1].get_color()) == (stopped[0].get_color(), trained.GREY)
    (halting,) = [line for line in stopped if [*line.get_xdata()] == [2.5]]
    assert (halting.get_marker(), halting.get_color()) == ("o", stopped[0].get_color())


def test_a_jump_has_a_full_dot_on_the_value_that_is_taken_and_no_line_across():
    line, hollow, full = lines(FIGURES["jumps"]())
    assert np.isnan(line.get_ydata()).tolist() == [False, False, True, False]
    assert hollow.get_xydata().tolist() == [[2, 2]]
    assert hollow.get_markerfacecolor() == "white"
    assert full.get_xydata().tolist() == [[2, 1]]


def test_a_story_that_is_never_dear_is_dashed_and_on_top():
    cheap = lines(FIGURES["stories"](), panel=1)[0]
    assert cheap.get_linestyle() == "--"
    assert cheap.get_zorder() > 2


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


def test_differences_are_rows_from_the_top_with_their_mean_and_interval():
    ax = FIGURES["forest"]().axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["short", "as it is", "beta = 0"]
    assert [label.get_fontweight() for label in ax.get_yticklabels()] == ["bold", "normal", "normal"]
    assert ax.yaxis_inverted()
    half = 12.7062 * 0.05  # Student's t with one degree of freedom, times the standard error
    first = next(line for line in ax.get_lines() if len(line.get_xdata()) == 2 and line.get_ydata()[0] == 1 - 0.08)
    assert [*first.get_xdata()] == pytest.approx([3.95 - half, 3.95 + half], rel=1e-4)
    assert [[3.95, 1 - 0.08]] in [np.round(marks.get_offsets(), 9).tolist() for marks in ax.collections]


def test_grey_begins_where_the_training_angles_end():
    for ax in FIGURES["over_angles"]().axes:
        (grey,) = ax.patches
        assert (grey.get_x(), grey.get_x() + grey.get_width()) == (22.5, 180)


def test_panels_over_angles_that_share_an_axis_show_the_lines_of_both_from_0():
    figure = digits.over_angles([0, 90], [{"CNN": [[1.0, 2.0]]}, {"CNN": [[4.0, 5.0]]}], ["a", "b"], 22.5, sharey=True)
    for ax in figure.axes:
        low, high = ax.get_ylim()
        assert low == 0
        assert high > 5


def test_the_top_of_the_flat_line_is_drawn_again_only_if_a_network_comes_near_to_it():
    for best, insets in ((0.97, 1), (0.6, 0)):
        ax = digits.flat_line({"CNN": [[0.5, best]]}, {"CNN": [(1.5, best)]}, {}, 1, 0.1).axes[0]
        assert len(ax.child_axes) == insets
        for inset in ax.child_axes:
            assert inset.get_ylim() == (0.85, 1)
            assert [*inset.get_lines()[-1].get_ydata()] == [0.5, best]


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


def test_networks_that_did_not_learn_are_grey_and_counted_and_so_is_what_lies_beyond_the_border():
    figure = FIGURES["accuracy_and_steps"]()
    assert [ax.get_title().splitlines()[1] for ax in figure.axes[:2]] == ["1 of 1 learnt", "0 of 1 learnt"]
    assert figure.axes[1].get_lines()[0].get_color() == plots.GREY != figure.axes[0].get_lines()[0].get_color()
    assert all(ax.patches[0].get_x() == 2.5 for ax in figure.axes)


def test_where_answers_are_often_wrong_a_mark_is_hollow():
    full, hollow = FIGURES["by_ones"]().axes[0].get_lines()[1:3]
    assert [*full.get_xdata()] == [0, 1]
    assert [*hollow.get_xdata()] == [2]
    assert hollow.get_markerfacecolor() == "white"


def test_a_tradeoff_is_drawn_in_the_order_of_its_steps_and_a_line_without_an_answer_has_no_limit():
    first, second = FIGURES["tradeoffs"]().axes
    assert [[*line.get_xdata()] for line in first.lines] == [[3, 7], [3, 7], [4], [3.5]]
    assert [*first.lines[0].get_ydata()] == [0.5, 0.9]
    assert len(second.lines) == 1  # no star where no need is known
    a, b = FIGURES["signals"]().axes
    assert [sum(len(set(line.get_xdata())) == 1 for line in ax.lines) for ax in (a, b)] == [1, 1]


def test_a_loss_is_drawn_in_two_parts_with_every_run_and_one_too_large_is_written():
    first, second = FIGURES["regrets"]().axes
    assert [bar.get_width() for bar in first.patches] == pytest.approx([2, 1, 20, 10])  # time and answers of each row
    rings = [line for line in first.get_lines() if line.get_marker() == "o"]
    assert [line.get_xdata().tolist() for line in rings] == [pytest.approx([3, 3]), []]
    (beyond,) = [line for line in first.get_lines() if line.get_marker() == ">"]  # where a ring is beyond the cut
    assert [*beyond.get_ydata()] == [1]
    assert beyond.get_xdata()[0] < first.get_xlim()[1]
    (diamond,) = [line for line in first.get_lines() if line.get_marker() == "D"]
    assert [*diamond.get_xdata(), *diamond.get_ydata()] == pytest.approx([6, 0])
    assert [text.get_text() for text in first.texts] == ["30"]
    assert second.get_xlim()[0] < 0
    assert [label.get_text() for label in first.get_yticklabels()] == ["ACT", "coin"]
