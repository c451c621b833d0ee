"""The fingerprint of the code that makes a run: it changes when the code does, not with comments and docstrings."""

import ast
import functools
import hashlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1]  # of both packages
PACKAGES = ("ponder_utils", "ponder_course")
KEEPERS = [FOLDER / "ponder_course" / name for name in ("runs.py", "store.py", "fingerprint.py")]  # make no result


def fingerprint_of(run: Callable[..., Any]) -> str | None:
    """Return 16 hexadecimal digits for the file of `run` and all files of the course that it imports, or that they do.

    None if the function has no file: one that is defined in a notebook, say.
    """
    while isinstance(run, functools.partial):
        run = run.func
    code = getattr(inspect.unwrap(run), "__code__", None)
    if code is None or not Path(code.co_filename).is_file():
        return None
    texts: dict[Path, str] = {}
    waiting = {Path(code.co_filename).resolve()}
    while waiting:
        path = waiting.pop()
        texts[path], imported = _read(path, path.stat().st_mtime_ns)
        waiting |= imported - texts.keys()
    makers = [path for path in texts if path.name != "__init__.py" and path not in KEEPERS]
    code_of_files = sorted(texts[path] for path in makers)
    return hashlib.sha256("\n".join(code_of_files).encode()).hexdigest()[:16]


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
