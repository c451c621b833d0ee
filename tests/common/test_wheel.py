"""What Colab installs: both wheels, in an environment like its own, where torch and the like are there already.

Such an environment has the packages of this one (with `make test-oldest`, the oldest that requirements.txt allows), but
neither the repository nor the course.
"""

import json
import re
import subprocess
import sys
import zipfile

import nbformat
import pytest
from environments import COURSE, HELPER, ROOT, copied, packages_of, run, wheel_of, with_all

import ponder_utils

pytest.importorskip("resource", reason="not on Windows, where Colab is not either")

sys.path.insert(0, str(ROOT / "tools"))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of what both wheels are built from."""
    return copied((*HELPER, *COURSE), tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def wheel(sources, tmp_path_factory):
    """That of the course."""
    return wheel_of(sources / "course-package", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(sources, tmp_path_factory):
    """The Python of an environment like Colab's once a lesson's first cell has run, which changes no package there.

    It has this one's packages and a module google.colab, and was without the course. The cell fetches the repository,
    here one of this working tree, and what builds it from the registry.
    """
    folder = tmp_path_factory.mktemp("colab")
    colab = with_all(folder)
    (packages_of(folder) / "google" / "colab").mkdir(parents=True)
    (packages_of(folder) / "google" / "colab" / "__init__.py").touch()
    git = ["git", "-c", "user.name=reader", "-c", "user.email=reader@localhost"]
    subprocess.run([*git, "init", "-q", str(sources)], check=True)
    subprocess.run([*git, "-C", str(sources), "add", "-A"], check=True)
    subprocess.run([*git, "-C", str(sources), "commit", "-qm", "As it is"], check=True)
    cells = nbformat.read(ROOT / "notebooks" / "05_light_cone.ipynb", as_version=4).cells
    source = next(cell.source for cell in cells if cell.cell_type == "code")
    script = (
        "import google.colab\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        f"InteractiveShell.instance().run_cell({source!r}).raise_error()\n"
        "import ponder_utils, ponder_course.common.runs\nassert 'site-packages' in ponder_course.common.runs.__file__\n"
    )
    before = versions(colab, folder)
    done = run(colab, "-c", script, cwd=folder, PROJECT_GIT_URL=f"file://{sources}")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "ERROR" not in done.stderr + done.stdout
    assert versions(colab, folder) | before == versions(colab, folder)
    return colab


def versions(python, folder):
    listed = run(python, "-m", "pip", "list", "--format=json", cwd=folder)
    assert listed.returncode == 0, listed.stderr
    return {package["name"]: package["version"] for package in json.loads(listed.stdout)}


def test_the_wheel_holds_the_course_and_the_stored_runs(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "ponder_course").rglob("*.py")}
    assert wanted | {"ponder_course/py.typed", "ponder_course/LICENSE"} <= names
    files = [*(ROOT / "results").glob("*.jsonl"), *(ROOT / "results").glob("*.safetensors")]
    stored = {f"ponder_course/stored/{path.name}" for path in files}
    assert stored | {"ponder_course/stored/latest.json"} == {name for name in names if "/stored/" in name}
    folders = {"ponder_course", f"ponder_course-{ponder_utils.__version__}.dist-info"}
    assert {name.split("/")[0] for name in names} == folders
    assert wheel.stat().st_size < 5_000_000


EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=500, kernel_name="python3").execute()
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        print(output.get("text", ""))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["05_light_cone", "07_map_of_thought", "evidence/08_inference", "evidence/06_the_table"]
)
def test_a_notebook_opened_alone_works(name, installed, tmp_path):
    folder = tmp_path / "content"
    folder.mkdir()
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = re.sub(r'^BUDGET: str = "class"', 'BUDGET: str = "smoke"', cell.source, flags=re.M)
    nbformat.write(notebook, folder / "alone.ipynb")
    done = run(installed, "-c", EXECUTE, "alone.ipynb", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "No stored runs" not in done.stdout
