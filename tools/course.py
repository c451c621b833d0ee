"""Execute notebooks with papermill into runs/: the notebook, a page of it, and a table of what ran.

    python tools/course.py [NOTEBOOK ...] [-p NAME VALUE ...] [--out FOLDER] [--commit]

With --commit the executed notebooks also take the place of those in notebooks/, ready to be committed: default
parameters only, and without papermill's notes or the state of widgets.

NOTEBOOK is a name in notebooks/, such as 03_parity; none means all. A parameter that a notebook does not
declare, or whose value has another type than its default, stops the run before anything is executed.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
import papermill
from nbconvert import HTMLExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor

ROOT = Path(__file__).resolve().parents[1]


def read_value(text: str) -> object:
    """A parameter's value as Python writes it; what is no Python literal is a string."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def check_parameters(notebook: Path, given: dict[str, Any]) -> None:
    """Refuse parameters that the notebook does not declare, and values of another type than the default."""
    declared = papermill.inspect_notebook(notebook)
    for name, value in given.items():
        if name not in declared:
            raise SystemExit(f"{notebook.name} has no parameter {name}; it has {', '.join(declared)}")
        default = ast.literal_eval(declared[name]["default"])
        accepted = (int, float) if type(default) is float else type(default)
        if not isinstance(value, accepted) or isinstance(value, bool) != isinstance(default, bool):
            raise SystemExit(f"{notebook.name}: {name} must be of type {type(default).__name__}; got {value!r}")


def headline(notebook: nbformat.NotebookNode) -> str:
    """What the cell tagged `headline` printed."""
    for cell in notebook.cells:
        if "headline" in cell.metadata.get("tags", []):
            return " ".join(output.text.strip() for output in cell.outputs if output.output_type == "stream")
    return ""


def without_widgets(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The executed notebook with a line of text in place of widgets, which are dead without their kernel."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None):
                output.data["text/plain"] = "Sliders appear here when the cell runs. The next figure shows the same."
    return notebook


def for_commit(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The executed notebook without what would differ at every run, or bloat it."""
    notebook.metadata = {name: notebook.metadata[name] for name in ("kernelspec", "language_info")}
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata = {name: value for name, value in cell.metadata.items() if name == "tags" and value}
    return notebook


def run(notebook: Path, parameters: dict[str, Any], out: Path) -> dict[str, Any]:
    """Execute one notebook and write its page; a row for the table."""
    executed = out / notebook.name
    start, status = time.perf_counter(), "ok"
    try:
        papermill.execute_notebook(
            notebook, executed, parameters, cwd=notebook.parent, kernel_name="python3", progress_bar=True
        )
    except papermill.PapermillExecutionError as error:
        status = f"FAILED in cell {error.cell_index}: {error.ename}: {error.evalue}".splitlines()[0]
    minutes = (time.perf_counter() - start) / 60
    result = nbformat.read(executed, as_version=4)
    result, _ = CoalesceStreamsPreprocessor().preprocess(without_widgets(result), {})
    page, _ = HTMLExporter().from_notebook_node(result, resources={"metadata": {"name": notebook.stem}})
    executed.with_suffix(".html").write_text(page, encoding="utf-8")
    nbformat.write(result, executed)
    return {"notebook": notebook.stem, "status": status, "minutes": round(minutes, 2), "headline": headline(result)}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [f"| {' | '.join(rows[0])} |", f"|{' --- |' * len(rows[0])}"]
    return "\n".join(lines + [f"| {' | '.join(str(value) for value in row.values())} |" for row in rows])


def main() -> int:
    """Run the notebooks that were asked for; exit status 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", metavar="NOTEBOOK")
    parser.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), dest="parameters")
    parser.add_argument("--out", type=Path, default=ROOT / "runs")
    parser.add_argument("--commit", action="store_true")
    args = parser.parse_args()
    if args.commit and args.parameters:
        parser.error("--commit goes with the default parameters: give it without -p")

    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    names = [notebook.stem for notebook in notebooks]
    unknown = set(args.notebooks) - set(names)
    if unknown:
        raise SystemExit(f"NOTEBOOK must be one of {', '.join(names)}; got {', '.join(sorted(unknown))}")
    chosen = [notebook for notebook in notebooks if not args.notebooks or notebook.stem in args.notebooks]
    parameters = {name: read_value(value) for name, value in args.parameters}
    for notebook in chosen:
        check_parameters(notebook, parameters)

    args.out.mkdir(parents=True, exist_ok=True)
    rows = [run(notebook, parameters, args.out) for notebook in chosen]
    (args.out / "course.md").write_text(table(rows) + "\n", encoding="utf-8")
    (args.out / "course.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(table(rows))
    if args.commit and all(row["status"] == "ok" for row in rows):
        for notebook in chosen:
            nbformat.write(for_commit(nbformat.read(args.out / notebook.name, as_version=4)), notebook)
    return 0 if all(row["status"] == "ok" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
