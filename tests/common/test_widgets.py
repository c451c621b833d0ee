import html
import re

import ipywidgets

from ponder_course.common import widgets
from ponder_course.common.style import panels, slide

SLIDERS = {"lambda_p": (0, 0.9, 0.1, 0.2), "steps": (1, 20, 1, 5)}


@slide
def bars(lambda_p, steps):
    figure, (ax,) = panels(1)
    ax.bar(range(1, steps + 1), [lambda_p * (1 - lambda_p) ** n for n in range(steps)])
    return figure


def test_a_slider_for_each_argument_redraws_picture_and_sentence(monkeypatch):
    shown, drawn = [], []

    def draw(**values):
        drawn.append(values)
        return bars(**values), f'"{values["steps"]}" steps & 0 < lambda_p = {values["lambda_p"]:.1f}'

    monkeypatch.setattr(widgets, "display", shown.append)
    widgets.explore(draw, **SLIDERS)
    ((rows, picture),) = [box.children for box in shown]
    sliders = {slider.description: slider for slider in rows.children}
    assert list(sliders) == list(SLIDERS)
    for name, slider in sliders.items():
        assert (slider.min, slider.max, slider.step, slider.value) == SLIDERS[name]
    assert type(sliders["lambda_p"]) is ipywidgets.FloatSlider
    assert type(sliders["steps"]) is ipywidgets.IntSlider
    assert drawn == [{"lambda_p": 0.2, "steps": 5}]
    pictures = [picture.value]
    for name, value in (("steps", 7), ("lambda_p", 0.5)):
        sliders[name].value = value
        pictures.append(picture.value)
    assert drawn[1:] == [{"lambda_p": 0.2, "steps": 7}, {"lambda_p": 0.5, "steps": 7}]
    assert len({re.search('src="data:image/png;base64,([^"]+)"', p)[1] for p in pictures}) == 3
    (alt,), (below,) = re.findall('alt="([^"]*)"', picture.value), re.findall("<p>(.*)</p>", picture.value)
    assert html.unescape(alt) == html.unescape(below) == '"7" steps & 0 < lambda_p = 0.5'
