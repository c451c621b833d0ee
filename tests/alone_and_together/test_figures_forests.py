"""The figures of lesson 08 draw the data that they are given, and their sentences speak of these."""

import numpy as np
import pytest
import torch
from drawn import COMPUTED, Drawn, numbers, tests_of_figures
from matplotlib.colors import to_rgb

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together import figures as draw
from ponder_course.common.runs import learnt_and_not
from ponder_course.common.style import ANSWER, DARK_GREY, HALTING, LIMIT, NOT_LEARNT, WRONG
from ponder_evidence.alone_and_together import figures as evidence
from ponder_evidence.alone_and_together import inference

LINES = {"alone": [{0: 1.0, 1: 1.2, 9: 9.5}, {0: 1.5, 1: 1.01, 9: 7.0}], "together": [{0: 1.0, 1: 1.1, 9: 4.2}]}
LOOKS = {"alone": draw.NOT_LEARNT, "together": draw.NEVER_SLEPT}
MINE = {"alone": 1, "together": 0}
AWAKE = [{"by_depth": {0: {"steps": 3.0, "right": 0.9, "by_step": [0.5, 0.95]}}}]
AWAKE[0]["by_depth"][9] = {"steps": 3.5, "right": 0.1, "by_step": [0.1, 0.4]}
LIMITS = {"alone": {0: 1.0, 1: 1.0, 9: 9.0}, "together": {0: 1.0, 1: 1.0, 9: 4.0}}
FELT, LAWS = {"alone": [{0: 1, 3: 2}, {0: 1, 3: 3}], "together": [{0: 0, 3: 2}]}, {"alone": {0: 1, 3: 3}}
LAWS["together"] = {0: 1, 3: 2}
ALONE = (np.array([[0, 0, 1, 2], [0, 0, 0, 1]]), np.array([[0.9, 0.8, 0.7, 0.6], [0.5, 0.4, 0.3, 0.2]]))
TOGETHER = (np.array([[0, 0, 1, 2], [0, 0, 0, 0]]), np.array([[0.2, 0.3, 0.4, 0.5], [0.6, 0.7, 0.8, 0.9]]))
POINTERS = {"alone": [0, 0, 1, 2], "together": [0, 0, 0, 1]}
RIGHT = {"slept": [{0: 1.0, 5: 0.9, 12: 0.8}, {0: 0.95, 5: 0.99, 12: 0.7}], "awake": [{0: 0.97, 5: 0.6, 12: 0.1}]}
LOOPS = {
    "PonderNet": [{"by_loop": [2.0, 2.2]}],
    "all": [{"by_loop": [2.1, 1.9]}, {"by_loop": [2.3, 1.8]}],
    "one loop": [{"by_loop": [1.85]}],
    "the last": [{"by_loop": [2, 3]}],  # is not drawn
}


def inferred(value):
    """A run of two trials, right and halting at levels of their own."""
    levels = {"by_step": (value, value + 0.1), "p": (value / 2, value / 2 + 0.1)}
    return {name: [[height] * inference.N for height in heights] for name, heights in levels.items()}


GOOD, BAD = inferred(0.8), inferred(0.45)
PROGRAM = (["a=3", "b=a", "c=b", "c?"], [1.5, 2.0, 2.5, 4.0], 3)
FIGURES = {
    "against depth": Drawn(
        draw.against_depth, (LINES, LIMITS, 5, [{0: 3.0, 1: 2.0, 9: 2.5}]), colours={NOT_LEARNT: [3, 2, 2.5]}
    ),
    "each against depth": Drawn(
        draw.each_against_depth,
        (LINES, LIMITS, 5, {"alone": [], "together": [{0: 3.0, 1: 2.0, 9: 2.5}]}, LOOKS, MINE),
        colours={HALTING: [*LINES["alone"][0].values(), *LINES["alone"][1].values(), *LINES["together"][0].values()]},
    ),
    "by the clock": Drawn(draw.by_the_clock, (AWAKE, LIMITS["together"], 5, 2), [[3.0, 3.5], [0.9, 0.1], [0.95, 0.4]]),
    "when felt": Drawn(draw.when_felt, (FELT, LAWS, 2)),
    "heard": Drawn(draw.heard, ({"near": (2, [1, 2, 4]), "far": (3, [1, 3])},), COMPUTED),
    "lookup": Drawn(draw.lookup, (POINTERS, 3, 2), COMPUTED, written=["0", "1", "2", "3"]),
    "right by depth": Drawn(draw.right_by_depth, (RIGHT, 5), colours={WRONG: [0.97, 0.6, 0.1]}),
    "program": Drawn(evidence.program, PROGRAM, [[[1.5, 2, 2.5], [4, np.nan, np.nan]]], written=["4"]),
    "inferred by step": Drawn(
        evidence.inferred_by_step,
        ([GOOD, BAD], [GOOD], ["one pair", "two pairs"]),
        colours={NOT_LEARNT: BAD, ANSWER: GOOD["by_step"]},
    ),
    "by loop": Drawn(evidence.by_loop, (LOOPS,), colours={DARK_GREY: [1.85]}),
    "arcs": Drawn(draw.arcs, ({"alone": ALONE, "together": TOGETHER},), COMPUTED, written=["1", "2", "3"]),
}
HOW = {"alone": "initial", "together": "current"}


test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("alone_and_together", FIGURES)


def test_arcs_lead_from_each_node_to_whom_it_reads_and_are_as_pale_as_their_weight_is_small():
    axes = draw.arcs({"alone": ALONE, "together": TOGETHER}).axes
    for i, ax in enumerate(axes):
        target, weight = ((ALONE, TOGETHER)[i % 2][part][i // 2] for part in (0, 1))
        assert len(ax.patches) == 4
        for node, arc in enumerate(ax.patches):
            assert (arc.theta1, arc.theta2, arc.get_height()) == (0, 180, arc.get_width())  # an upper half
            assert arc.get_center()[0] + np.array([-1, 1]) * arc.get_width() / 2 == pytest.approx([target[node], node])
            assert arc.get_alpha() == (weight[node] if node < 3 else None)
            assert to_rgb(arc.get_edgecolor()) == to_rgb(DARK_GREY if node < 3 else LIMIT)
        assert ax.get_ylim()[1] > max(arc.get_height() for arc in ax.patches) / 2


def test_a_look_up_has_whom_each_node_points_at_and_what_the_one_asked_tells():
    for ax, pointers in zip(draw.lookup(POINTERS, 3, 2).axes, POINTERS.values(), strict=True):
        rows = {3: [2], 2: [0, 1, 2, 3], 1: pointers, 0: [pointers[2]]}
        found = [(text.get_position()[1], int(text.get_text())) for text in ax.texts if text.get_text()]
        assert found == [(y, number) for y, row in rows.items() for number in row]
        arrows = [(text.xyann, text.xy) for text in ax.texts if not text.get_text()]
        assert arrows == [((2, 3), (2, 2)), ((2, 1), (2, 0))]  # from, to


def row(memory="current", right=(1.0, 0.5), by_step=(0.4, 0.6, 0.9), keys=int, **more):
    """A run measured at depths 1 and 9, of 30 nodes and of 10."""
    parts = zip((1, 9), right, (30, 10), strict=True)
    by_depth = {
        keys(d): {"right": part, "nodes": nodes, "steps": d / 2, "by_step": list(by_step)} for d, part, nodes in parts
    }
    return {"memory": memory, "by_depth": by_depth, "early": 0.25, "needed": 4.0, **more}


def test_needs_are_those_of_a_chain():
    limits = draw.needed_by_depth(6, HOW)
    assert limits == {"alone": {0: 1, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5}, "together": {0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 5: 3}}


def test_networks_that_have_not_learnt_are_apart_and_nodes_beyond_training_are_counted_in_the_worst():
    good, bad, stored = row(), row(right=(0.5, 0.5)), row(keys=str)
    assert learnt_and_not([bad, good, stored], forests.has_learnt) == ([good, stored], [bad])
    assert draw.by_depth([good, stored], "steps") == [{1: 0.5, 9: 4.5}] * 2
    found = {"alone": [row("initial"), row("initial", right=(1.0, 0.25))], "together": [row()]}
    assert draw.right_beyond(found["alone"], 8) == [0.5, 0.25]
    assert draw.right_beyond(found["alone"][1:], 0) == [(30 + 2.5) / 40]
    assert draw.by_depth(draw.stopped_at([good, row(by_step=(0.4, 0.7))], 2), "right") == [
        {1: 0.6, 9: 0.6},
        {1: 0.7, 9: 0.7},
    ]
    assert draw.by_depth(draw.stopped_at([good], 3), "steps") == [{1: 3, 9: 3}]


def test_whom_a_network_reads_stands_by_depth():
    model = draw.PonderNet(forests.make_step("current", 5, 8), 4).eval()
    chain = forests.chains(1, 5, torch.Generator().manual_seed(1))
    depth = draw.ForestTask.depths(chain)[0].tolist()
    target, weight = draw.whom(model, chain, 3)
    weights = forests.attention_by_step(model.step, chain, 3)[:, 0]
    for n in range(3):
        for node, d in enumerate(depth):
            assert target[n, d] == depth[int(weights[n, node].argmax())]
            assert weight[n, d] == weights[n, node].max()


def test_the_table_of_the_head_and_of_certainty_has_both_ends():
    certain = {0.9: [0.8, 3.0, 0.1], 0.99: [0.9, 4.0, 0.2]}
    rows = [row(nodes=0.5, steps=2.0, certainty=certain), row(nodes=0.75, steps=2.04, certainty=certain)]
    table = draw.by_head_and_certainty({"alone": rows})
    assert table["nodes right"].tolist() == ["50.0% to 75.0%", "80.0%", "90.0%"]
    assert table["mean steps"].tolist() == ["2.0", "3.0", "4.0"]


def test_findings_have_the_numbers_of_what_is_drawn():
    assert numbers(draw.how_far_up({"alone": ALONE, "together": TOGETHER})) == ["1", "2", "1", "3"]
    assert numbers(evidence.off_the_need(LINES, LIMITS)) == ["2.0", "0.2"]
    at_nine = {"alone": [{9: 8.0}, {9: 9.04}], "together": [{9: 4.0}]}
    assert numbers(draw.steps_at_depth(at_nine, LIMITS, 9)) == ["9", "8.5", "4.0", "9.0", "4.0"]
    assert numbers(draw.felt_too_soon(FELT, LAWS)) == ["2", "6"]
    farthest = evidence.first_and_farthest(["a=b", "b=a", "b?"], [1.0, 2.04, 3.96], [0, 1, 2])
    assert numbers(farthest) == ["1.0", "4.0", "2"]
    kinds = {
        "one loop": [{"seed": 1, "by_loop": [2.0]}, {"seed": 2, "by_loop": [3.0]}],
        "six loops, all count": [{"seed": 2, "by_loop": [9.0, 3.25]}, {"seed": 3, "by_loop": [1.0, 1.0]}],
    }
    assert evidence.behind_one_loop(kinds) == [0.25]
    assert evidence.steps_more([{"expected": {"steps": [1.0, 1.5, 3.0]}}], "expected") == [2.0]


def test_the_arrows_that_a_node_has_heard_of_are_filled_and_the_last_one_says_that_it_knows():
    kinds = {"near": (2, [1, 2, 4]), "far": (3, [1, 3])}
    for ax, (depth, known) in zip(draw.heard(kinds).axes, kinds.values(), strict=True):
        colours = {tuple(box.get_offsets()[0]): to_rgb(box.get_facecolor()[0][:3]) for box in ax.collections}
        assert len(colours) == len(known) * (depth + 1)
        for (node, n), colour in colours.items():
            filled = draw.HEARD if node else HALTING
            assert colour == to_rgb(filled if depth - node < known[int(n)] else "white")
        words = {int(text.get_position()[1]): text.get_text() for text in ax.texts if text.get_position()[0] > depth}
        assert words == {n: "knows" if c > depth else "names 0" if c == depth else "" for n, c in enumerate(known)}
    assert numbers(draw.when_it_knows({"near, 4 nodes": (2, [1, 2, 4])})) == ["4", "2"]


def test_steps_taken_are_beside_those_needed_and_how_often_nodes_are_right():
    rows = [{"by_depth": {"9": {"steps": steps, "right": right}}} for steps, right in ((3.0, 0.0), (3.5, 0.5))]
    assert numbers(draw.taken_and_right(rows, {9: 4}, 9)) == ["9", "3.2", "4", "25"]
