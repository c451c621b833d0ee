"""Environments that see some of this one's packages and no others, and the wheels that are installed there.

Nothing is fetched: with `make test-oldest` these are the oldest packages that requirements.txt allows.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HELPER = ("ponder_utils", "pyproject.toml", "README.md", "LICENSE")
COURSE = ("course-package", "ponder_course", "results", "benchmarks")


def copied(names, folder):
    """Copy these of the repository into the folder, since a build leaves others behind; return the folder."""
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("build", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def wheel_of(project, out):
    """Build the wheel of a project."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", str(out), str(project)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options], check=True, cwd=out)
    (path,) = out.glob("*.whl")
    return path


def new(folder, *seen):
    """The Python of a new environment that sees the packages in these folders, and writes to none of them."""
    venv.create(folder, with_pip=False)
    (packages_of(folder) / "seen.pth").write_text("".join(f"{path}\n" for path in seen))  # their own .pth are not read
    return folder / "bin" / "python"


def packages_of(folder):
    """Where an environment keeps packages of its own."""
    return Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))


def with_all(folder):
    """The Python of a new environment with all packages of this one, but those that are installed as editable."""
    return new(folder, sysconfig.get_path("purelib"))


def run(python, *arguments, cwd, **variables):
    """Run this Python, without what this one was given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JUPYTER", "COV"))}
    env = kept | {
        "HOME": str(cwd),
        "IPYTHONDIR": str(cwd / ".ipython"),
        "OMP_NUM_THREADS": "1",
        "TQDM_DISABLE": "1",
        **variables,
    }
    return subprocess.run([python, *arguments], cwd=cwd, env=env, capture_output=True, text=True)
