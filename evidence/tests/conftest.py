import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path.append(str(TESTS))  # references, and small networks of the lessons
sys.path += [str(folder) for folder in sorted(TESTS.iterdir()) if folder.is_dir()]

from settings import _seeded  # noqa: E402, F401
