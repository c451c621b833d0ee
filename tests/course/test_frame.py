"""The house itself: notebooks, stamps and tools."""

import ast
import graphlib
import re
import sys
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

import ponder_utils
from ponder_course import LESSONS
from ponder_course.common import notebook

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import course  # noqa: E402
import sources  # noqa: E402
import stamp  # noqa: E402

NOTEBOOKS = stamp.notebooks()


def read(path):
    return nbformat.read(path, as_version=4)


def tags(cell):
    return cell.metadata.get("tags", [])


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@notebooks
def test_committed_as_executed_in_order_without_errors_and_with_default_parameters(path):
    notebook = read(path)
    assert [cell.execution_count for cell in code(notebook)] == list(range(1, len(code(notebook)) + 1))
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    assert not any("Warning" in output.get("text", "") for output in outputs)
    assert not any("injected-parameters" in tags(cell) for cell in notebook.cells)
    assert sum("headline" in tags(cell) for cell in notebook.cells) == 1
    assert "widgets" not in notebook.metadata
    assert not any("widget" in kind for output in outputs for kind in output.get("data", {}))
    assert path.stat().st_size <= 400 * 1024


@notebooks
def test_who_cannot_see_a_picture_hears_its_headline_and_caption(path):
    for cell in code(read(path)):
        headline = ""
        for output, after in pairwise([*cell.outputs, {}]):
            shown = output.get("data", {})
            if "image/png" in shown and path != stamp.ONE_PAGE:  # which draws by matplotlib alone
                caption = after["data"]["text/markdown"]
                assert output.metadata["image/png"]["alt"] == f"{headline}{caption}"
            text = shown.get("text/markdown", "")
            headline = f"{' '.join(text[2:-2].replace('<br>', ' ').split())}. " if text.startswith("**") else ""


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_equations_are_numbered_in_order_and_each_stands_beside_later_code(path):
    labels, in_code = [], []
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            labels += [int(label) for label in re.findall(r"\\tag\{(\d+)\}", cell.source)]
        else:
            ends = re.findall(r"# ((?:\(\d+\)(?:, )?)+)$", cell.source, re.M)
            in_code += [int(label) for label in re.findall(r"\d+", " ".join(ends))]
            assert set(in_code) <= set(labels)
    assert labels == [*range(1, len(labels) + 1)]
    assert set(in_code) == set(labels)


MODULES = {
    ".".join(path.relative_to(ROOT / folder).with_suffix("").parts): path
    for folder in ("", "evidence")
    for package in ("ponder_utils", "ponder_course", "ponder_evidence")
    for path in sorted((ROOT / folder / package).rglob("*.py"))
}


def floor_of(module):
    """A module imports from its own floor and lower ones: the idea, common room, lessons, scorecard, evidence."""
    package, *rooms = module.split(".")
    if package == "ponder_utils":
        return 0
    if package == "ponder_evidence":
        return 3 + len(LESSONS)
    if rooms and rooms[0] == "scorecard":
        return 2 + len(LESSONS)
    return 2 + LESSONS.index(rooms[0]) if rooms and rooms[0] in LESSONS else 1


def test_imports_flow_one_way_and_in_no_circle():
    needs = {}
    for module in [name for name in MODULES if not name.endswith("__init__")]:
        imported = set()
        for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        needs[module] = imported & MODULES.keys()
        for name in needs[module]:
            assert floor_of(name) <= floor_of(module), (module, name)
    assert [*graphlib.TopologicalSorter(needs).static_order()]  # or a CycleError names the files


def test_addresses_are_as_stamped():
    for path, content in stamp.stamped().items():
        assert path.read_bytes() == content, f"{path.name}: run `make stamp`"
    pages = {page: (ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "TEACHING.md")}
    for path in NOTEBOOKS:
        assert path.name in pages["README.md" if path.parent == ROOT / "notebooks" else "TEACHING.md"]
        assert stamp.COLAB_LINK.search(read(path).cells[0].source)[2] == path.name


def test_each_lesson_has_a_room_in_the_order_of_the_course():
    assert [path.stem[3:] for path in stamp.lessons()] == [*LESSONS]


def test_each_lesson_has_a_block_for_its_teacher():
    teaching = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
    for path in stamp.lessons():
        assert f"](notebooks/{path.name})" in teaching, f"TEACHING.md has no block of {path.stem}"


@pytest.mark.parametrize("path", stamp.lessons(), ids=lambda path: path.stem)
def test_a_lessons_module_holds_what_its_cells_show(path):
    text, module = sources.text_of(path), sources.module_of(path)
    assert (module.read_text(encoding="utf-8") if module.exists() else "") == text, "run `make sources`"
    assert not any("source" in tags(cell) and cell.metadata.get("jupyter") for cell in read(path).cells)


def parameters_of(path):
    """The name, type and comment of each parameter."""
    (cell,) = [cell for cell in read(path).cells if "parameters" in tags(cell)]
    return [re.fullmatch(r"(\w+): (\w+) = .+?  # (.+)", line).groups() for line in cell.source.splitlines()]


def choices_in(comment):
    """What a parameter's comment puts in quotes, if it begins with that: all that is allowed."""
    return re.findall(r'"(\w+)"', comment) if comment.startswith('"') else []


def checked(path, **given):
    """Run a notebook's parameters, take those that are given, and run what the next cell begins with: the check."""
    cells = code(read(path))
    (place,) = [i for i, cell in enumerate(cells) if "parameters" in tags(cell)]
    names = {"In": ["", cells[place].source], "notebook": notebook}
    exec(cells[place].source, names)
    names.update(given)
    first = ast.parse(cells[place + 1].source).body
    while isinstance(first[0], ast.ImportFrom) and first[0].module.startswith("ponder_course"):
        first = first[1:]
    call = ast.unparse(first[0])
    assert call.startswith("notebook.check_parameters(In, globals()"), f"{path.stem} begins with {call}"
    exec(call, names)


WRONG = {
    "SEEDS": [0, "3", 1.5, True],
    "WORKERS": [0, "2"],
    "SEED": [-1, "0"],
    "BUDGET": ["clas", ["class"], None],
    "TRAIN": ["two", None, 1],
    "RUN": ["unknown", None],
    "RESULTS": [5, None],
    "DATA": [5],
    "DEVICE": ["gpu", 0],
    "DATASET": ["MNIST", 5],
    "MODEL": ["gpt3", None],
    "TEXT": [5],
}


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path != stamp.ONE_PAGE], ids=lambda path: path.stem)
def test_bad_parameters_are_refused_in_a_line_before_anything_else(path):
    checked(path)
    for name, kind, comment in parameters_of(path):
        for value in choices_in(comment) if name != "DEVICE" else ["auto", "cpu"]:
            checked(path, **{name: value})
        assert kind == "int" or choices_in(comment) or name in ("RESULTS", "DATA", "TEXT")
        for value in WRONG[name]:
            with pytest.raises((TypeError, ValueError)) as refused:
                checked(path, **{name: value})
            message = str(refused.value)
            assert message.startswith(f"{name} ")
            assert repr(value) in message
            assert len(message.splitlines()) == 1


def little_notebook(tmp_path, last_cell):
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = nbformat.v4.new_notebook(metadata=kernel | {"language_info": {"name": "python"}})
    cells = [nbformat.v4.new_code_cell(source) for source in ("A: int = 1  # a number", last_cell)]
    notebook.cells = [nbformat.v4.new_markdown_cell("# Little"), *cells]
    notebook.cells[1].metadata.tags = ["parameters"]
    notebook.cells[2].metadata.tags = ["headline"]
    nbformat.write(notebook, tmp_path / "little.ipynb")
    return tmp_path / "little.ipynb"


def test_the_course_writes_notebook_and_page_and_what_is_committed_has_nothing_of_the_run(tmp_path):
    path = little_notebook(tmp_path, 'import ipywidgets\nprint("A is", A)\nipywidgets.IntSlider()')
    row = course.run(path, {"A": 5}, tmp_path / "out" / "little.ipynb")
    assert row | {"minutes": 0} == {"notebook": "little", "status": "ok", "minutes": 0, "headline": "A is 5"}
    assert "A is 5" in (tmp_path / "out" / "little.html").read_text()
    executed = read(tmp_path / "out" / "little.ipynb")
    assert "widgets" not in executed.metadata
    assert not any("widget" in kind for output in executed.cells[-1].outputs for kind in output.get("data", {}))
    folded = {"tags": ["check"], "cellView": "form", "jupyter": {"source_hidden": True}}
    executed.cells[-1].metadata |= folded
    made = course.for_commit(executed)
    assert made.metadata.keys() == {"kernelspec", "language_info"}
    assert made.cells[-1].metadata == folded
    assert all(cell.metadata.keys() <= {"tags"} for cell in made.cells[:-1])


def test_version_and_date_agree_wherever_they_stand():
    text = {
        name: (ROOT / name).read_text(encoding="utf-8") for name in ("CITATION.cff", "CHANGELOG.md", "pyproject.toml")
    }
    cited = re.search(r"^version: ([\w.]+)\ndate-released: ([\d-]+)$", text["CITATION.cff"], re.M).groups()
    released = re.findall(r"^## \[([\d.]+)\] - ([\d-]+)$", text["CHANGELOG.md"], re.M)
    assert cited == released[0]
    assert cited[0] == ponder_utils.__version__
    assert released == sorted(released, key=lambda release: [int(n) for n in release[0].split(".")], reverse=True)
    assert not re.search(r"^version *=", text["pyproject.toml"], re.M)  # it is read from the package
    evidence = (ROOT / "evidence" / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r'^version = "(.+)"$', evidence, re.M) == [cited[0]]
