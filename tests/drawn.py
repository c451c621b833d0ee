"""What is drawn is what was given: one harness for the tests of all figures."""

import importlib
import inspect
import io
import itertools
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

DARK = {"figure.facecolor": "black", "axes.facecolor": "black", "text.color": "white", "font.size": 4}
LEVELS = (0, 0.5, 1)  # of axes, of a coin, and of all
COMPUTED = None  # a figure of which another test says what it computes


@dataclass
class Drawn:
    """A figure, what it is given, and what it computes itself; `check` finds every number drawn among these."""

    figure: Callable[..., Any]
    given: Sequence[Any] = ()
    computed: Sequence[Any] | None = ()  # numbers and sequences of numbers, by a reference
    colours: Mapping[str, Any] = field(default_factory=dict)  # {colour: all numbers that it has}
    written: Sequence[str] = ()  # numbers that it computes and writes
    start: int = 1  # places are counted from here
    sideways: bool = False  # the numbers lie along x

    def draw(self, *given: Any) -> Figure:
        """The figure alone, of those that say something, too."""
        drawn = self.figure(*given)
        return drawn[0] if isinstance(drawn, tuple) else drawn

    def check(self) -> None:
        figure = check(lambda: self.draw(*self.given))
        if self.computed is not None:
            self._check_origin(figure)
        for colour, wanted in self.colours.items():
            found = {round(float(v), 6) for name, _, y in self._series(figure) if name == colour for v in y}
            assert {v for v in found if np.isfinite(v)} == {round(v, 6) for v in _numbers(wanted)}, colour
        texts = numbers(" ".join(all_texts(figure)))
        assert not set(self.written) - set(texts), texts
        self._check_changes(figure)

    def _series(self, figure: Figure) -> list[tuple[str, np.ndarray, np.ndarray]]:
        found = [one for ax in figure.axes for one in series(ax)]
        return [(colour, y, x) for colour, x, y in found] if self.sideways else found

    def _check_origin(self, figure: Figure) -> None:
        """All that is drawn was given, or is computed as the reference does."""
        known = [*self.given, *self.computed]
        candidates = list(_sequences(known))
        allowed = np.array([*_numbers(known), *LEVELS])
        ends = np.array([*allowed, *map(len, candidates)])
        edges = np.concatenate([ends, ends - 0.5, ends + 0.5])
        for colour, x, y in self._series(figure):
            assert _accounted(x, y, candidates, allowed, edges, self.start), (colour, x, y)
        grids = list(_grids(known))
        for ax in figure.axes:
            for image in ax.images:
                assert any(_equal(values(image), grid[: len(values(image))]) for grid in grids), values(image)
            for corners in spans(ax):
                assert all(_among(number, edges) for number in np.ravel(corners)), corners
            areas = [area for area in ax.collections if isinstance(area, PolyCollection)]
            for number in [v for area in areas for path in area.get_paths() for v in path.vertices.ravel()]:
                assert _among(number, allowed) or number == round(number), number

    def _check_changes(self, figure: Figure) -> None:
        """Each number given changes the figure; of those that a line, mark or image has, this is plain."""
        drawn = [v for _, *points in self._series(figure) for v in np.ravel(points)]
        drawn += [v for ax in figure.axes for image in ax.images for v in np.ravel(values(image))]
        before, drawn = _everything(figure), np.array(drawn, float)
        drawn = np.concatenate([drawn, drawn / 100])  # also in per cent
        for i, argument in enumerate(self.given):
            every = set(_floats(argument))
            unseen = [{number} for number in every if not _among(number, drawn)]
            for some in [every] if every and self.computed is None else unseen:
                other = altered(argument, some)
                assert _everything(self.draw(*self.given[:i], other, *self.given[i + 1 :])) != before, (i, some)


def without_entry(room: str, entries: Mapping[str, Drawn]) -> list[str]:
    """The public functions of a room, and of its research, that draw a figure and have no entry."""
    entered = {getattr(entry.figure, "func", entry.figure) for entry in entries.values()}  # also a partial function
    found = []
    for package in (f"ponder_course.{room}", f"ponder_evidence.{room}"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
            if "__main__" in module.name:
                continue
            functions = vars(importlib.import_module(module.name)).items()
            for name, function in functions:
                if inspect.isfunction(function) and function.__module__ == module.name and not name.startswith("_"):
                    returns = str(inspect.signature(function).return_annotation)
                    if re.match(r"(<class '|tuple\[)?matplotlib\.figure\.Figure", returns) and function not in entered:
                        found.append(f"{module.name}.{name}")
    return found


def tests_of_figures(room: str, entries: Mapping[str, Drawn]) -> tuple[Callable[[str], None], Callable[[], None]]:
    """The tests that what is drawn is what was given, and that every figure of the room has an entry."""

    @pytest.mark.parametrize("name", entries)
    def test_of_one(name: str) -> None:
        entries[name].check()

    def test_of_all() -> None:
        assert without_entry(room, entries) == []

    return test_of_one, test_of_all


tests_of_figures.__test__ = False


def check(draw: Callable[[], Figure]) -> Figure:
    """A figure is the same whatever the reader's style, opaque, legible, labelled, and names no line twice."""
    with mpl.rc_context(DARK):
        figure = draw()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=40)
    buffer.seek(0)
    pixels = matplotlib.image.imread(buffer)
    assert (pixels[0, 0, :3] == 1).all()
    assert pixels.shape[2] == 3 or (pixels[..., 3] == 1).all()
    texts = [text for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        assert to_rgb(ax.get_facecolor()) == (1, 1, 1)
        shares_x = len(ax.get_shared_x_axes().get_siblings(ax)) > 1 and not ax.get_subplotspec().is_last_row()
        in_words = any(label.get_text().isalpha() for label in ax.get_xticklabels())
        assert ax.get_xlabel() or in_words or not ax.axison or not len(ax.get_xticks()) or shares_x
        labels = ax.get_legend_handles_labels()[1]
        assert len(set(labels)) == len(labels)
        texts += [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        if ax.get_legend():
            texts += ax.get_legend().get_texts()
    assert min([text.get_fontsize() for text in texts if text.get_text().strip()], default=11) > 10.5
    return figure


def series(ax: Any) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """All that a panel draws of points, as (colour, x, y): lines, bars [centre, height], marks, and single segments.

    The colour of hollow bars and marks is that of their edge. What is white shows nothing.
    """
    found = [(line.get_color(), line.get_xydata()) for line in ax.lines]
    for bars in ax.containers:
        if isinstance(bars, BarContainer):
            face, edge = bars[0].get_facecolor(), bars[0].get_edgecolor()
            points = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in bars]
            found.append((face if face[3] and to_hex(face) != "#ffffff" else edge, points))
    for marks in ax.collections:
        if isinstance(marks, PathCollection) and len(marks.get_offsets()):
            faces = [colour for colour in marks.get_facecolor() if to_hex(colour) != "#ffffff"]
            found.append(([*faces, *marks.get_edgecolor()][0], marks.get_offsets()))
        if isinstance(marks, LineCollection):
            found += [(marks.get_color()[0], segment) for segment in marks.get_segments()]
    found = [(to_hex(colour).upper(), *np.asarray(points, float).T) for colour, points in found if len(points)]
    return [one for one in found if one[0] != "#FFFFFF"]


def values(image: Any) -> np.ndarray:
    """The numbers of an image, nan where it is white."""
    return np.ma.filled(np.ma.asarray(image.get_array(), float), np.nan)


def spans(ax: Any) -> list[np.ndarray]:
    """First and last corner of each span of a panel."""
    bars = {bar for container in ax.containers if isinstance(container, BarContainer) for bar in container}
    rectangles = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch not in bars]
    return [np.array([span.xy, np.add(span.xy, (span.get_width(), span.get_height()))]) for span in rectangles]


def points(ax: Any, **properties: Any) -> list[list[list[float]]]:
    """The points of every line of a panel that has such properties, as lists of pairs; empty lines are left out."""
    wanted = properties.items()
    lines = [line for line in ax.lines if all(getattr(line, f"get_{name}")() == value for name, value in wanted)]
    return [line.get_xydata().tolist() for line in lines if len(line.get_xdata())]


def written(ax: Any) -> list[str]:
    """The texts on a panel."""
    return [text.get_text().strip() for text in ax.texts if text.get_text().strip()]


def all_texts(figure: Figure) -> list[str]:
    """All that is written on a figure and beside its axes."""
    found = [text for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        found += [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
    return [text.get_text() for text in found]


def numbers(text: str) -> list[str]:
    """The numbers in a sentence, such as ["8", "+0.5"]."""
    return re.findall(r"[+\N{MINUS SIGN}-]?\d+(?:[.,]\d+)*", text)


def altered(data: Any, which: set[float]) -> Any:
    """The same data, each of these numbers a tenth smaller."""
    if isinstance(data, Mapping):
        return {name: altered(value, which) for name, value in data.items()}
    if isinstance(data, pd.DataFrame):
        return data.assign(**{name: altered(data[name].to_numpy(), which) for name in data.select_dtypes("float")})
    if isinstance(data, list | tuple):
        values = [altered(value, which) for value in data]
        return type(data)(*values) if hasattr(data, "_fields") else type(data)(values)
    if torch.is_tensor(data):
        return torch.from_numpy(altered(data.numpy(), which))
    if isinstance(data, np.ndarray):
        return np.where(np.isin(data, [*which]), 0.9 * data, data) if data.dtype.kind == "f" else data
    return 0.9 * data if isinstance(data, float) and data in which else data


def _parts(data: Any) -> list[Any]:
    """The parts of a collection; none of a number or of anything else."""
    if isinstance(data, pd.DataFrame):
        return [data[name].tolist() for name in data.select_dtypes("number")]
    if torch.is_tensor(data):
        data = data.detach().numpy()
    if isinstance(data, Mapping):
        return [*data.values(), [*data.keys()]]
    if isinstance(data, np.ndarray):
        data = data.tolist()
    return list(data) if isinstance(data, Sequence) and not isinstance(data, str) else []


def _is_number(part: Any) -> bool:
    return isinstance(part, Real | np.number) and not isinstance(part, bool | np.bool_)


def _floats(data: Any) -> Iterator[float]:
    """Every number in the data that is not a count, and not a key."""
    parts = list(data.values()) if isinstance(data, Mapping) else _parts(data)
    if not parts and isinstance(data, float | np.floating) and np.isfinite(data) and data:
        yield float(data)
    for part in parts:
        yield from _floats(part)


def _numbers(data: Any) -> Iterator[float]:
    """Every number in the data, and every key that is one."""
    if _is_number(data):
        yield float(data)
    for part in _parts(data):
        yield from _numbers(part)


def _sequences(data: Any) -> Iterator[np.ndarray]:
    """Every sequence of numbers in the data: rows, columns, fields, keys, and the mean of rows."""
    parts = _parts(data)
    values = list(data.values()) if isinstance(data, Mapping) else parts
    if values and all(_is_number(part) or part is None for part in values):
        yield np.array(values, float)
    rows = [part for part in values if isinstance(part, Mapping)]
    for key in rows[0] if rows and len(rows) == len(values) else ():
        yield from _sequences([row.get(key) for row in rows])
    lists = [part for part in map(_parts, values) if part and all(map(_is_number, part))]
    if len(lists) == len(values) > 1 and len({*map(len, lists)}) == 1:
        yield from np.array(lists, float).T
        yield np.mean(np.array(lists, float), axis=0)
    for part in parts:
        yield from _sequences(part)


def _grids(data: Any) -> Iterator[np.ndarray]:
    """Every table of numbers in the data."""
    parts = _parts(data)
    rows = [_parts(part) for part in parts if not isinstance(part, Mapping)]
    if rows and len(rows) == len(parts) and all(rows) and len({*map(len, rows)}) == 1:
        cells = itertools.chain.from_iterable(rows)
        if all(_is_number(cell) or isinstance(cell, bool | np.bool_) for cell in cells):
            yield np.array(rows, float)
    for part in parts:
        yield from _grids(part)


def _among(number: float, allowed: np.ndarray) -> bool:
    return bool(np.isclose(number, allowed, rtol=1e-6, atol=1e-9).any())


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and np.allclose(one, other, equal_nan=True)


def _accounted(x, y, candidates, allowed, edges, start) -> bool:
    """Whether y is part of a sequence, in its order, and x the places of that part: counted, or of another sequence.

    x may be shifted, by less than half a place. Or all of y is one number, or x of an upright line.
    """
    there = np.isfinite(y)
    x, y = x[there], y[there]
    if not len(y):
        return True
    if np.ptp(y) < 1e-9:
        return _among(y[0], edges if len(y) > 1 else allowed)
    if np.ptp(x) < 1e-9 and y.tolist() == [0, 1]:
        return _among(x[0], edges)
    for candidate in candidates:
        places = _part_of(y, candidate)
        if places is not None:
            wanted = [start + places, *(other[places] for other in candidates if len(other) == len(candidate))]
            shifts = [x - where for where in wanted]
            if any(abs(shift[0]) < 0.5 and np.allclose(shift, shift[0], atol=1e-9) for shift in shifts):
                return True
            if np.ptp(x) < 1e-9:
                return True
    return False


def _part_of(y: np.ndarray, candidate: np.ndarray) -> np.ndarray | None:
    """Where in the candidate the numbers are, in their order, or None."""
    places, at = [], 0
    for number in y:
        found = np.flatnonzero(np.isclose(candidate[at:], number, rtol=1e-6, atol=1e-9))
        if not len(found):
            return None
        at += int(found[0]) + 1
        places.append(at - 1)
    return np.array(places)


def _everything(figure: Figure) -> str:
    """A text of all that a figure draws and writes, and of where its axes end."""
    found: list[Any] = all_texts(figure)
    for ax in figure.axes:
        found += [ax.get_xlim(), ax.get_ylim(), [(text.get_position(), text.get_color()) for text in ax.texts]]
        found += [(colour, x.tolist(), y.tolist()) for colour, x, y in series(ax)]
        found += [values(image).tolist() for image in ax.images]
        for patch in ax.patches:
            found.append((np.asarray(patch.get_verts()).tolist(), patch.get_alpha(), patch.get_facecolor()))
        areas = [area for area in ax.collections if isinstance(area, PolyCollection)]
        found += [path.vertices.tolist() for area in areas for path in area.get_paths()]
    return repr(found)
