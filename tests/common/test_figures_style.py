"""The course's style: runs and their mean, colours that stay what they are, whatever the reader's settings."""

import io

import matplotlib.style
import numpy as np
import PIL.Image
from matplotlib.colors import to_rgb

from ponder_course.common import style


def test_a_spread_is_every_run_and_their_mean():
    _, (ax,) = style.panels(1)
    style.spread(ax, [1, 2, 3], [[1.0, 4.0, 2.0], [3.0, 2.0, 8.0]], "steps", which=1, live=1)
    assert [line.get_ydata().tolist() for line in ax.lines] == [[1, 4, 2], [3, 2, 8], [2, 3, 5]]
    assert {line.get_color() for line in ax.lines} == {style.COLOURS[1]}
    now, before, mean = ax.lines
    assert now.get_alpha() > before.get_alpha()
    assert mean.get_linewidth() > now.get_linewidth()


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


@style.slide
def two_panels():
    figure, axes = style.panels(2)
    for ax in axes:
        ax.plot([1e6, 2e6], [3e-9, 4e-9], label="$p_n$")
    return style.legend(figure)


def test_the_readers_settings_change_neither_picture_nor_svg(monkeypatch, tmp_path):
    readers = matplotlib.style.library["dark_background"]
    readers |= {"text.usetex": True, "savefig.bbox": "tight", "savefig.dpi": 30, "xtick.labelsize": 30}
    monkeypatch.setattr(style, "FIGURES", tmp_path)
    shown, written = [], []
    monkeypatch.setattr(style, "display", lambda image, text: shown.append(image))
    for settings in ({}, readers):
        with style.mpl.rc_context(settings):
            style.show(two_panels(), "It halts.", "A finding", svg="one")
            written.append((tmp_path / "one.svg").read_bytes())
    assert shown[0].data == shown[1].data
    assert written[0] == written[1]
    assert shown[0]._repr_mimebundle_()[1]["image/png"]["alt"] == "A finding. It halts."
    (legend,) = two_panels().legends
    assert len(legend.get_texts()) == 1  # though two panels have it
