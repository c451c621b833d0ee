"""The figures of lesson 08 draw the data that they are given."""

import itertools

import numpy as np
import pytest
import torch
from drawn import check, pairs, points, written
from matplotlib.colors import to_rgb
from matplotlib.patches import Arc

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together import figures as draw
from ponder_course.alone_and_together import inference
from ponder_course.common.style import ANSWER, BLUE, DARK_GREY, GREEN, HALTING, LIMIT, NOT_LEARNT, PALE_GREY, WRONG

PARENTS, DEPTHS = [2, 0, 2, 2, 4, 4], [1, 2, 0, 1, 0, 1]  # two trees: 2 above 0 and 3, 0 above 1; 4 above 5
LINES = {"alone": [{0: 1.0, 1: 1.2, 9: 9.5}, {0: 1.5, 1: 1.0, 9: 7.0}], "together": [{0: 1.0, 1: 1.1, 9: 4.2}]}
LIMITS = {"alone": {0: 1, 1: 1, 9: 9}, "together": {0: 1, 1: 1, 9: 4}}
ALONE = (np.array([[0, 0, 1, 2], [0, 0, 0, 1]]), np.array([[0.9, 0.8, 0.7, 0.6], [0.5, 0.4, 0.3, 0.2]]))
TOGETHER = (np.array([[0, 0, 1, 2], [0, 0, 0, 0]]), np.array([[0.2, 0.3, 0.4, 0.5], [0.6, 0.7, 0.8, 0.9]]))
RIGHT_FROM, HALTS_AT = {1: 1, 2: 1, 3: 2, 4: 2}, {1: 1.0, 2: 2.1, 3: 2.2, 4: 3.0}
CAN_KNOW = {1: 1, 2: 2, 3: 2, 4: 3}
RIGHT = {"slept": [{0: 1.0, 5: 0.9, 12: 0.8}, {0: 0.95, 5: 1.0, 12: 0.7}], "awake": [{0: 1.0, 5: 0.6, 12: 0.1}]}
FIGURES = {
    "forest": lambda: draw.forest(PARENTS, DEPTHS),
    "against_depth": lambda: draw.against_depth(LINES, LIMITS, 5),
    "arcs": lambda: draw.arcs({"alone": ALONE, "together": TOGETHER}),
    "knows": lambda: draw.knows(RIGHT_FROM, HALTS_AT, CAN_KNOW),
    "right_by_depth": lambda: draw.right_by_depth(RIGHT, 5),
    "program": lambda: draw.program(["a=3", "b=a", "c=b", "c?"], [1, 2, 2, 4], in_a_row=3),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_labelled_and_legible_whatever_the_readers_style(name):
    if name in ("forest", "arcs", "program"):  # across, nothing is measured
        assert FIGURES[name]().get_facecolor() == (1, 1, 1, 1)
    else:
        check(FIGURES[name])


def numbers(ax):
    """Where the number of each node stands."""
    return {int(text.get_text()): text.get_position() for text in ax.texts if text.get_text()}


def test_a_forest_has_its_nodes_at_their_depths_and_its_roots_in_blue():
    (ax,) = FIGURES["forest"]().axes
    places = numbers(ax)
    assert [-places[node][1] for node in range(6)] == DEPTHS
    assert len(set(places.values())) == 6
    (above, below), (left, right) = (places[2], places[1]), (places[0], places[3])
    assert below[0] == left[0]  # an only child stands below its parent
    assert above[0] == (left[0] + right[0]) / 2  # a parent above the middle of its children
    circles = {tuple(circle.get_offsets()[0].tolist()): circle for circle in ax.collections}
    for node, parent in enumerate(PARENTS):
        face = circles[places[node]].get_facecolor()[0, :3]
        assert tuple(face) == to_rgb(BLUE if parent == node else "white")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["2", "1", "0"]
    assert ax.get_yticks().tolist() == [-2, -1, 0]


def test_every_arrow_of_a_forest_leads_from_a_node_to_its_parent():
    (ax,) = FIGURES["forest"]().axes
    places = numbers(ax)
    arrows = [text for text in ax.texts if not text.get_text()]
    found = {(arrow.xyann, arrow.xy) for arrow in arrows}  # from, to
    assert found == {(places[node], places[parent]) for node, parent in enumerate(PARENTS) if node != parent}
    assert len(arrows) == len(found)
    loops = sorted(loop.get_path().vertices[0, 0] for loop in ax.patches)
    roots = sorted(places[node][0] for node, parent in enumerate(PARENTS) if node == parent)
    assert np.allclose(loops, np.array(roots) - 0.1)  # one at each root, from its left shoulder


def test_nodes_of_any_forest_stand_apart():
    generator = np.random.default_rng(0)
    for n_nodes in (1, 2, 9, 20):
        parents = [int(generator.integers(0, node + 1)) for node in range(n_nodes)]
        depths = []
        for node, parent in enumerate(parents):
            depths.append(0 if node == parent else depths[parent] + 1)
        places = numbers(draw.forest(parents, depths).axes[0])
        assert [-places[node][1] for node in range(n_nodes)] == depths
        for depth in set(depths):
            level = sorted(x for x, y in places.values() if y == -depth)
            assert all(after - before > 0.49 for before, after in itertools.pairwise(level))


def test_steps_against_depth_are_drawn_for_each_network_beside_its_limit():
    (ax,) = FIGURES["against_depth"]().axes
    networks = [network for kind in LINES.values() for network in kind]
    assert points(ax, color=HALTING, linestyle="--") == [pairs(line, line.values()) for line in networks]
    assert points(ax, color=LIMIT, linestyle="-") == [pairs(line, line.values()) for line in LIMITS.values()]
    assert len(ax.lines) == 5
    names = {text.get_text(): text.get_position() for text in ax.texts}
    assert names.keys() == {"alone", "together", "beyond training"}
    assert names["alone"][1] > names["together"][1]  # each at its own lines
    assert ax.get_xlabel() == "depth of a node"
    assert ax.get_ylabel() == "steps taken"
    (beyond,) = ax.patches
    assert (beyond.get_x(), beyond.get_x() + beyond.get_width()) == (5.5, 9.5)
    again = draw.against_depth(LINES, LIMITS, 5, ylabel="felt", xlabel="how far").axes[0]
    assert (again.get_xlabel(), again.get_ylabel()) == ("how far", "felt")


def test_networks_that_have_not_learnt_are_light_grey():
    (ax,) = draw.against_depth(LINES, LIMITS, 5, not_learnt=[{0: 3.0, 1: 2.0, 9: 2.5}]).axes
    assert points(ax, color=NOT_LEARNT) == [pairs((0, 1, 9), (3.0, 2.0, 2.5))]
    assert len(ax.lines) == 6


def spans(ax):
    """(left end, right end, how far up the page, opacity, colour) of every arc, in the order of its right end."""
    found = []
    for arc in ax.patches:
        assert isinstance(arc, Arc)
        assert (arc.theta1, arc.theta2, arc.get_center()[1]) == (0, 180, 0)  # an upper half, on the line
        middle, width = arc.get_center()[0], arc.get_width()
        assert arc.get_height() == width
        found.append((middle - width / 2, middle + width / 2, arc.get_alpha(), to_rgb(arc.get_edgecolor())))
    return found


def test_arcs_lead_from_each_node_to_whom_it_reads_at_each_step():
    axes = FIGURES["arcs"]().axes
    assert len(axes) == 4  # a row for each step, a column for each kind
    assert [ax.get_title() for ax in axes] == ["alone", "together", "", ""]
    assert [ax.get_ylabel() for ax in axes] == ["step 1", "", "step 2", ""]
    for n in range(2):
        for ax, (target, weight) in zip(axes[2 * n : 2 * n + 2], (ALONE, TOGETHER), strict=True):
            drawn = spans(ax)
            assert [(left, right) for left, right, *_ in drawn] == list(zip(target[n], range(4), strict=True))
            assert [alpha for _, _, alpha, _ in drawn] == pytest.approx([*weight[n][:-1], 1.0])
            assert [colour for *_, colour in drawn] == [to_rgb(DARK_GREY)] * 3 + [to_rgb(LIMIT)]
            assert written(ax) == [f"{3 - target[n][-1]} up"]
            highest = max(right - left for left, right, *_ in drawn) / 2
            assert ax.get_ylim()[1] == pytest.approx(1.6 * max(1, highest))
            assert ax.collections[0].get_offsets().tolist() == [[node, 0] for node in range(4)]


def test_being_right_and_halting_are_drawn_at_their_steps_and_joined():
    (ax,) = FIGURES["knows"]().axes
    early, late, halts, can_know, right = ax.collections
    assert can_know.get_offsets().tolist() == pairs(CAN_KNOW, CAN_KNOW.values())
    assert tuple(can_know.get_edgecolor()[0, :3]) == to_rgb(LIMIT)
    assert halts.get_offsets().tolist() == pairs(HALTS_AT, HALTS_AT.values())
    assert right.get_offsets().tolist() == pairs(RIGHT_FROM, RIGHT_FROM.values())
    assert tuple(halts.get_facecolor()[0, :3]) == to_rgb(HALTING)
    assert tuple(right.get_facecolor()[0, :3]) == to_rgb(ANSWER)
    both = {d: max(RIGHT_FROM[d], CAN_KNOW[d]) for d in RIGHT_FROM}
    ends = [[[d, RIGHT_FROM[d]], [d, both[d]]] for d in RIGHT_FROM]
    assert [segment.tolist() for segment in early.get_segments()] == ends
    assert tuple(early.get_edgecolor()[0, :3]) == to_rgb(ANSWER)
    ends = [[[d, both[d]], [d, HALTS_AT[d]]] for d in RIGHT_FROM]
    assert [segment.tolist() for segment in late.get_segments()] == ends
    assert tuple(late.get_edgecolor()[0, :3]) == to_rgb(PALE_GREY)
    above, below = ax.texts
    assert above.get_text() == "the node halts"
    assert above.get_position()[1] > HALTS_AT[4] > RIGHT_FROM[4] > below.get_position()[1]
    assert ax.get_yticks().tolist() == [1, 2, 3, 4]


def test_right_by_depth_draws_the_first_kind_in_blue_and_the_other_in_red():
    (ax,) = FIGURES["right_by_depth"]().axes
    assert points(ax, color=ANSWER) == [pairs(line, line.values()) for line in RIGHT["slept"]]
    assert points(ax, color=WRONG) == [pairs(line, line.values()) for line in RIGHT["awake"]]
    assert [(text.get_text(), text.get_color()) for text in ax.texts] == [("slept", ANSWER), ("awake", WRONG)]
    (beyond,) = ax.patches
    assert (beyond.get_x(), beyond.get_x() + beyond.get_width()) == (5.5, 12.5)
    low, high = ax.get_ylim()
    assert low < 0 < 1 < high


def test_nodes_that_are_right_long_after_they_halt_stay_inside_the_picture():
    (ax,) = draw.knows({1: 1, 2: 16}, {1: 1.0, 2: 2.0}, {1: 1, 2: 2}).axes
    low, high = ax.get_ylim()
    assert all(low < text.get_position()[1] < high for text in ax.texts)


def test_a_program_stands_on_the_colours_of_its_steps():
    ax, bar = FIGURES["program"]().axes
    assert [text.get_text() for text in ax.texts] == ["a=3", "b=a", "c=b", "c?"]
    assert [text.get_position() for text in ax.texts] == [(0, 0), (1, 0), (2, 0), (0, 1)]
    (image,) = ax.images
    drawn = np.ma.filled(image.get_array(), np.nan)
    assert np.array_equal(drawn, [[1, 2, 2], [4, np.nan, np.nan]], equal_nan=True)
    assert image.get_clim() == (1, 4)
    pale, dark = (sum(image.cmap(image.norm(value))[:3]) for value in (1, 4))
    assert pale > 2 > 1 > dark
    for text, value in zip(ax.texts, [1, 2, 2, 4], strict=True):  # dark on pale, pale on dark
        ground, letters = (sum(to_rgb(colour)) for colour in (image.cmap(image.norm(value))[:3], text.get_color()))
        assert abs(ground - letters) > 1
    assert bar.get_ylabel() == "steps taken"
    assert bar.get_yticks().tolist() == [1, 2, 3, 4]


HOW = {"alone": "start", "together": "now"}


def row(reads="now", right=(1.0, 0.5), by_step=(0.4, 0.6, 0.9), keys=int, **more):
    """A run measured at depths 1 and 9, of 30 nodes and of 10."""
    parts = zip((1, 9), right, (30, 10), strict=True)
    by_depth = {
        keys(d): {"right": part, "nodes": nodes, "steps": d / 2, "by_step": list(by_step)} for d, part, nodes in parts
    }
    return {"reads": reads, "by_depth": by_depth, "early": 0.25, "needed": 4.0, **more}


def test_the_forest_drawn_has_several_trees_and_is_deep_enough():
    chain, stars, pairs_of = [0, 0, 1, 2, 3, 4], [0, 0, 0, 3, 3, 3], [0, 0, 1, 3, 3, 4]
    x = torch.tensor([chain, stars, pairs_of])
    y = torch.tensor([[0] * 6, [0, 0, 0, 3, 3, 3], [0, 0, 0, 3, 3, 3]])
    assert draw.of_several_trees(x, y, deepest=5) == (chain, [0, 1, 2, 3, 4, 5])
    assert draw.of_several_trees(x, y, deepest=2) == (pairs_of, [0, 1, 2, 0, 1, 2])
    assert draw.farthest_from_its_root([0, 1, 2, 0, 1, 2]) == "From node 2 it is 2 arrows to the root"


def test_needs_are_those_of_a_chain():
    limits = draw.needed_by_depth(6, HOW)
    assert limits == {"alone": {0: 1, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5}, "together": {0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 5: 3}}
    laws = draw.laws_of_news(5)
    assert laws == {"alone": {0: 1, 1: 1, 2: 2, 3: 3, 4: 4}, "together": {0: 1, 1: 1, 2: 2, 3: 2, 4: 3}}


def test_networks_that_have_not_learnt_are_apart_unless_there_are_no_others():
    good, bad = row(), row(right=(0.5, 0.5))
    line = {1: 0.5, 9: 4.5}
    found = {"alone": [bad], "together": [bad, good]}
    stored = [row(reads="now", keys=str), row(reads="now", right=(0.1, 0.1))]
    lines, failed = draw.lines_by_depth(found, stored, HOW, 8)
    assert lines == {"alone": [line], "together": [line, line]}
    assert failed == [line, line]
    assert draw.who_learnt([bad, good], stored, 8) == [good, stored[0]]
    assert draw.who_learnt([bad], stored[1:], 8) == [bad]
    at_nine = {"alone": [{9: 8.0}, {9: 9.04}], "together": [{9: 4.0}]}
    assert draw.steps_at_depth(at_nine, 9) == "Depth 9: 8.5 steps alone, 4.0 together"


def test_nodes_deeper_than_in_training_are_counted_in_the_worst_network():
    found = {"alone": [row("start"), row("start", right=(1.0, 0.25))], "together": [row()]}
    assert draw.right_beyond(found["alone"][1], 8) == 0.25
    assert draw.right_beyond(found["alone"][1], 0) == (30 + 2.5) / 40
    assert draw.worst_beyond(found, 8) == ["alone 25.00%", "together 50.00%"]
    stored = [row("now", right=(1.0, 0.75), keys=str), row("now", right=(0.0, 0.0))]
    halts = {"halts before (1), worst network": "25.00%"}
    assert draw.beyond_training(found, stored, HOW, 8) == {
        "alone: yours": {"right, worst network": "25.00%"} | halts,
        "together: yours": {"right, worst network": "50.00%"} | halts,
        "together: stored, the 1 of 2 that have learnt": {"right, worst network": "75.00%"} | halts,
    }
    assert draw.who_never_slept([*stored, row("start", right=(1.0, 0.9))], 8) == (
        "Who never slept: 0% to 75% of nodes right beyond depth 8"
    )


def test_being_right_is_the_median_of_the_networks_and_halting_the_mean():
    rows = [row(), row(by_step=(0.9, 1.0, 1.0)), row(by_step=(0.1, 0.2, 0.3), keys=str)]
    right_from, halts_at = draw.right_and_halting(rows, [1, 9], 7)
    assert right_from == {1: 2, 9: 2}
    assert halts_at == {1: 0.5, 9: 4.5}
    assert draw.right_and_halting(rows[2:], [1], 7)[0] == {1: 7}
    found = draw.right_before_it_can_know({1: 1, 2: 2, 9: 3}, {1: 1, 2: 3, 9: 4})
    assert found == "Right a step before it can know: depths 2, 9"


def test_whom_a_network_reads_is_told_by_depth():
    torch.manual_seed(0)
    model = draw.PonderNet(forests.make_step("now", 5, 8), 4).eval()
    chain = forests.chains(1, 5, torch.Generator().manual_seed(1))
    depth = draw.ForestTask.depths(chain)[0].tolist()
    target, weight = draw.whom(model, chain, 3)
    weights = forests.attention_by_step(model.step, chain, 3)[:, 0]
    for n in range(3):
        for node, d in enumerate(depth):
            assert target[n, d] == depth[int(weights[n, node].argmax())]
            assert weight[n, d] == weights[n, node].max()
    asks = {"alone": ALONE, "together": TOGETHER}
    assert draw.how_far_up(asks) == "The last node reads 1, 2 up alone,\nand 1, 3 up together"


def test_turned_arrows_that_are_felt_too_soon_are_counted():
    felt = {"alone": [{0: 1, 3: 2}, {0: 1, 3: 3}], "together": [{0: 0, 3: 2}]}
    laws = draw.laws_of_news(4)
    assert draw.felt_too_soon(felt, laws) == "2 of 6 turned arrows are felt\nbefore a name can bring the news"
    (ax,) = draw.when_felt(felt, laws, 2).axes
    lines = [line for kind in felt.values() for line in kind]
    assert points(ax, color=GREEN, linestyle="--") == [pairs(line, line.values()) for line in lines]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("how far up the arrow is turned", "step at which it is felt")


def test_the_table_of_the_head_and_of_certainty_has_both_ends():
    certain = {0.9: [0.8, 3.0, 0.1], 0.99: [0.9, 4.0, 0.2]}
    rows = [row(nodes=0.5, steps=2.0, certainty=certain), row(nodes=0.75, steps=2.04, certainty=certain)]
    assert draw.by_head_and_certainty({"alone": rows}) == {
        "alone: the halting head": {"nodes right": "50.0% to 75.0%", "mean steps": "2.0", "needed": "4.0"},
        "alone: certain by 0.9": {"nodes right": "80.0%", "mean steps": "3.0", "needed": "4.0"},
        "alone: certain by 0.99": {"nodes right": "90.0%", "mean steps": "4.0", "needed": "4.0"},
    }


def test_findings_of_depth_say_what_the_lines_say():
    assert draw.deepest(LINES) == 9
    assert draw.deepest({"alone": [], "together": []}) == 0
    found = draw.off_the_need(LINES, LIMITS)
    assert found == "No mean is farther from the need than 2.0 steps alone,\n0.2 together"
    ends = draw.steps_of_the_deepest(LINES["alone"], LIMITS["alone"])
    assert ends == "depth 9: 7.0 to 9.5 steps, 9 needed"


def test_kinds_of_one_border_are_drawn_by_their_short_names():
    kinds = {"asleep, to 8": ([row()], 8), "awake, to 8": ([], 8), "awake, to 12": ([row(right=(0.5, 0.5))], 12)}
    assert draw.rights_to_a_border(kinds, 8) == {"asleep": [{1: 1.0, 9: 0.5}], "awake": []}
    assert draw.rights_to_a_border(kinds, 12) == {"awake": [{1: 0.5, 9: 0.5}]}


def test_what_is_inferred_is_drawn_by_step_and_pale_where_it_is_not_learnt():
    def run(value):
        lines = {"by_step": (value, value + 0.1), "p": (value / 2, value / 2 + 0.1)}
        return {name: [[height] * inference.N for height in heights] for name, heights in lines.items()}

    good, bad = run(0.8), run(0.5)
    figure = draw.inferred_by_step([good, bad], [good], ["one pair", "two pairs"])
    for d, ax in enumerate(figure.axes):
        n = range(1, inference.N + 1)
        assert points(ax, color=ANSWER) == [pairs(n, good["by_step"][d])]
        assert points(ax, color=HALTING, linestyle="--") == [pairs(n, good["p"][d])]
        assert points(ax, color=NOT_LEARNT) == [pairs(n, bad[name][d]) for name in ("by_step", "p")]
        assert points(ax, color=LIMIT) == [[[d + 1, 0], [d + 1, 1]]]
        assert ax.get_title() == ("one pair", "two pairs")[d]


def test_the_finding_of_a_program_names_its_first_statement_and_the_farthest():
    found = draw.first_and_farthest(["a=3", "b=a", "b?"], [1.0, 2.04, 3.96], [0, 1, 2])
    assert found == "a=3 takes 1.0 steps, b? 4.0:\nits digit is 2 arrows away"


def test_loops_are_compared_seed_by_seed():
    kinds = {
        "one loop": [{"seed": 1, "by_loop": [2.0]}, {"seed": 2, "by_loop": [3.0]}],
        "six loops, all count": [{"seed": 2, "by_loop": [9.0, 3.25]}, {"seed": 3, "by_loop": [1.0, 1.0]}],
    }
    assert draw.behind_one_loop(kinds) == [0.25]
