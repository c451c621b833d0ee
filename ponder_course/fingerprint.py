"""The fingerprint of the code that makes a run: it changes when the code does, but not with comments or docstrings."""

import ast
import functools
import hashlib
import inspect
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGES = ("ponder_utils", "ponder_course")


def fingerprint_of(run: Callable[..., Any]) -> str | None:
    """Return 16 hexadecimal digits for the file of `run` and all files of the course that it imports, or that they do.

    None if the function has no file: one defined in a notebook, say.
    """
    while isinstance(run, functools.partial):
        run = run.func
    code = getattr(inspect.unwrap(run), "__code__", None)
    if code is None or not Path(code.co_filename).is_file():
        return None
    trees: dict[Path, ast.Module] = {}
    waiting = [Path(code.co_filename).resolve()]
    while waiting:
        path = waiting.pop()
        if path not in trees:
            trees[path] = ast.parse(path.read_text(encoding="utf-8"))
            waiting += _imported(trees[path])
    dumps = sorted(_dump(tree) for tree in trees.values())
    return hashlib.sha256("\n".join(dumps).encode()).hexdigest()[:16]


def _imported(tree: ast.Module) -> list[Path]:
    """Return the files of the course that a file imports."""
    files: list[Path] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            files += [file for alias in node.names for file in _files(alias.name, None)]
        elif isinstance(node, ast.ImportFrom) and node.module:
            files += [file for alias in node.names for file in _files(node.module, alias.name)]
    return files


def _files(module: str, name: str | None) -> list[Path]:
    """Return the file that `import module` or `from module import name` means, none if it is not of the course.

    An __init__ only passes names on: the file that defines the name is meant, or all of them where none is named.
    """
    spec = find_spec(module) if module.split(".")[0] in PACKAGES else None
    if spec is None or spec.origin is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)]
    if name and find_spec(f"{module}.{name}"):
        return _files(f"{module}.{name}", None)
    files: list[Path] = []
    for node in ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            files += [
                file for alias in node.names if name in (None, alias.name) for file in _files(node.module, alias.name)
            ]
    return files


def _dump(node: Any) -> str:
    """Return a syntax tree as text, the same in every version of Python, unlike ast.dump; without docstrings."""
    if isinstance(node, list):
        return f"[{', '.join(_dump(part) for part in node)}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
        fields["body"] = node.body[1:]
    return f"{type(node).__name__}({', '.join(f'{name}={_dump(fields[name])}' for name in fields if fields[name])})"
