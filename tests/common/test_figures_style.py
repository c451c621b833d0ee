"""The course's style: colours that can be told apart, runs and their mean, figures shown with their sentence."""

import io

import matplotlib.style
import numpy as np
import PIL.Image
import pytest
from drawn import points
from matplotlib.colors import to_rgb

from ponder_course.common import style

RUNS = [[1.0, 4.0, 2.0], [3.0, 2.0, 8.0]]


def test_a_spread_is_every_run_and_their_mean():
    _, (ax,) = style.panels(1)
    style.spread(ax, [1, 2, 3], RUNS, "steps", which=1, live=1)
    assert points(ax) == [[[1, 1], [2, 4], [3, 2]], [[1, 3], [2, 2], [3, 8]], [[1, 2], [2, 3], [3, 5]]]
    assert {line.get_color() for line in ax.lines} == {style.COLOURS[1]}
    now, before, mean = ax.lines
    assert now.get_alpha() > before.get_alpha()
    assert mean.get_linewidth() > now.get_linewidth()
    assert ax.get_legend_handles_labels()[1] == ["steps (mean of 2)"]


def test_what_stands_too_close_is_moved_apart():
    assert style.apart([3.0, 1.0, 1.1, 5.0], 0.5) == pytest.approx([3.0, 0.8, 1.3, 5.0])
    assert style.apart([1.0, 2.0], 0.5) == [1.0, 2.0]


def test_a_picture_is_opaque_as_wide_as_it_was_drawn_and_shifts_no_colour():
    figure, axes = style.panels(len(style.COLOURS), width=1.0, height=2.0)
    for ax, colour in zip(axes, style.COLOURS, strict=True):
        ax.plot([0, 1], color=colour, linewidth=4)
    axes[0].imshow(np.arange(100).reshape(10, 10) / 100, cmap="viridis")  # many colours of few pixels
    png, width = style.picture(figure)
    image = PIL.Image.open(io.BytesIO(png))
    assert width == len(style.COLOURS) * 96
    drawn = {colour for _, colour in image.convert("RGB").getcolors()}
    assert {tuple(round(255 * part) for part in to_rgb(colour)) for colour in style.COLOURS} <= drawn
    assert (255, 255, 255) in drawn


def test_the_readers_settings_change_neither_picture_nor_svg(monkeypatch, tmp_path):
    readers = matplotlib.style.library["dark_background"] | {
        "text.usetex": True,
        "savefig.bbox": "tight",
        "savefig.dpi": 30,
        "savefig.transparent": True,
        "svg.fonttype": "none",
        "xtick.labelsize": 30,
    }
    monkeypatch.setattr(style, "FIGURES", tmp_path)
    shown = []
    monkeypatch.setattr(style, "display", lambda image, text: shown.append(image.data))

    @style.slide
    def draw():
        figure, axes = style.panels(2)
        for ax in axes:
            ax.plot([1e6, 2e6], [3e-9, 4e-9], label="$p_n$")
        style.legend(figure)
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["$p_n$"]  # once, though two panels have it
        return figure

    for settings in ({}, readers):
        with style.mpl.rc_context(settings):
            style.show(draw(), "It halts.", "A finding", svg="one")
            (tmp_path / "one.svg").rename(tmp_path / f"{len(shown)}.svg")
            assert all(style.mpl.rcParams[key] == value for key, value in settings.items())
    assert shown[0] == shown[1]
    assert (tmp_path / "1.svg").read_bytes() == (tmp_path / "2.svg").read_bytes()


@pytest.mark.parametrize(
    ("finding", "alternative"), [("", "It halts at step 3."), ("It waits", "It waits. It halts at step 3.")]
)
def test_show_displays_the_sentence_as_text_and_the_finding_in_the_picture(monkeypatch, finding, alternative):
    shown, figure = [], style.panels(1)[0]
    monkeypatch.setattr(style, "display", lambda *things: shown.extend(things))
    style.show(figure, "It halts at step 3.", finding)
    image, text = shown
    assert figure.get_suptitle() == finding
    assert image._repr_mimebundle_()[1]["image/png"]["alt"] == alternative
    assert text.data == "It halts at step 3."
