"""The figures of lesson 13 draw the numbers that they are given."""

from drawn import lines_of

from ponder_course.common.style import HALTING, LIMIT
from ponder_course.who_leaves_early import figures as draw

LOOPS = [{2: 1.0, 3: 2.0, 9: 5.5}, {2: 1.0, 3: 2.1, 9: 6.5}]
NEED = [{2: 1.0, 3: 2.0, 9: 5.0}, {2: 1.0, 3: 2.0, 9: 6.0}]


def row(loops, need):
    by_arrows = {str(d): {"steps": loops[d], "needed": need[d]} for d in (9, 2, 3)}  # as JSON has them, in any order
    return {"by_arrows": by_arrows}


def test_loops_of_each_network_stand_beside_the_mean_need():
    ways = {"on paper": draw.loops_and_need([row(*pair) for pair in zip(LOOPS, NEED, strict=True)])}
    (ax,) = draw.against_arrows(ways, border=3).axes
    assert [dict(line.tolist()) for line in lines_of(ax, HALTING)] == LOOPS
    assert [dict(line.tolist()) for line in lines_of(ax, LIMIT)] == [{2: 1.0, 3: 2.0, 9: 5.5}]


def test_statements_stand_beside_what_a_coin_needs():
    for ax, networks in zip(
        draw.thinking_for_others({"before": LOOPS, "taught": NEED}, 8).axes, (LOOPS, NEED), strict=True
    ):
        assert [dict(line.tolist()) for line in lines_of(ax, HALTING)] == networks
        assert [dict(line.tolist()) for line in lines_of(ax, LIMIT)] == [{2: 1.0, 3: 1.0, 9: 1.0}]


def test_each_token_has_a_bar_and_its_need():
    (ax,) = draw.tokens(["b=7", "a=b", "a?"], {"on paper": ([1, 1, 3], [1, 1, 2])}).axes
    assert [bar.get_height() for bar in ax.patches] == [1, 1, 3]
    assert [line[:, 1].tolist() for line in lines_of(ax, LIMIT)] == [[1, 1], [1, 1], [2, 2]]
