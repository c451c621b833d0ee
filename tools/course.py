"""Execute notebooks with papermill into runs/: the notebook, a page of it, and a table of what ran.

    python tools/course.py [NOTEBOOK ...] [-p NAME VALUE ...] [--out FOLDER] [--commit]
    python tools/course.py NOTEBOOK --grid NAME VALUE VALUE ... [--workers K | --scheduler ADDRESS]

With --commit the executed notebooks also take the place of those in notebooks/, ready to be committed: default
parameters only, and without papermill's notes or the state of widgets.

With --grid the notebook is run once for every value, and with several --grid once for every combination, on K processes
or on the workers of a Dask cluster (`dask scheduler`, and `dask worker ADDRESS --nthreads 1`, in this environment and
folder). Each run is kept in a file of its own, and those that have finished are not run again after a kill.

NOTEBOOK is a name in notebooks/, such as 03_parity; none means all. A parameter that a notebook does not
declare, or whose value has another type than its default, stops the run before anything is executed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

import distributed
import nbformat
import papermill
from nbconvert import HTMLExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor

from ponder_utils import results

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


def run(notebook: Path, parameters: dict[str, Any], executed: Path) -> dict[str, Any]:
    """Execute one notebook and write its page; a row for the table."""
    executed.parent.mkdir(parents=True, exist_ok=True)
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


def run_of_grid(notebook: str, source: str, out: str, given: dict[str, Any], varied: dict[str, Any]) -> dict[str, Any]:
    """One run of a grid, on whichever machine. All parameters are in the file's name; `source` tells versions apart."""
    values = [f"{name}={str(value).replace('/', '_')}" for name, value in (given | varied).items()]
    name = ",".join([Path(notebook).stem, *values])
    row = run(Path(notebook), given | varied, Path(out) / f"{name}.ipynb")
    if row["status"] != "ok":
        raise RuntimeError(f"{name}: {row['status']}")
    return {"minutes": row["minutes"], "headline": row["headline"]}


def run_grid(
    notebook: Path, given: dict[str, Any], grid: list[list[str]], out: Path, workers: int, scheduler: str | None
) -> list[dict[str, Any]]:
    """Run a notebook for every combination of the grid's values; a row for each."""
    values = {name: [read_value(text) for text in texts] for name, *texts in grid}
    if len(values) < len(grid) or values.keys() & given.keys():
        raise SystemExit(
            f"each parameter is given once, with -p or with --grid; got {', '.join([*given, *(g[0] for g in grid)])}"
        )
    varied = [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]
    for combination in varied:
        check_parameters(notebook, given | combination)
    source = hashlib.sha256(notebook.read_bytes()).hexdigest()[:12]
    same = {"notebook": str(notebook), "source": source, "out": str(out.resolve()), "given": given}
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(distributed.Client(scheduler)) if scheduler else None
        options = {"workers": workers, "client": client, "store": out / f"{notebook.stem}_grid.json"}
        rows = results.run_grid(run_of_grid, [same | {"varied": each} for each in varied], name="runs", **options)
    return [row["varied"] | {"minutes": row["minutes"], "headline": row["headline"]} for row in rows]


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
    parser.add_argument("--grid", nargs="+", action="append", default=[], metavar=("NAME", "VALUE"))
    parser.add_argument("--workers", type=int, default=1, help="processes that share a grid")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, whose workers share a grid instead")
    args = parser.parse_args()
    if args.commit and args.parameters:
        parser.error("--commit goes with the default parameters: give it without -p")
    if args.grid and (len(args.notebooks) != 1 or args.commit or min(len(values) for values in args.grid) < 2):
        parser.error("--grid NAME VALUE ... goes with one NOTEBOOK, at least one value, and without --commit")

    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    names = [notebook.stem for notebook in notebooks]
    unknown = set(args.notebooks) - set(names)
    if unknown:
        raise SystemExit(f"NOTEBOOK must be one of {', '.join(names)}; got {', '.join(sorted(unknown))}")
    chosen = [notebook for notebook in notebooks if not args.notebooks or notebook.stem in args.notebooks]
    parameters = {name: read_value(value) for name, value in args.parameters}
    for notebook in chosen:
        check_parameters(notebook, parameters)

    if args.grid:
        print(table(run_grid(chosen[0], parameters, args.grid, args.out, args.workers, args.scheduler)))
        return 0
    rows = [run(notebook, parameters, args.out / notebook.name) for notebook in chosen]
    (args.out / "course.md").write_text(table(rows) + "\n", encoding="utf-8")
    (args.out / "course.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(table(rows))
    if args.commit and all(row["status"] == "ok" for row in rows):
        for notebook in chosen:
            nbformat.write(for_commit(nbformat.read(args.out / notebook.name, as_version=4)), notebook)
    return 0 if all(row["status"] == "ok" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
