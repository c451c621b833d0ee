"""Sliders, and a figure that follows them. A plain figure beside them shows the same at some settings."""

import base64
import html
from collections.abc import Callable
from typing import Any

import ipywidgets
from IPython.display import display
from matplotlib.figure import Figure

from ponder_course.common.style import picture


def explore(draw: Callable[..., tuple[Figure, str]], **sliders: tuple[float, float, float, float]) -> None:
    """Show a slider for each argument of `draw`, and below them the figure and the sentence that it returns.

    The sentence reads the figure, and is also its alternative text. Each slider is name=(lowest, highest, increment,
    first value); four integers make a slider of integers.
    """
    controls: dict[str, Any] = {}
    for name, (low, high, increment, first) in sliders.items():
        whole = all(isinstance(number, int) for number in (low, high, increment, first))
        kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
        controls[name] = kind(first, min=low, max=high, step=increment, description=name, continuous_update=False)
    shown = ipywidgets.HTML()

    def redraw(_: Any = None) -> None:
        figure, sentence = draw(**{name: control.value for name, control in controls.items()})
        png, width = picture(figure)
        data, text = base64.b64encode(png).decode(), html.escape(sentence)
        shown.value = f'<img alt="{text}" width="{width}" src="data:image/png;base64,{data}"><p>{text}</p>'

    for control in controls.values():
        control.observe(redraw, names="value")
    redraw()
    rows = ipywidgets.GridBox(list(controls.values()), layout={"grid_template_columns": "repeat(2, 320px)"})
    display(ipywidgets.VBox([rows, shown]))
