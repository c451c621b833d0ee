import ipywidgets

from ponder_course.common import widgets
from ponder_course.common.style import panels


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
