"""What lesson 05 says of the times that were measured."""

import json
from pathlib import Path

import nbformat

from ponder_course.common import runs, store

ROOT = Path(__file__).resolve().parents[2]


def test_where_there_are_none_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("PACKED", "CLONE"):
        monkeypatch.setattr(store, name, tmp_path / "nowhere")
    cells = nbformat.read(ROOT / "notebooks" / "05_light_cone.ipynb", as_version=4).cells
    (source,) = [cell.source for cell in cells if cell.cell_type == "code" and "bench" in cell.source]
    exec(source[source.index("benchmarks =") :], {"runs": runs, "json": json})
    assert "latest.json" in capsys.readouterr().out
