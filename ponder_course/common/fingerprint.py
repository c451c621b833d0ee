"""The fingerprint of the code that makes a run: it changes when the code does, not with comments and docstrings."""

import ast
import functools
import hashlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2]  # of both packages
PACKAGES = ("ponder_utils", "ponder_course")
KEEPERS = ("runs.py", "store.py", "fingerprint.py")  # of the common room: they keep results, and make none


def fingerprint_of(run: Callable[..., Any]) -> str | None:
    """Return 16 hexadecimal digits for the code in `files_behind` it; None if the function has no file."""
    texts = [_read(path, path.stat().st_mtime_ns)[0] for path in files_behind(run) if path.name != "__init__.py"]
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()[:16] if texts else None


def files_behind(run: Callable[..., Any]) -> set[Path]:
    """Return the file of `run` and all files of the course that it imports, or that they do, but the keepers.

    None are behind a function that has no file: one that is defined in a notebook, say.
    """
    while isinstance(run, functools.partial):
        run = run.func
    code = getattr(inspect.unwrap(run), "__code__", None)
    if code is None or not Path(code.co_filename).is_file():
        return set()
    keepers = {FOLDER / "ponder_course" / "common" / name for name in KEEPERS}
    found = set[Path]()
    waiting = {Path(code.co_filename).resolve()}
    while waiting:
        path = waiting.pop()
        found.add(path)
        waiting |= _read(path, path.stat().st_mtime_ns)[1] - found - keepers
    return found


@functools.cache
def _read(path: Path, changed: int) -> tuple[str, set[Path]]:
    """Return the code of a file, last changed then, and the files of the course that it imports.

    The code is the syntax without docstrings, and without empty lists, which some versions of Python leave out.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    return re.sub(r"\w+=\[\](, )?", "", ast.dump(tree)).replace(", )", ")"), _imported(tree)


def _imported(tree: ast.Module) -> set[Path]:
    files: set[Path | None] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            files |= {_file(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            files |= {_file(f"{node.module}.{alias.name}") or _file(node.module) for alias in node.names}
    return {file for file in files if file}


def _file(module: str) -> Path | None:
    package, *rest = module.split(".")
    path = FOLDER.joinpath(package, *rest)
    candidates = [path.with_suffix(".py"), path / "__init__.py"] if package in PACKAGES else []
    return next((file for file in candidates if file.is_file()), None)
