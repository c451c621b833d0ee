"""Learning curves: every network is a line of its own numbers."""

import pandas as pd

from ponder_course.figures.style import BLACK, COLOURS
from ponder_course.figures.training import learning_curves

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


def test_every_network_is_a_line_of_its_numbers_against_the_update():
    loss, accuracy = learning_curves(table(), {"total": "loss", "accuracy": "right"}).axes
    assert [ax.get_title() for ax in (loss, accuracy)] == ["loss", "right"]
    assert [ax.get_xlabel() for ax in (loss, accuracy)] == ["update"] * 2
    drawn = [line.get_xydata().tolist() for line in loss.lines]
    assert drawn == [[[u, total(kind, k, u)] for u in UPDATES] for kind in ("RNN", "GRU") for k in range(3)]
    assert [line.get_xydata().tolist() for line in accuracy.lines] == [[[u, u / 40] for u in UPDATES]] * 6
    assert [line.get_color() for line in loss.lines] == [COLOURS[0]] * 3 + [COLOURS[1]] * 3


def test_kinds_differ_in_colour_and_dashes_and_are_named_once():
    ax = learning_curves(table(), {"total": "loss"}).axes[0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["RNN", "GRU"]
    rnn, gru = ax.get_legend_handles_labels()[0]
    assert rnn.get_color() != gru.get_color()
    assert rnn.get_linestyle() != gru.get_linestyle()
    assert learning_curves(table(["GRU"]), {"total": "loss"}).axes[0].get_legend() is None


def test_a_level_is_marked_in_its_panel_only():
    loss, accuracy = learning_curves(table(), {"total": "loss", "accuracy": "right"}, {"accuracy": 0.5}).axes
    (level,) = [line for line in accuracy.lines if line.get_color() == BLACK]
    assert set(level.get_ydata()) == {0.5}
    assert level.get_linestyle() == ":"
    assert len(loss.lines) == 6
