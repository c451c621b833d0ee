"""What is printed and what is stored, read again: nothing here comes from the packages or the notebooks' code."""

import functools
import json
import re
from html import unescape
from pathlib import Path

import nbformat
import numpy as np
from scipy import stats

ROOT = Path(__file__).resolve().parents[1]
FINDINGS = " ".join((ROOT / "docs/findings.md").read_text(encoding="utf-8").split())


@functools.cache
def stored(name):
    entries = [json.loads(line) for line in (ROOT / "results" / f"{name}.jsonl").read_text().splitlines()]
    return [(entry["setting"], entry["result"]) for entry in entries if "result" in entry]


@functools.cache
def printed(notebook):
    """What the cell tagged headline has printed."""
    cells = nbformat.read(ROOT / "notebooks" / f"{notebook}.ipynb", as_version=4).cells
    (cell,) = [cell for cell in cells if "headline" in cell.metadata.get("tags", [])]
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def shown(notebook, marker):
    """The rows of the table that the cell with this text shows, by the name of the row and of the column."""
    cells = nbformat.read(ROOT / "notebooks" / f"{notebook}.ipynb", as_version=4).cells
    (cell,) = [cell for cell in cells if cell.cell_type == "code" and marker in cell.source]
    (html,) = [output.data["text/html"] for output in cell.outputs if "text/html" in output.get("data", {})]
    lines = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.S) for line in re.findall(r"<tr.*?</tr>", html, re.S)]
    (_, *columns), *rows = lines
    return {unescape(name): dict(zip(columns, values, strict=True)) for name, *values in rows}


def mean_with_interval(values, form):
    values = np.array(values, float)
    half = stats.t(len(values) - 1).ppf(0.975) * stats.sem(values) if np.ptp(values) else 0.0
    numbers = ", ".join(format(end, form) for end in (values.mean() - half, values.mean() + half))
    return f"{format(values.mean(), form)} [{numbers}], {len(values)} runs"


def interval_of_difference(a, b, level=0.95):
    return stats.ttest_ind(b, a, equal_var=False).confidence_interval(level)


def from_to(values, form):
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"
