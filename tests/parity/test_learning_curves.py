"""Learning curves: every network is a line of its own numbers."""

import pandas as pd

from ponder_course.common.style import BLACK, COLOURS
from ponder_course.research.parity.learning_curves import learning_curves

UPDATES = [10, 20, 30]


def total(kind, network, update):
    return {"RNN": 100, "GRU": 200}[kind] + 10 * network + 1 / update


def table(kinds=("RNN", "GRU")):
    return pd.DataFrame(
        {"kind": kind, "network": k, "update": u, "total": total(kind, k, u), "accuracy": u / 40}
        for kind in kinds
        for k in range(3)
        for u in UPDATES
    )


def test_every_network_is_a_line_of_its_numbers_in_the_panel_of_its_kind():
    axes = learning_curves(table(), {"total": "loss", "accuracy": "right"}).axes
    assert [ax.get_title() for ax in axes] == ["RNN", "GRU", "", ""]
    assert [ax.get_ylabel() for ax in axes] == ["loss", "", "right", ""]
    assert [ax.get_xlabel() for ax in axes] == ["", "", "update", "update"]
    for ax, kind in zip(axes[:2], ("RNN", "GRU"), strict=True):
        drawn = [line.get_xydata().tolist() for line in ax.lines]
        assert drawn == [[[u, total(kind, k, u)] for u in UPDATES] for k in range(3)]
    for ax in axes[2:]:
        assert [line.get_xydata().tolist() for line in ax.lines] == [[[u, u / 40] for u in UPDATES]] * 3


def test_each_kind_has_a_colour():
    axes = learning_curves(table(), {"total": "loss", "accuracy": "right"}).axes
    colours = [{line.get_color() for line in ax.lines} for ax in axes]
    assert colours == [{COLOURS[0]}, {COLOURS[1]}] * 2


def test_a_level_is_marked_in_its_row_only():
    axes = learning_curves(table(), {"total": "loss", "accuracy": "right"}, {"accuracy": 0.5}).axes
    for ax in axes[:2]:
        assert len(ax.lines) == 3
    for ax in axes[2:]:
        (level,) = [line for line in ax.lines if line.get_color() == BLACK]
        assert set(level.get_ydata()) == {0.5}
        assert level.get_linestyle() == ":"
