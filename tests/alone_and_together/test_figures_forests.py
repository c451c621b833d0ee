"""The figures of lesson 08 draw the numbers that they are given, and their sentences speak of these."""

import numpy as np
from drawn import lines_of

from ponder_course.alone_and_together import figures as draw
from ponder_course.common.style import ANSWER, DARK_GREY, GREEN, HALTING, LIMIT, NOT_LEARNT

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


def run(right=(1.0, 0.5), keys=int):
    """A run measured at depths 1 and 9, of 30 nodes and of 10."""
    by_depth = {}
    for depth, part, nodes in zip((1, 9), right, (30, 10), strict=True):
        by_depth[keys(depth)] = {"right": part, "nodes": nodes, "steps": depth / 2}
    return {"by_depth": by_depth}


def test_steps_are_drawn_against_depth_beside_those_needed():
    not_learnt = [{0: 3.0, 1: 2.0, 9: 2.5}]
    (ax,) = draw.against_depth(LINES, LIMITS, 5, not_learnt).axes
    assert drawn(ax, HALTING) == points([*LINES["alone"], *LINES["together"]])
    assert drawn(ax, LIMIT) == points(LIMITS.values())
    assert drawn(ax, NOT_LEARNT) == points(not_learnt)


def test_turned_arrows_are_felt_beside_the_law():
    (ax,) = draw.when_felt(FELT, LAWS, 2).axes
    assert drawn(ax, GREEN) == points([*FELT["alone"], *FELT["together"]])
    assert drawn(ax, LIMIT) == points(LAWS.values())


def test_arcs_lead_from_each_node_to_whom_it_reads_and_are_as_pale_as_their_weight_is_small():
    axes = draw.arcs({"alone": ALONE, "together": TOGETHER}).axes
    for i, ax in enumerate(axes):
        target, weight = ((ALONE, TOGETHER)[i % 2][part][i // 2] for part in (0, 1))
        assert len(ax.patches) == 4
        for node, arc in enumerate(ax.patches):
            ends = arc.get_center()[0] + np.array([-1, 1]) * arc.get_width() / 2
            assert ends.tolist() == [target[node], node]
            assert arc.get_alpha() == (weight[node] if node < 3 else None)


def test_nodes_beyond_training_are_counted():
    assert draw.by_depth([run(), run(keys=str)], "steps") == [{1: 0.5, 9: 4.5}] * 2
    found = [run(), run(right=(1.0, 0.25))]
    assert draw.right_beyond(found, 8) == [0.5, 0.25]
    assert draw.right_beyond(found[1:], 0) == [(30 + 2.5) / 40]


def test_who_never_slept_stands_beside_those_needed_and_is_as_right_as_when_it_stops_and_at_a_step():
    depths = range(4)
    rows = [{"by_depth": {d: {"right": 1.0 - d / 4, "steps": 2.5, "by_step": [0.5, 0.75 - d / 4]} for d in depths}}]
    steps, right = draw.by_the_clock(rows, 2, n=2).axes
    assert drawn(steps, DARK_GREY) == [[[d, 2.5] for d in depths]]
    assert drawn(steps, LIMIT) == [[[0, 1], [1, 1], [2, 2], [3, 2]]]
    assert drawn(right, ANSWER) == [[[d, 0.75 - d / 4] for d in depths]]
    assert drawn(right, DARK_GREY) == [[[d, 1 - d / 4] for d in depths]]
