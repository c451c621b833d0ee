"""Results in a file of JSON lines, one line for each run, to which several processes may append."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from torch import Tensor

from ponder_utils.checkpoints import DamagedFileError, atomic_write

Row = dict[str, Any]
PACKED = Path(__file__).parents[1] / "stored"  # in an installed wheel; see course-package/setup.py
CLONE = Path(__file__).resolve().parents[2]


def prepare(file: Path | str) -> Path:
    """Return the whole path of a file that can be written, new ones with the wheel's runs. OSError if it cannot."""
    packed, path = (Path(os.path.realpath(found)) for found in (at_hand(file), file))
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        if packed != path and not path.exists():
            with atomic_write(path) as draft:
                shutil.copyfile(packed, draft)
    _write(path, b" " * 2**16)  # is there room for a row?
    _write(path, b"")
    return path


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Keep other processes from writing to the file for the length of a block; an OSError there names the file."""
    try:
        Path(f"{file}.lock").touch()  # FileLock would wait for ever where no file can be made
        with FileLock(f"{file}.lock"):
            yield
    except OSError as error:
        reason = f"no run can be stored ({error.filename or file}): {error.strerror or error}"
        raise OSError(error.errno, reason, str(file)) from error


def at_hand(file: Path | str) -> Path:
    """Return the path of a file in `results` or `benchmarks`; where it is missing, of that in the wheel or the clone.

    So a notebook that was opened alone, as on Colab, or from another working directory, finds the stored runs. Other
    folders are taken at their word.
    """
    path = Path(file)
    if path.exists() or path.parent.name not in ("results", "benchmarks"):
        return path
    elsewhere = [PACKED / path.name, CLONE / path.parent.name / path.name]
    return next((other for other in elsewhere if other.exists()), path)


def append(file: Path, entry: Row) -> None:
    """Add a line to the file. DamagedFileError if what it ends with is no run, OSError if it cannot be written."""
    _write(file, json.dumps(entry).encode() + b"\n")


def _write(file: Path, line: bytes) -> None:
    """Add a line, and cut off what stands after the last: a piece that a killed process has left, or spaces."""
    with _locked(file), file.open("a+b") as opened:
        opened.seek(0)
        whole, newline, piece = opened.read().rpartition(b"\n")
        if _entry(piece, file, (whole + newline).count(b"\n") + 1, last=True):  # its newline was taken by an editor
            opened.write(b"\n")
        else:
            opened.truncate(len(whole + newline))
        opened.write(line)
        opened.flush()
        os.fsync(opened.fileno())


def read(file: Path) -> list[Row]:
    """Return the entries of a file, none if there is no file. DamagedFileError names a line that is not an entry."""
    lines = file.read_bytes().split(b"\n") if file.exists() else [b""]
    entries = [_entry(line, file, number, last=number == len(lines)) for number, line in enumerate(lines, 1)]
    return [entry for entry in entries if entry]


def _entry(line: bytes, file: Path, number: int, *, last: bool = False) -> Row | None:
    """Return the entry of a line, None for what a killed process may leave in the last; DamagedFileError for others."""
    start = b'{"setting": {'
    try:
        entry = json.loads(line)
        result = isinstance(entry["result"], dict) if "result" in entry else isinstance(entry["error"], str)
        if result and isinstance(entry["setting"], dict):
            return entry
    except (ValueError, RecursionError):
        if last and (not line.strip() or line[: len(start)] == start[: len(line)]):
            return None
    except (TypeError, KeyError):
        pass
    advice = "Delete the line, or the file, and what is missing is run again."
    raise DamagedFileError(f"{file}, line {number} is not a run as run_all writes it. {advice}")


def finished(file: Path | None) -> dict[str, Row]:
    """Return setting and result in one row for each run of the file that has not failed, by the key of its setting."""
    rows: dict[str, Row] = {}
    for entry in read(file) if file else []:
        if "result" in entry:
            rows.setdefault(key_of(entry["setting"]), entry["setting"] | entry["result"])
    return rows


def key_of(setting: Row) -> str:
    """Return one text for each setting, whatever the order of its names; 1 and 1.0 are one number, True is another."""
    text = json.dumps(plain(setting, "setting"))
    return json.dumps(json.loads(text, parse_float=_number), sort_keys=True)


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def plain(value: Any, name: str = "value") -> Any:
    """Return a copy of the value as JSON will give it back: numbers, strings, lists and dicts.

    TypeError says where in the value, called by this name, there are others, or keys that JSON would confuse.
    """
    if isinstance(value, np.generic | np.ndarray | Tensor):
        value = value.tolist()
    if isinstance(value, dict):
        parts: Row = {}
        for key, part in value.items():
            text = plain(key, f"a name in {name}")
            text = text if isinstance(text, str) else json.dumps(text)
            if text in parts or isinstance(key, tuple) or key != key:
                raise TypeError(f"names must be strings or numbers that differ as text; got {key!r} in {name}")
            parts[text] = plain(part, f"{name}[{key!r}]")
        return parts
    if isinstance(value, list | tuple):
        return [plain(part, f"{name}[{n}]") for n, part in enumerate(value)]
    if value is None or isinstance(value, int | float | str):
        return json.loads(json.dumps(value))
    kinds = "numbers, strings, lists and dicts"
    raise TypeError(f"settings and results must be {kinds}; got a {type(value).__name__} for {name}")
