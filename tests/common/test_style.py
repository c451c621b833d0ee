"""The course's style: runs and their mean, colours that stay what they are; and sliders that redraw."""

import io

import ipywidgets
import numpy as np
import PIL.Image
from matplotlib.colors import to_rgb

from ponder_course.common import style, widgets
from ponder_course.common.style import panels


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


def test_a_headline_stands_before_its_figure_and_the_caption_after_it(monkeypatch):
    shown = []
    monkeypatch.setattr(style, "display", lambda *parts: shown.extend(parts))
    figure, _ = style.panels(1)
    style.show(figure, "A caption.", "Two lines\nof a headline")
    headline, image, caption = shown
    assert (headline.data, caption.data) == ("**Two lines<br>of a headline**", "A caption.")
    assert image.alt == "Two lines of a headline. A caption."


def test_a_slider_for_each_argument_redraws_picture_and_sentence(monkeypatch):
    def draw(lambda_p, steps):
        figure, (ax,) = panels(1)
        ax.bar(range(steps), lambda_p)
        return figure, f'"{steps}" < {lambda_p:.1f}'

    shown = []
    monkeypatch.setattr(widgets, "display", shown.append)
    widgets.explore(draw, lambda_p=(0, 0.9, 0.1, 0.2), steps=(1, 20, 1, 5))
    rows, page = shown[0].children
    of_lambda, of_steps = rows.children
    assert type(of_lambda) is ipywidgets.FloatSlider
    assert type(of_steps) is ipywidgets.IntSlider
    assert (of_lambda.min, of_lambda.max, of_lambda.step, of_lambda.value) == (0, 0.9, 0.1, 0.2)
    pages = [page.value]
    for slider, value in ((of_steps, 7), (of_lambda, 0.5)):
        slider.value = value
        pages.append(page.value)
    assert len({text.split("base64,")[1] for text in pages}) == 3
    assert pages[2].count("&quot;7&quot; &lt; 0.5") == 2  # the picture's alternative text, and below it
