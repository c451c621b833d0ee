"""Execute notebooks with papermill into runs/: the notebook, a page of it, and a table of what ran.

    python tools/course.py [NOTEBOOK ...] [-p NAME VALUE ...] [--out FOLDER] [--commit]
    python tools/course.py NOTEBOOK --grid NAME VALUE VALUE ... [--workers K | --scheduler ADDRESS]

With --commit the executed notebooks also replace those in the repository, ready to be committed: default parameters
only, without papermill's notes and the state of widgets. Its figures for slides go to results/figures, as SVG.

With --grid the notebook is run once for every value, and with several --grid once for every combination, on K processes
or on the workers of a Dask cluster (`dask scheduler`, and `dask worker ADDRESS --nthreads 1`, in this environment and
folder). Each run is kept in a file of its own, one that fails stops no other, and those that have finished are not run
again after a kill.

NOTEBOOK is a name in notebooks/, notebooks/evidence/ or notebooks/problems/, such as 03_parity; none means all lessons
and evidence, and with --commit the problem sheets, too. A VALUE is read as the type that the notebook declares, so that
a folder may be called 2024. A parameter that is not declared, or of another type, is refused before anything is
executed. The table is written before the first notebook and after each, so that it is right even if this command is
killed; that of a grid is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import distributed
import nbformat
import papermill
import stamp
import zmq
from jupyter_client.manager import KernelManager
from nbclient.exceptions import DeadKernelError
from nbconvert import HTMLExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from traitlets.config import Config

from ponder_course.common import runs, store
from ponder_course.common.notebook import KINDS, check_parameter
from ponder_utils._check import check_choice
from ponder_utils.checkpoints import atomic_write

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = "10s"  # with a scheduler that does not answer


def read_value(text: str, kind: str = "str") -> object:
    """Return the value that a text gives to a parameter of a kind; the text itself where it is none of that kind."""
    if kind == "bool":
        return {"True": True, "False": False}.get(text, text)
    try:
        return {"int": int, "float": float}.get(kind, str)(text)
    except ValueError:
        return text


def check_parameters(notebook: Path, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with each text read as a value of the type that the notebook declares.

    SystemExit for a parameter that it does not declare, or that is not of that type.
    """
    declared = papermill.inspect_notebook(notebook)
    values = {}
    for name, value in parameters.items():
        if name not in declared:
            raise SystemExit(f"{notebook.name} has no parameter {name}; it has {', '.join(declared)}")
        kind = declared[name]["inferred_type_name"]
        values[name] = read_value(value, kind) if isinstance(value, str) else value  # read, if it was checked before
        try:
            check_choice(f"the declared type of {name}", kind, tuple(KINDS))
            check_parameter(name, values[name], kind)
        except (TypeError, ValueError) as error:
            raise SystemExit(f"{notebook.name}: {error}") from None
    return values


def headline(notebook: nbformat.NotebookNode) -> str:
    """Return what the cell tagged `headline` printed."""
    for cell in notebook.cells:
        if "headline" in cell.metadata.get("tags", []):
            return " ".join(output.text.strip() for output in cell.outputs if output.output_type == "stream")
    return ""


def without_widgets(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the executed notebook with a line of text in place of widgets, which are dead without their kernel."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None):
                output.data["text/plain"] = "Sliders appear here when the cell runs. The next figure shows the same."
    return notebook


def for_commit(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the executed notebook without what would differ at every run, or bloat it."""
    notebook.metadata = {name: notebook.metadata[name] for name in ("kernelspec", "language_info")}
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata = kept(cell.metadata)
    return notebook


def kept(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return what is committed of a cell's metadata: its tags, and whether it is folded in JupyterLab and in Colab."""
    names = {name: metadata[name] for name in ("tags", "cellView") if metadata.get(name)}
    folded = metadata.get("jupyter", {}).get("source_hidden")
    return names | ({"jupyter": {"source_hidden": True}} if folded else {})


def kernel_config() -> Config:
    """Encrypt the messages to the kernel where that is possible: otherwise ipykernel warns of eavesdroppers."""
    can = KernelManager.class_traits().get("transport_encryption") and zmq.has("curve")
    return Config({"KernelManager": {"transport_encryption": "auto"}} if can else {})


def run(notebook: Path, parameters: dict[str, Any], executed: Path) -> dict[str, Any]:
    """Execute one notebook, write its page, and return a row for the table."""
    executed.parent.mkdir(parents=True, exist_ok=True)
    written = executed.with_suffix(".html")
    for earlier in {executed.resolve(), written.resolve()} - {
        notebook.resolve()
    }:  # so that nobody takes it for this run's
        earlier.unlink(missing_ok=True)
    start, status, died = time.perf_counter(), "ok", False
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
        status, died = "FAILED: the kernel died: often out of memory", True
    except RuntimeError as error:
        status, died = f"FAILED: {error}", True
    row = {"notebook": notebook.stem, "status": status, "minutes": round((time.perf_counter() - start) / 60, 2)}
    if not executed.exists():
        return row | {"headline": ""}
    result = nbformat.read(executed, as_version=4)
    if died:  # of an error in a cell papermill itself says on the page where it was
        result.cells.insert(0, nbformat.v4.new_markdown_cell(f"**{status}**"))
    result, _ = CoalesceStreamsPreprocessor().preprocess(without_widgets(result), {})
    page, _ = HTMLExporter().from_notebook_node(result, resources={"metadata": {"name": notebook.stem}})
    written.write_text(page, encoding="utf-8")
    nbformat.write(result, executed)
    return row | {"headline": headline(result)}


def run_of_grid(notebook: str, source: str, out: str, given: dict[str, Any], varied: dict[str, Any]) -> dict[str, Any]:
    """Make one run of a grid, on whichever machine, in a file with all parameters in its name.

    `source` is the notebook's hash: after an edit the run is made again.
    """
    values = [f"{name}={quote(str(value), safe=' ')}" for name, value in (given | varied).items()]
    name = ",".join([Path(notebook).stem, *values])
    row = run(Path(notebook), given | varied, Path(out) / f"{name}.ipynb")
    if row["status"] != "ok":
        raise RuntimeError(row["status"])
    return {"minutes": row["minutes"], "headline": row["headline"]}


def run_grid(
    notebook: Path, given: dict[str, Any], grid: list[list[str]], out: Path, workers: int, scheduler: str | None
) -> list[dict[str, Any]]:
    """Run a notebook for every combination of the grid's values; a row for each."""
    given = check_parameters(notebook, given)
    values = {name: [check_parameters(notebook, {name: text})[name] for text in texts] for name, *texts in grid}
    varied = [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]
    source = hashlib.sha256(notebook.read_bytes()).hexdigest()[:12]
    same = {"notebook": str(notebook), "source": source, "out": str(out.resolve()), "given": given}
    settings: list[dict[str, Any]] = [same | {"varied": combination} for combination in varied]
    file = out / f"{notebook.stem}_grid.jsonl"
    try:
        if scheduler:
            rows = run_on_cluster(settings, file, scheduler)
        else:
            rows = runs.run_all(run_of_grid, settings, workers=workers, file=file, name="runs")
        failures = []
    except runs.RunsFailed as error:
        rows, failures = error.rows, error.failures
    by_setting = {
        store.key_of(row["varied"]): {"status": "ok", "minutes": row["minutes"], "headline": row["headline"]}
        for row in rows
    }
    for setting, reason in failures:
        status = f"FAILED: {reason.splitlines()[0]}".replace("FAILED: RuntimeError: FAILED", "FAILED")
        by_setting[store.key_of(setting["varied"])] = {"status": status, "minutes": None, "headline": ""}
    return [combination | by_setting[store.key_of(combination)] for combination in varied]


def run_on_cluster(settings: list[dict[str, Any]], file: Path, scheduler: str) -> list[dict[str, Any]]:
    """Do on the workers of a Dask cluster what `runs.run_all` does for a grid.

    A run that dies with its worker is made again, up to three times.
    """
    failures = []
    with connected(scheduler) as client:
        path = store.prepare(file)
        rows = store.finished(path)
        waiting = [setting for setting in settings if store.key_of(setting) not in rows]
        code = runs.code_of(run_of_grid)
        calls = {client.submit(runs.make_entry, run_of_grid, setting, pure=False): setting for setting in waiting}
        for future in distributed.as_completed(list(calls)):
            setting = calls.pop(future)  # and the future with it, or Dask makes the run again when its worker goes
            error = future.exception()
            entry = runs.failed_entry(setting, error) if error else future.result()
            store.append(path, entry | code)
            if "error" in entry:
                failures.append((setting, entry["error"]))
            else:
                rows[store.key_of(setting)] = setting | entry["result"]
    done = [rows[store.key_of(setting)] for setting in settings if store.key_of(setting) in rows]
    if failures:
        raise runs.RunsFailed(done, failures)
    return done


def connected(scheduler: str) -> distributed.Client:
    """Return a client of the scheduler; SystemExit if it cannot be reached or a worker has several threads."""
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise SystemExit(f"--scheduler {scheduler} cannot be reached: {' '.join(str(error).split())}") from None
    threads = client.nthreads()
    if not threads or max(threads.values()) > 1:  # papermill changes the folder of its whole process
        client.close()
        raise SystemExit(f"--scheduler must have workers of one thread each (--nthreads 1); got {threads or 'none'}")
    return client


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown."""
    lines = [[*rows[0]], ["---"] * len(rows[0]), *([as_cell(value) for value in row.values()] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_cell(value: object) -> str:
    """Return the value as text for a cell of a Markdown table: on one line, and without a bare `|`."""
    text = "" if value is None else " ".join(str(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|")


def write_table(rows: list[dict[str, Any]], out: Path) -> None:
    """Write the rows as course.md and course.json."""
    for name, text in (("course.md", table(rows)), ("course.json", json.dumps(rows, indent=1))):
        with atomic_write(out / name) as draft:
            draft.write_text(text + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks that are asked for, and return 1 if one of them failed."""
    stamp.print_anywhere()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", metavar="NOTEBOOK")
    parser.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), dest="parameters")
    parser.add_argument("--out", type=Path, default=ROOT / "runs")
    parser.add_argument("--commit", action="store_true")
    parser.add_argument("--grid", nargs="+", action="append", default=[], metavar=("NAME", "VALUE"))
    shared = parser.add_mutually_exclusive_group()
    shared.add_argument("--workers", type=int, help="processes that share a grid; 1 if not given")
    shared.add_argument("--scheduler", help="address of a Dask scheduler, whose workers share a grid instead")
    args = parser.parse_args(arguments)
    if args.commit and args.parameters:
        parser.error("--commit goes with the default parameters: give it without -p")
    if args.grid and (len(args.notebooks) != 1 or args.commit or min(len(values) for values in args.grid) < 2):
        parser.error("--grid NAME VALUE ... goes with one NOTEBOOK, at least one value, and without --commit")
    if not args.grid and (args.workers is not None or args.scheduler is not None):
        parser.error("--workers and --scheduler say who shares the runs of a grid: give them with --grid")
    if args.workers is not None and args.workers < 1:
        parser.error(f"--workers must be at least 1; got {args.workers}")
    names = [name for name, *_ in [*args.parameters, *args.grid]]
    if len(set(names)) < len(names):
        parser.error(f"each parameter is given once, with -p or with --grid; got {', '.join(names)}")

    notebooks = stamp.notebooks(ROOT)
    names = [notebook.stem for notebook in notebooks]
    unknown = set(args.notebooks) - set(names)
    if unknown:
        raise SystemExit(f"NOTEBOOK must be one of {', '.join(names)}; got {', '.join(sorted(unknown))}")
    unnamed = {notebook.stem for notebook in notebooks if args.commit or notebook.parent.name != "problems"}
    chosen = [notebook for notebook in notebooks if notebook.stem in (args.notebooks or unnamed)]
    parameters = {notebook: check_parameters(notebook, dict(args.parameters)) for notebook in chosen}
    for name, *texts in args.grid:
        if len({check_parameters(chosen[0], {name: text})[name] for text in texts}) < len(texts):
            parser.error(f"--grid {name} must have values that differ; got {', '.join(texts)}")
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=args.out).close()
    except OSError as error:
        parser.error(f"--out must be a folder, or a new one; got {args.out}: {error.strerror}")

    if args.grid:
        rows = run_grid(chosen[0], parameters[chosen[0]], args.grid, args.out, args.workers or 1, args.scheduler)
    else:
        rows = [
            {"notebook": notebook.stem, "status": "not run yet", "minutes": None, "headline": ""} for notebook in chosen
        ]
        write_table(rows, args.out)
        for i, notebook in enumerate(chosen):
            rows[i] = run(notebook, parameters[notebook], args.out / notebook.name)
            write_table(rows, args.out)
    print(table(rows))
    all_ran = all(row["status"] == "ok" for row in rows)
    if args.commit and all_ran:
        figures = ROOT / "results" / "figures"
        figures.mkdir(parents=True, exist_ok=True)
        for notebook in chosen:
            nbformat.write(for_commit(nbformat.read(args.out / notebook.name, as_version=4)), notebook)
            for figure in (ROOT / "runs" / "figures").glob(f"{notebook.stem}*.svg"):
                shutil.copy(figure, figures)
    return 0 if all_ran else 1


if __name__ == "__main__":
    sys.exit(main())
