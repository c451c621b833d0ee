"""The house itself: notebooks, stamps and tools."""

import ast
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import distributed
import nbformat
import pytest

import ponder_utils

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import course  # noqa: E402
import stamp  # noqa: E402

NOTEBOOKS = stamp.notebooks()
TAGS = {"parameters", "headline", "check", "preview"}
BUDGETS = ("smoke", "class", "paper")


def read(path):
    return nbformat.read(path, as_version=4)


def tags(cell):
    return cell.metadata.get("tags", [])


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def is_evidence(path):
    return path.parent.name == "evidence"


notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@notebooks
def test_exactly_one_cell_of_parameters_typed_and_commented(path):
    (cell,) = [cell for cell in read(path).cells if "parameters" in tags(cell)]
    for line in cell.source.splitlines():
        assert re.fullmatch(r"[A-Z_]+: (str|int|float|bool) = .+  # .+", line), line
    assert ("RUN: str" if is_evidence(path) else "BUDGET: str") in cell.source


@notebooks
def test_tags_are_of_the_known_kinds(path):
    assert {tag for cell in read(path).cells for tag in tags(cell)} <= TAGS
    assert sum("headline" in tags(cell) for cell in read(path).cells) == 1


@notebooks
def test_committed_as_executed_in_order_without_errors_and_with_default_parameters(path):
    notebook = read(path)
    assert [cell.execution_count for cell in code(notebook)] == list(range(1, len(code(notebook)) + 1))
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert not any("Warning" in output.get("text", "") for output in outputs)
    assert not any("injected-parameters" in tags(cell) for cell in notebook.cells)
    assert "widgets" not in notebook.metadata
    assert not any("widget" in kind for output in outputs for kind in output.get("data", {}))
    assert path.stat().st_size <= 400 * 1024


@notebooks
def test_every_picture_has_its_sentence(path):
    for cell in code(read(path)):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                alt = output.metadata["image/png"]["alt"]
                assert len(alt.split()) >= 8
                assert any(other.get("data", {}).get("text/markdown") == alt for other in cell.outputs)


@notebooks
def test_one_h1_and_no_heading_level_skipped(path):
    prose = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")
    levels = [len(hashes) for hashes in re.findall(r"^(#+) ", re.sub(r"```.*?```", "", prose, flags=re.S), re.M)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


ROOMS = [
    {"_check", "_files"},
    {"tasks"},
    {"cells", "encoders", "steps", "local", "halting", "rules"},
    {"pondernet", "act"},
    {"losses", "evaluation"},
    {"supervision"},
    {"training"},
    {"experiments"},
    {"notebook"},
]


def test_imports_flow_one_way():
    floor = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
    package = ROOT / "ponder_utils"
    for path in package.rglob("*.py"):
        room = path.relative_to(package).with_suffix("").parts[0]
        if room == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ponder_utils"):
                _, _, rest = node.module.partition(".")
                for imported in [rest.split(".")[0]] if rest else [its.name for its in node.names]:
                    assert floor[imported] <= floor[room], f"{path.name} imports {imported}"


def test_addresses_are_as_stamped():
    for path, content in stamp.stamped().items():
        assert path.read_bytes() == content, f"{path.name}: run `make stamp`"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in NOTEBOOKS:
        assert path.name in readme
        assert stamp.COLAB_LINK.search(read(path).cells[0].source)


def test_a_new_address_reaches_every_copy(monkeypatch):
    monkeypatch.setattr(stamp, "address", lambda: "https://github.com/somebody/elsewhere")
    for path, content in stamp.stamped().items():
        if path.suffix == ".png":
            continue
        text = content.decode()
        found = set(re.findall(r"github(?:\.com)?/([\w.-]+/[\w.-]+?)(?=[/\"\\])", text))
        assert "somebody/elsewhere" in found, path
        assert "your-account/learning-to-ponder" not in found, path


@notebooks
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["{}T", "smoke"], "has no parameter {}T; it has .*{}"),
        (["{}", "3"], "{} must be of type str; got 3"),
    ],
)
def test_the_course_refuses_parameters_before_it_runs_anything(path, given, message, tmp_path):
    name = "RUN" if is_evidence(path) else "BUDGET"
    given = [text.replace("{}", name) for text in given]
    command = [sys.executable, ROOT / "tools" / "course.py", path.stem, "-p", *given, "--out", tmp_path]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert re.search(message.replace("{}", name), result.stderr)
    assert not list(tmp_path.iterdir())


def little_notebook(tmp_path, last_cell, name="little"):
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = nbformat.v4.new_notebook(metadata=kernel | {"language_info": {"name": "python"}})
    cells = [
        "A: int = 1  # a number",
        "from ponder_utils.notebook import check_parameters\ncheck_parameters(In)",
        last_cell,
    ]
    notebook.cells = [nbformat.v4.new_markdown_cell("# Little"), *map(nbformat.v4.new_code_cell, cells)]
    notebook.cells[1].metadata.tags = ["parameters"]
    notebook.cells[3].metadata.tags = ["headline"]
    nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    return tmp_path / f"{name}.ipynb"


def test_the_course_writes_notebook_page_and_table(tmp_path, capfd):
    row = course.run(little_notebook(tmp_path, 'print("A is", A)'), {"A": 5}, tmp_path / "little.ipynb")
    assert row | {"minutes": 0} == {"notebook": "little", "status": "ok", "minutes": 0, "headline": "A is 5"}
    assert "A is 5" in (tmp_path / "little.html").read_text()
    assert course.table([row]).splitlines()[0] == "| notebook | status | minutes | headline |"
    said = "".join(capfd.readouterr())
    assert "little: 100%" in said
    assert "WARN" not in said.upper()


def test_a_failing_notebook_is_reported_and_its_page_written(tmp_path):
    row = course.run(little_notebook(tmp_path, "1 / 0"), {}, tmp_path / "little.ipynb")
    assert row["status"].startswith("FAILED")
    assert "ZeroDivisionError" in row["status"]
    assert "ZeroDivisionError" in (tmp_path / "little.html").read_text()


@pytest.fixture
def run_course(tmp_path, monkeypatch):
    """The course's command, on the notebooks in tmp_path/notebooks, with its results in tmp_path/runs."""
    (tmp_path / "notebooks").mkdir()
    monkeypatch.setattr(course, "ROOT", tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["course.py", *arguments, "--out", str(tmp_path / "runs")])
        return course.main()

    return run


def of_yesterday(runs, *names):
    runs.mkdir()
    for name in (*(f"{stem}.{kind}" for stem in names for kind in ("html", "ipynb")), "course.md", "course.json"):
        (runs / name).write_text("ok, yesterday")


def test_a_kernel_that_dies_is_a_failure_and_stops_no_other_notebook(tmp_path, run_course):
    runs = tmp_path / "runs"
    little_notebook(tmp_path / "notebooks", 'print("so far")\nimport os\nos.kill(os.getpid(), 9)', "1_dies")
    little_notebook(tmp_path / "notebooks", f"print(open({str(runs / 'course.md')!r}).read())", "2_reads_the_table")
    little_notebook(tmp_path / "notebooks", "print(A)", "3_good")
    of_yesterday(runs, "1_dies", "2_reads_the_table", "3_good")
    assert run_course() == 1
    rows = json.loads((runs / "course.json").read_text())
    died = "FAILED: the kernel died: often out of memory"
    assert [row["status"] for row in rows] == [died, "ok", "ok"]
    meanwhile = rows[1]["headline"]
    assert re.search(rf"1_dies \| {died} \|", meanwhile)
    assert "| 2_reads_the_table | not run yet |  |  |\n| 3_good | not run yet |  |  |" in meanwhile
    assert (runs / "course.md").read_text() == course.table(rows) + "\n"
    assert died in (runs / "1_dies.html").read_text()
    assert "so far" in (runs / "1_dies.html").read_text()
    assert not any("yesterday" in path.read_text() for path in runs.iterdir())
    assert len(list(runs.iterdir())) == 8


def test_a_kernel_that_does_not_start_leaves_nothing_of_yesterday(tmp_path, run_course, monkeypatch):
    little_notebook(tmp_path / "notebooks", "print(A)")
    of_yesterday(tmp_path / "runs", "little")
    (tmp_path / "sitecustomize.py").write_text("import os\nos._exit(3)\n")  # Python runs it first
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert run_course() == 1
    (row,) = json.loads((tmp_path / "runs" / "course.json").read_text())
    assert row["status"].startswith("FAILED: Kernel died before replying")
    assert not any("yesterday" in path.read_text() for path in (tmp_path / "runs").iterdir())


def test_a_course_that_is_killed_leaves_a_table_that_is_true(tmp_path, run_course, monkeypatch):
    for name in ("1_runs", "2_is_killed"):
        little_notebook(tmp_path / "notebooks", "print(A)", name)
    of_yesterday(tmp_path / "runs", "1_runs", "2_is_killed")

    def killed_at_2(notebook, parameters, executed):
        if notebook.stem == "2_is_killed":
            raise KeyboardInterrupt
        return {"notebook": notebook.stem, "status": "ok", "minutes": 0.1, "headline": "1"}

    monkeypatch.setattr(course, "run", killed_at_2)
    with pytest.raises(KeyboardInterrupt):
        run_course()
    rows = json.loads((tmp_path / "runs" / "course.json").read_text())
    assert [row["status"] for row in rows] == ["ok", "not run yet"]
    assert (tmp_path / "runs" / "course.md").read_text() == course.table(rows) + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workers", "2"], "--workers and --scheduler say who shares the runs of a grid: give them with --grid"),
        (["--scheduler", "tcp://head:8786"], "give them with --grid"),
        (["--grid", "A", "1", "2", "--workers", "0"], "--workers must be at least 1; got 0"),
        (["--grid", "A", "1", "--workers", "2", "--scheduler", "tcp://head:8786"], "not allowed with argument"),
        (["-p", "A", "1", "-p", "A", "2"], "each parameter is given once, with -p or with --grid; got A, A"),
        (["-p", "A", "1", "--grid", "A", "2"], "each parameter is given once, with -p or with --grid; got A, A"),
        (["--grid", "A", "1", "--grid", "A", "2"], "each parameter is given once, with -p or with --grid; got A, A"),
    ],
)
def test_options_that_do_not_go_together_are_refused_in_a_sentence(arguments, message, tmp_path, run_course, capsys):
    little_notebook(tmp_path / "notebooks", "print(A)")
    with pytest.raises(SystemExit) as refused:
        run_course("little", *arguments)
    assert refused.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_bars_and_line_breaks_do_not_break_the_table():
    rows = [{"A": "a|b", "status": "FAILED: KeyError: 'x\\|y'", "minutes": None, "headline": "one\ntwo \u2028three"}]
    line = course.table(rows).split("\n")[2:]
    assert line == [r"| a\|b | FAILED: KeyError: 'x\\\|y' |  | one two three |"]


@pytest.fixture
def scheduler(request):
    """The address of a Dask scheduler with two workers, or none."""
    if not request.param:
        yield None
        return
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("scheduler", [False, True], indirect=True)
def test_a_notebook_runs_once_for_every_combination_of_a_grid_and_not_again(scheduler, tmp_path):
    little = little_notebook(tmp_path, 'print("A is", A)')
    rows = course.run_grid(little, {}, [["A", "1", "3"]], tmp_path / "out", 1, scheduler)
    assert [(row["A"], row["headline"]) for row in rows] == [(1, "A is 1"), (3, "A is 3")]
    assert {path.name for path in (tmp_path / "out").glob("*.html")} == {"little,A=1.html", "little,A=3.html"}
    before = (tmp_path / "out" / "little,A=1.html").stat().st_mtime_ns
    assert course.run_grid(little, {}, [["A", "1", "3", "4"]], tmp_path / "out", 1, scheduler)[:2] == rows
    assert (tmp_path / "out" / "little,A=1.html").stat().st_mtime_ns == before


def test_an_edited_notebook_is_run_again(tmp_path):
    for text in ("A is", "A was"):
        little = little_notebook(tmp_path, f'print("{text}", A)')
        (row,) = course.run_grid(little, {}, [["A", "1"]], tmp_path / "out", 1, None)
        assert row["headline"] == f"{text} 1"


def test_a_grid_is_checked_before_anything_runs(tmp_path):
    with pytest.raises(SystemExit, match="A must be of type int; got 'x'"):
        course.run_grid(little_notebook(tmp_path, "A"), {}, [["A", "1", "x"]], tmp_path / "out", 1, None)
    assert not (tmp_path / "out").exists()


def test_a_run_that_fails_has_its_line_in_the_table_of_the_grid_and_stops_no_other(tmp_path, run_course, capsys):
    little_notebook(tmp_path / "notebooks", 'print("A is", 1 / (A - 2))')
    assert run_course("little", "--grid", "A", "1", "2", "3") == 1
    lines = capsys.readouterr().out.splitlines()[-5:]
    assert lines[0] == "| A | status | minutes | headline |"
    assert re.fullmatch(r"\| 1 \| ok \| [\d.]+ \| A is -1.0 \|", lines[2])
    assert re.fullmatch(r"\| 2 \| FAILED in cell \d: ZeroDivisionError: .*by zero \|  \|  \|", lines[3])
    assert re.fullmatch(r"\| 3 \| ok \| [\d.]+ \| A is 1.0 \|", lines[4])
    assert (tmp_path / "runs" / "little_grid.jsonl").exists()


def test_a_grid_that_ran_whole_ends_well(tmp_path, run_course):
    little_notebook(tmp_path / "notebooks", "print(A)")
    assert run_course("little", "--grid", "A", "1", "--workers", "1") == 0


def test_plain_papermill_with_an_unknown_parameter_fails_too(tmp_path):
    source = little_notebook(tmp_path, "print(A)")
    command = [sys.executable, "-m", "papermill", source, tmp_path / "out.ipynb", "-p", "B", "1"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "unknown parameter B; this notebook has A" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if "RESULTS: str" in path.read_text()], ids=lambda p: p.stem
)
def test_without_stored_results_a_notebook_runs_and_says_what_is_missing(path, tmp_path):
    given = {"RUN": "stored"} if is_evidence(path) else {"BUDGET": "smoke"}
    given["RESULTS"] = str(tmp_path / "deleted")
    if "DATASET: str" in path.read_text():
        given["DATASET"] = "digits"
    assert course.run(path, given, tmp_path / path.name)["status"] == "ok"
    outputs = [output for cell in code(read(tmp_path / path.name)) for output in cell.outputs]
    told = "".join(output.text for output in outputs if output.output_type == "stream")
    assert f"No stored runs at {tmp_path / 'deleted'}" in told
    assert not list(tmp_path.glob("deleted*"))


def test_results_are_small_and_say_what_made_them():
    stores = list((ROOT / "results").glob("*.jsonl"))
    assert stores
    for path in stores:
        assert path.stat().st_size < 300_000
        for line in path.read_text().splitlines():
            assert set(json.loads(line)) == {"setting", "result", "seconds", "made_with", "crc32"}


def test_importing_the_package_imports_nothing_heavy_but_torch():
    script = "import sys, torch\nbefore = {*sys.modules}\nimport ponder_utils\nprint(*sys.modules.keys() - before)"
    new = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    heavy = r"torchvision|matplotlib|IPython|ipywidgets|pandas|sklearn|scipy|joblib|loky|distributed|tqdm\.notebook"
    assert "ponder_utils" in new
    assert not [name for name in new if re.fullmatch(heavy, name)]


def test_the_version_is_that_of_the_package_wherever_it_stands():
    text = "\n".join((ROOT / name).read_text() for name in ("CITATION.cff", "pyproject.toml"))
    assert set(re.findall(r'^version[:=\s]+"?([\w.]+)"?$', text, re.M)) == {ponder_utils.__version__}


def test_widgets_leave_a_line_of_text_and_no_state(tmp_path):
    path = little_notebook(tmp_path, "import ipywidgets\nipywidgets.IntSlider()")
    (tmp_path / "out").mkdir()
    course.run(path, {}, tmp_path / "out" / "little.ipynb")
    executed = read(tmp_path / "out" / "little.ipynb")
    assert "widgets" not in executed.metadata
    (output,) = executed.cells[-1].outputs
    assert set(output.data) == {"text/plain"}
    assert output.data["text/plain"].startswith("Sliders appear here")
