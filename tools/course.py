"""Execute notebooks with papermill into runs/: the notebook, a page of it, and a table of what ran.

    python tools/course.py [NOTEBOOK ...] [-p NAME VALUE ...] [--out FOLDER] [--commit]

With --commit the executed notebooks also replace those in the repository, ready to be committed: default parameters
only, without papermill's notes and the state of widgets. Its figures for slides go to results/figures, as SVG.

NOTEBOOK is a name in notebooks/, notebooks/problems/ or evidence/notebooks/, such as 03_parity; none means all lessons
and evidence, and with --commit the problem sheets, too. A VALUE is read as the type that the notebook declares, so that
a folder may be called 2024. A parameter that is not declared, or of another type, is refused before anything is
executed. The table is written before the first notebook and after each, so that it is right even if this command is
killed.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
import papermill
import stamp
import zmq
from jupyter_client.manager import KernelManager
from nbclient.exceptions import DeadKernelError
from nbconvert import HTMLExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from traitlets.config import Config

from ponder_course.common.notebook import KINDS, check_parameter
from ponder_utils._check import check_choice
from ponder_utils.checkpoints import atomic_write

ROOT = Path(__file__).resolve().parents[1]


def read_value(text: str, kind: str = "str") -> object:
    """Return the value that a text gives to a parameter of a kind; the text itself where it is none of that kind."""
    try:
        return int(text) if kind == "int" else text
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
                output.data["text/plain"] = "Sliders appear here when the cell runs."
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
    parser = stamp.parser_of(__doc__)
    parser.add_argument("notebooks", nargs="*", metavar="NOTEBOOK")
    parser.add_argument("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), dest="parameters")
    parser.add_argument("--out", type=Path, default=ROOT / "runs")
    parser.add_argument("--commit", action="store_true")
    args = parser.parse_args(arguments)
    if args.commit and args.parameters:
        parser.error("--commit goes with the default parameters: give it without -p")
    names = [name for name, _ in args.parameters]
    if len(set(names)) < len(names):
        parser.error(f"each parameter is given once; got {', '.join(names)}")

    notebooks = stamp.notebooks(ROOT)
    names = [notebook.stem for notebook in notebooks]
    unknown = set(args.notebooks) - set(names)
    if unknown:
        raise SystemExit(f"NOTEBOOK must be one of {', '.join(names)}; got {', '.join(sorted(unknown))}")
    unnamed = {notebook.stem for notebook in notebooks if args.commit or notebook.parent.name != "problems"}
    chosen = [notebook for notebook in notebooks if notebook.stem in (args.notebooks or unnamed)]
    parameters = {notebook: check_parameters(notebook, dict(args.parameters)) for notebook in chosen}
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=args.out).close()
    except OSError as error:
        parser.error(f"--out must be a folder, or a new one; got {args.out}: {error.strerror}")

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
