"""Build the course, and put into its wheel what the notebooks draw, so that a notebook opened alone finds it.

The packages lie in the folder above, so only wheels are built, from a clone or from its address:

    pip install git+ADDRESS git+ADDRESS#subdirectory=course-package
"""

from pathlib import Path
from shutil import copy, rmtree

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parents[1]


class WithStoredRuns(build_py):
    """Copies stored runs, networks and the benchmark's table to where `ponder_course.common.store.at_hand` looks."""

    def run(self) -> None:
        """Build; an editable install needs no copies, since its notebooks stand beside the originals."""
        if self.editable_mode:
            super().run()
            return
        rmtree(self.build_lib, ignore_errors=True)  # or a lesson that was deleted would come back
        super().run()
        folder = Path(self.build_lib, "ponder_course", "stored")
        folder.mkdir()
        for pattern in ("evidence/results/*.jsonl", "results/*.safetensors", "benchmarks/latest.json"):
            for path in ROOT.glob(pattern):
                copy(path, folder)
        copy(ROOT / "LICENSE", folder.parent)


class WheelsOnly(sdist):
    """Refuses to pack sources, which would leave out those above this folder."""

    def run(self) -> None:
        """Say what to do."""
        raise SystemExit("ponder-course is built as a wheel alone: python -m build --wheel course-package")


setup(cmdclass={"build_py": WithStoredRuns, "sdist": WheelsOnly})
