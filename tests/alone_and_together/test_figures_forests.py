"""The figures of lesson 08 draw the numbers that they are given, and their sentences speak of these."""

import numpy as np
import torch
from drawn import lines_of, numbers

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together import figures as draw
from ponder_course.common.runs import learnt_and_not
from ponder_course.common.style import ANSWER, GREEN, HALTING, LIMIT, NOT_LEARNT, WRONG

LINES = {"alone": [{0: 1.0, 1: 1.2, 9: 9.5}, {0: 1.5, 1: 1.01, 9: 7.0}], "together": [{0: 1.0, 1: 1.1, 9: 4.2}]}
LIMITS = {"alone": {0: 1.0, 1: 1.0, 9: 9.0}, "together": {0: 1.0, 1: 1.0, 9: 4.0}}
FELT = {"alone": [{0: 1, 3: 2}, {0: 1, 3: 3}], "together": [{0: 0, 3: 2}]}
LAWS = {"alone": {0: 1, 3: 3}, "together": {0: 1, 3: 2}}
ALONE = (np.array([[0, 0, 1, 2], [0, 0, 0, 1]]), np.array([[0.9, 0.8, 0.7, 0.6], [0.5, 0.4, 0.3, 0.2]]))
TOGETHER = (np.array([[0, 0, 1, 2], [0, 0, 0, 0]]), np.array([[0.2, 0.3, 0.4, 0.5], [0.6, 0.7, 0.8, 0.9]]))


def points(networks):
    return [[list(point) for point in network.items()] for network in networks]


def drawn(ax, colour):
    return [line.tolist() for line in lines_of(ax, colour)]


def run(memory="current", right=(1.0, 0.5), by_step=(0.4, 0.6, 0.9), keys=int, **more):
    """A run measured at depths 1 and 9, of 30 nodes and of 10."""
    by_depth = {}
    for depth, part, nodes in zip((1, 9), right, (30, 10), strict=True):
        by_depth[keys(depth)] = {"right": part, "nodes": nodes, "steps": depth / 2, "by_step": list(by_step)}
    return {"memory": memory, "by_depth": by_depth, "early": 0.25, "needed": 4.0, **more}


def test_steps_are_drawn_against_depth_beside_those_needed():
    not_learnt = [{0: 3.0, 1: 2.0, 9: 2.5}]
    (ax,) = draw.against_depth(LINES, LIMITS, 5, not_learnt).axes
    assert drawn(ax, HALTING) == points([*LINES["alone"], *LINES["together"]])
    assert drawn(ax, LIMIT) == points(LIMITS.values())
    assert drawn(ax, NOT_LEARNT) == points(not_learnt)
    at_nine = {"alone": [{9: 8.0}, {9: 9.04}], "together": [{9: 4.0}]}
    assert numbers(draw.steps_at_depth(at_nine, LIMITS, 9)) == ["9", "8.5", "4.0", "9.0", "4.0"]


def test_who_never_slept_takes_the_steps_of_a_clock():
    awake = run(by_step=(0.5, 0.95, 1.0))
    steps, right = draw.by_the_clock([awake], {1: 1.0, 9: 4.0}, 5, 2).axes
    assert drawn(steps, WRONG) == [[[1, 0.5], [9, 4.5]]]
    assert drawn(steps, LIMIT) == [[[1, 1], [9, 4]]]
    assert drawn(right, ANSWER) == [[[1, 0.95], [9, 0.95]]]
    assert drawn(right, WRONG) == [[[1, 1], [9, 0.5]]]
    rows = [{"by_depth": {"9": {"steps": steps, "right": right}}} for steps, right in ((3.0, 0.0), (3.5, 0.5))]
    assert numbers(draw.taken_and_right(rows, {9: 4}, 9)) == ["9", "3.2", "4", "25"]


def test_turned_arrows_are_felt_beside_the_law_and_those_too_soon_are_counted():
    (ax,) = draw.when_felt(FELT, LAWS, 2).axes
    assert drawn(ax, GREEN) == points([*FELT["alone"], *FELT["together"]])
    assert drawn(ax, LIMIT) == points(LAWS.values())
    assert numbers(draw.felt_too_soon(FELT, LAWS)) == ["2", "6"]


def test_arcs_lead_from_each_node_to_whom_it_reads_and_are_as_pale_as_their_weight_is_small():
    axes = draw.arcs({"alone": ALONE, "together": TOGETHER}).axes
    for i, ax in enumerate(axes):
        target, weight = ((ALONE, TOGETHER)[i % 2][part][i // 2] for part in (0, 1))
        assert len(ax.patches) == 4
        for node, arc in enumerate(ax.patches):
            ends = arc.get_center()[0] + np.array([-1, 1]) * arc.get_width() / 2
            assert ends.tolist() == [target[node], node]
            assert arc.get_alpha() == (weight[node] if node < 3 else None)
    assert numbers(draw.how_far_up({"alone": ALONE, "together": TOGETHER})) == ["1", "2", "1", "3"]


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


def test_a_node_knows_its_root_when_it_has_heard_of_the_roots_own_arrow():
    kinds = {"near": (2, [1, 2, 4]), "far": (3, [1, 3, 4])}
    for ax, (depth, known) in zip(draw.heard(kinds).axes, kinds.values(), strict=True):
        for n, count in enumerate(known):
            (word,) = [text.get_text() for text in ax.texts if text.get_position() == (depth + 0.8, n)]
            assert (word == "knows") == (count > depth)
    assert numbers(draw.when_it_knows(kinds)) == ["2", "2"]


def test_needs_are_those_of_a_chain():
    limits = draw.needed_by_depth(6, {"alone": "initial", "together": "current"})
    assert limits == {"alone": {0: 1, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5}, "together": {0: 1, 1: 1, 2: 2, 3: 2, 4: 3, 5: 3}}


def test_networks_that_have_not_learnt_are_apart_and_nodes_beyond_training_are_counted_in_the_worst():
    good, bad, stored = run(), run(right=(0.5, 0.5)), run(keys=str)
    assert learnt_and_not([bad, good, stored], forests.has_learnt) == ([good, stored], [bad])
    assert draw.by_depth([good, stored], "steps") == [{1: 0.5, 9: 4.5}] * 2
    found = [run("initial"), run("initial", right=(1.0, 0.25))]
    assert draw.right_beyond(found, 8) == [0.5, 0.25]
    assert draw.right_beyond(found[1:], 0) == [(30 + 2.5) / 40]


def test_the_table_of_the_head_and_of_certainty_has_both_ends():
    certain = {0.9: [0.8, 3.0, 0.1], 0.99: [0.9, 4.0, 0.2]}
    rows = [run(nodes=0.5, steps=2.0, certainty=certain), run(nodes=0.75, steps=2.04, certainty=certain)]
    table = draw.by_head_and_certainty({"alone": rows})
    assert table["nodes right"].tolist() == ["50.0% to 75.0%", "80.0%", "90.0%"]
    assert table["mean steps"].tolist() == ["2.0", "3.0", "4.0"]
