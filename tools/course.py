"""Execute notebooks with papermill into runs/: the notebook, a page of it, and a table of what ran.

    python tools/course.py [NOTEBOOK ...] [-p NAME VALUE ...] [--out FOLDER] [--commit]
    python tools/course.py NOTEBOOK --grid NAME VALUE VALUE ... [--workers K | --scheduler ADDRESS]

With --commit the executed notebooks also take the place of those in the repository, ready to be committed: default
parameters only, and without papermill's notes or the state of widgets.

With --grid the notebook is run once for every value, and with several --grid once for every combination, on K processes
or on the workers of a Dask cluster (`dask scheduler`, and `dask worker ADDRESS --nthreads 1`, in this environment and
folder). Each run is kept in a file of its own, one that fails stops no other, and those that have finished are not run
again after a kill.

NOTEBOOK is a name in notebooks/ or in its evidence/, such as 03_parity; none means all. A parameter that a notebook
does not declare, or whose value has another type than its default, stops the run before anything is executed. The
table is written before the first notebook and after each, so that it is true even where this command was killed; that
of a grid is printed.
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
import zmq
from jupyter_client.manager import KernelManager
from nbclient.exceptions import DeadKernelError
from nbconvert import HTMLExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from traitlets.config import Config

from ponder_utils._files import written_whole
from ponder_utils.experiments import results

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


def kernel_config() -> Config:
    """Talk with the kernel in cipher where that can be had: without, ipykernel warns of eavesdroppers."""
    can = KernelManager.class_traits().get("transport_encryption") and zmq.has("curve")
    return Config({"KernelManager": {"transport_encryption": "auto"}} if can else {})


def run(notebook: Path, parameters: dict[str, Any], executed: Path) -> dict[str, Any]:
    """Execute one notebook and write its page; a row for the table."""
    executed.parent.mkdir(parents=True, exist_ok=True)
    written = executed.with_suffix(".html")
    for earlier in {executed.resolve(), written.resolve()} - {notebook.resolve()}:  # not to be taken for this run's
        earlier.unlink(missing_ok=True)
    start, status, lost = time.perf_counter(), "ok", False
    try:
        papermill.execute_notebook(
            notebook,
            executed,
            parameters,
            cwd=notebook.parent,
            kernel_name="python3",
            progress_bar={"desc": notebook.stem},
            config=kernel_config(),
        )
    except papermill.PapermillExecutionError as error:
        status = f"FAILED in cell {error.cell_index}: {error.ename}: {error.evalue}".splitlines()[0]
    except DeadKernelError:
        status, lost = "FAILED: the kernel died: often out of memory", True
    except RuntimeError as error:
        status, lost = f"FAILED: {error}", True
    row = {"notebook": notebook.stem, "status": status, "minutes": round((time.perf_counter() - start) / 60, 2)}
    if not executed.exists():
        return row | {"headline": ""}
    result = nbformat.read(executed, as_version=4)
    if lost:  # at an error of the notebook's own papermill says on the page where it stopped
        result.cells.insert(0, nbformat.v4.new_markdown_cell(f"**{status}**"))
    result, _ = CoalesceStreamsPreprocessor().preprocess(without_widgets(result), {})
    page, _ = HTMLExporter().from_notebook_node(result, resources={"metadata": {"name": notebook.stem}})
    written.write_text(page, encoding="utf-8")
    nbformat.write(result, executed)
    return row | {"headline": headline(result)}


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
    varied = [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]
    for combination in varied:
        check_parameters(notebook, given | combination)
    source = hashlib.sha256(notebook.read_bytes()).hexdigest()[:12]
    same = {"notebook": str(notebook), "source": source, "out": str(out.resolve()), "given": given}
    settings: list[dict[str, Any]] = [same | {"varied": each} for each in varied]
    store = out / f"{notebook.stem}_grid.jsonl"
    failures: list[tuple[dict[str, Any], str]] = []
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(distributed.Client(scheduler)) if scheduler else None
        try:
            rows = results.run_grid(run_of_grid, settings, name="runs", workers=workers, client=client, store=store)
        except results.GridError as error:
            rows, failures = error.rows, error.failures
    told = [row["varied"] | {"status": "ok", "minutes": row["minutes"], "headline": row["headline"]} for row in rows]
    for setting, reason in failures:
        status = reason[reason.find("FAILED") :] if "FAILED" in reason else f"FAILED: {reason}"
        told.append(setting["varied"] | {"status": status, "minutes": None, "headline": ""})
    order = [json.dumps(each) for each in varied]
    return sorted(told, key=lambda row: order.index(json.dumps({name: row[name] for name in values})))


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [[*rows[0]], ["---"] * len(rows[0]), *([as_cell(value) for value in row.values()] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_cell(value: object) -> str:
    """The value as text that can stand in a cell of a Markdown table: on one line, and without a bare `|`."""
    text = "" if value is None else " ".join(str(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|")


def write_table(rows: list[dict[str, Any]], out: Path) -> None:
    """The rows as course.md and course.json."""
    for name, text in (("course.md", table(rows)), ("course.json", json.dumps(rows, indent=1))):
        with written_whole(out / name) as draft:
            draft.write_text(text + "\n", encoding="utf-8")


def main() -> int:
    """Run the notebooks that were asked for; exit status 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", metavar="NOTEBOOK")
    parser.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), dest="parameters")
    parser.add_argument("--out", type=Path, default=ROOT / "runs")
    parser.add_argument("--commit", action="store_true")
    parser.add_argument("--grid", nargs="+", action="append", default=[], metavar=("NAME", "VALUE"))
    shared = parser.add_mutually_exclusive_group()
    shared.add_argument("--workers", type=int, help="processes that share a grid; 1 if not given")
    shared.add_argument("--scheduler", help="address of a Dask scheduler, whose workers share a grid instead")
    args = parser.parse_args()
    if args.commit and args.parameters:
        parser.error("--commit goes with the default parameters: give it without -p")
    if args.grid and (len(args.notebooks) != 1 or args.commit or min(len(values) for values in args.grid) < 2):
        parser.error("--grid NAME VALUE ... goes with one NOTEBOOK, at least one value, and without --commit")
    if not args.grid and (args.workers is not None or args.scheduler is not None):
        parser.error("--workers and --scheduler say who shares the runs of a grid: give them with --grid")
    if args.workers is not None and args.workers < 1:
        parser.error(f"--workers must be at least 1; got {args.workers}")
    given = [name for name, *_ in [*args.parameters, *args.grid]]
    if len(set(given)) < len(given):
        parser.error(f"each parameter is given once, with -p or with --grid; got {', '.join(given)}")

    folders = ROOT / "notebooks", ROOT / "notebooks" / "evidence"
    notebooks = [notebook for folder in folders for notebook in sorted(folder.glob("*.ipynb"))]
    names = [notebook.stem for notebook in notebooks]
    unknown = set(args.notebooks) - set(names)
    if unknown:
        raise SystemExit(f"NOTEBOOK must be one of {', '.join(names)}; got {', '.join(sorted(unknown))}")
    chosen = [notebook for notebook in notebooks if not args.notebooks or notebook.stem in args.notebooks]
    parameters = {name: read_value(value) for name, value in args.parameters}
    for notebook in chosen:
        check_parameters(notebook, parameters)

    if args.grid:
        rows = run_grid(chosen[0], parameters, args.grid, args.out, args.workers or 1, args.scheduler)
    else:
        rows = [
            {"notebook": notebook.stem, "status": "not run yet", "minutes": None, "headline": ""} for notebook in chosen
        ]
        write_table(rows, args.out)
        for i, notebook in enumerate(chosen):
            rows[i] = run(notebook, parameters, args.out / notebook.name)
            write_table(rows, args.out)
    print(table(rows))
    all_ran = all(row["status"] == "ok" for row in rows)
    if args.commit and all_ran:
        for notebook in chosen:
            nbformat.write(for_commit(nbformat.read(args.out / notebook.name, as_version=4)), notebook)
    return 0 if all_ran else 1


if __name__ == "__main__":
    sys.exit(main())
