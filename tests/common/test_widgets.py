import base64
import re

import ipywidgets

from ponder_course.common import widgets
from ponder_course.common.style import panels, picture


def bars(lambda_p, steps):
    figure, (ax,) = panels(1)
    ax.bar(range(1, steps + 1), [lambda_p * (1 - lambda_p) ** n for n in range(steps)])
    return figure


def test_a_slider_for_each_argument_redraws_picture_and_sentence(monkeypatch):
    shown = []
    monkeypatch.setattr(widgets, "display", shown.append)
    sliders = {"lambda_p": (0, 0.9, 0.1, 0.2), "steps": (1, 20, 1, 5)}
    widgets.explore(lambda **at: (bars(**at), f'"{at["steps"]}" < {at["lambda_p"]:.1f}'), **sliders)
    rows, page = shown[0].children
    of_lambda, of_steps = rows.children
    assert type(of_lambda) is ipywidgets.FloatSlider
    assert type(of_steps) is ipywidgets.IntSlider
    for slider, settings in zip(rows.children, sliders.values(), strict=True):
        assert (slider.min, slider.max, slider.step, slider.value) == settings
    for slider, value in ((of_steps, 7), (of_lambda, 0.5)):
        slider.value = value
        png, _ = picture(bars(of_lambda.value, of_steps.value))
        assert f"base64,{base64.b64encode(png).decode()}" in page.value
    sentence = "&quot;7&quot; &lt; 0.5"
    assert re.findall(r'alt="([^"]*)"|<p>(.*)</p>', page.value) == [(sentence, ""), ("", sentence)]
