"""What is published: the wheel, alone, in an environment like Colab's, where torch and the like are there already.

Such an environment has the packages of this one (with `make test-oldest`, the oldest that requirements.txt allows), but
neither the repository nor the course.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement

import ponder_utils

resource = pytest.importorskip("resource", reason="not on Windows, where Colab is not either")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import stamp  # noqa: E402

PARTS = ("ponder_utils", "ponder_course", "results", "benchmarks", "pyproject.toml", "setup.py", "MANIFEST.in")
FILES = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "LICENSE-TEXT", "requirements.txt")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of what the wheel is built from, since a build leaves folders behind."""
    folder = tmp_path_factory.mktemp("sources")
    for name in (*PARTS, *FILES):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(sources, tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", str(out), str(sources)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options], check=True, cwd=out)
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def colab(tmp_path_factory):
    """The Python of an environment with this one's packages, a module google.colab, and without the course."""
    folder = tmp_path_factory.mktemp("colab")
    venv.create(folder, with_pip=False)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (own / "preinstalled.pth").write_text(sysconfig.get_path("purelib") + "\n")  # whose own .pth files are not read
    (own / "google" / "colab").mkdir(parents=True)
    (own / "google" / "colab" / "__init__.py").touch()
    return folder / "bin" / "python"


def run(python, *arguments, cwd, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JUPYTER", "COV"))}
    env = kept | {
        "HOME": str(cwd),
        "IPYTHONDIR": str(cwd / ".ipython"),
        "OMP_NUM_THREADS": "1",
        "TQDM_DISABLE": "1",
        **variables,
    }
    return subprocess.run([python, *arguments], cwd=cwd, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def installed(colab, wheel, tmp_path_factory):
    """That Python once the wheel is installed, with all it requires: nothing is fetched."""
    folder = tmp_path_factory.mktemp("install")
    before = versions(colab, folder)
    done = run(
        colab, "-m", "pip", "install", "--no-index", "-q", "--force-reinstall", "--no-deps", str(wheel), cwd=folder
    )
    assert done.returncode == 0, done.stderr
    checked = run(colab, "-m", "pip", "install", "--no-index", "--dry-run", str(wheel), cwd=folder)
    assert checked.returncode == 0, checked.stderr
    assert versions(colab, folder) | before == versions(colab, folder)  # of all that was there
    return colab


def versions(python, folder):
    listed = run(python, "-m", "pip", "list", "--format=json", cwd=folder)
    assert listed.returncode == 0, listed.stderr
    return {package["name"]: package["version"] for package in json.loads(listed.stdout)}


def test_the_wheel_holds_the_packages_and_the_stored_runs(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for package in ("ponder_utils", "ponder_course"):
        wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / package).rglob("*.py")}
        assert wanted <= names
    stored = {f"ponder_course/stored/{path.name}" for path in (ROOT / "results").glob("*.jsonl")}
    assert stored | {"ponder_course/stored/latest.json"} == {name for name in names if "/stored/" in name}
    assert {name.split("/")[0] for name in names} == {
        "ponder_utils", "ponder_course", f"ponder_utils-{ponder_utils.__version__}.dist-info",
    }  # fmt: skip
    assert wheel.stat().st_size < 5_000_000


def test_it_asks_for_lower_bounds_only(wheel):
    """An upper bound would take away a package that Colab's kernel has imported already."""
    with zipfile.ZipFile(wheel) as opened:
        text = opened.read(f"ponder_utils-{ponder_utils.__version__}.dist-info/METADATA").decode()
    required = [Requirement(line) for line in HeaderParser().parsestr(text).get_all("Requires-Dist", [])]
    plain = [requirement for requirement in required if "extra" not in str(requirement.marker)]
    assert {requirement.name for requirement in plain} >= {"torch", "numpy", "ipywidgets"}
    for requirement in plain:
        assert {part.operator for part in requirement.specifier} <= {">="}, requirement


@pytest.mark.parametrize("path", stamp.notebooks(), ids=lambda path: path.stem)
def test_the_first_cell_installs_without_a_clone(path):
    first = next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    assert first.splitlines()[-1] == "    %pip install -q git+{url}"


def test_what_is_not_in_the_folder_comes_from_the_wheel(installed, tmp_path):
    script = (
        "from pathlib import Path\n"
        "import ponder_course.common.runs as runs, ponder_course.alone_and_together.inference as inference\n"
        "assert 'site-packages' in runs.__file__\n"
        "experiment = inference.EXPERIMENTS['main']\n"
        "print(len(experiment.rows('stored', '../results')), len(runs.stored('elsewhere/08_inference_main.jsonl')))\n"
        "print(len(experiment.rows('class', 'results')), Path('results/08_inference_main.jsonl').exists())\n"
        "from ponder_course.common.store import prepare, read\n"
        "print(len(read(prepare('results/08_inference_main.jsonl'))))\n"
        "Path('results/08_inference_main.jsonl').write_text('')\n"
        "print(len(runs.stored('results/08_inference_main.jsonl')))\n"
    )
    done = run(installed, "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    n_runs = len((ROOT / "results" / "08_inference_main.jsonl").read_text().splitlines())
    assert done.stdout.splitlines() == [
        "No stored runs at elsewhere/08_inference_main.jsonl: only the runs of this session are shown.",
        f"{n_runs} 0",
        f"{n_runs} False",  # none was missing, so nothing was written
        str(n_runs),
        "No stored runs at results/08_inference_main.jsonl: only the runs of this session are shown.",
        "0",
    ]


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


@pytest.mark.slow
def test_the_first_cell_takes_less_than_a_minute_and_changes_no_package(colab, sources, tmp_path):
    """It fetches the repository, here one of this working tree, and what builds it from the registry."""
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
    before = versions(colab, tmp_path)
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(colab, "-c", script, cwd=tmp_path, PROJECT_GIT_URL=f"file://{sources}")
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr + done.stdout
    assert end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime < 60
    assert "ERROR" not in done.stderr + done.stdout
    assert versions(colab, tmp_path) | before == versions(colab, tmp_path)
