"""A section of a lesson can be run again when the whole lesson has run: no later one has taken a name that it uses."""

import pytest
import torch
from running import NOTEBOOKS, namespace, run


def sections(cells):
    """The cells of each section, by its heading; those before the first are not among them."""
    found = {}
    for cell in cells:
        if cell.cell_type == "markdown" and "\n## " in f"\n{cell.source}":
            heading = next(line for line in cell.source.splitlines() if line.startswith("## "))
            found[heading] = []
        if found:
            found[heading].append(cell)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("stem", "cells"), NOTEBOOKS.items(), ids=NOTEBOOKS)
def test_every_section_runs_again_after_the_whole_lesson(stem, cells, monkeypatch):
    names = namespace(monkeypatch)
    with torch.random.fork_rng():
        run(cells, names)
        for heading, section in sections(cells).items():
            try:
                run(section, names)
            except Exception as error:
                pytest.fail(f"{stem}, {heading}: {type(error).__name__}: {error}")
