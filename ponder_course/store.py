"""Results in a file of JSON lines, one line for each run, to which several processes may append."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from torch import Tensor

from ponder_utils.checkpoints import DamagedFileError

Row = dict[str, Any]
PACKED = Path(__file__).with_name("stored")  # in an installed wheel; see setup.py


def prepare(file: Path | str) -> Path:
    """Return the path of a file that can be written; a link is followed. OSError if it cannot."""
    path = Path(file).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.open("ab").close()
    return path


def at_hand(file: Path | str) -> Path:
    """Return the path of a file in `results` or `benchmarks`; where it is missing, of that in the installed wheel.

    So a notebook that was opened alone, as on Colab, finds the stored runs. Other folders are taken at their word.
    """
    path = Path(file)
    packed = PACKED / path.name
    return packed if path.parent.name in ("results", "benchmarks") and packed.exists() and not path.exists() else path


def append(file: Path, entry: Row) -> None:
    """Add a line to the file, and cut off the piece of a line that a killed process has left at its end."""
    with FileLock(f"{file}.lock"), file.open("a+b") as opened:
        opened.seek(0)
        whole, newline, piece = opened.read().rpartition(b"\n")
        if _entry(piece):  # an editor has taken the last newline away
            opened.write(b"\n")
        elif piece:
            opened.truncate(len(whole + newline))
        opened.write(json.dumps(entry).encode() + b"\n")
        opened.flush()
        os.fsync(opened.fileno())


def read(file: Path) -> list[Row]:
    """Return the entries of a file, none if there is no file. DamagedFileError names a line that is not an entry."""
    *lines, piece = file.read_bytes().split(b"\n") if file.exists() else [b""]
    entries = []
    for number, line in enumerate([*lines, piece] if _entry(piece) else lines, 1):
        entry = _entry(line)
        if entry is None:
            advice = "Delete the line, or the file, and what is missing is run again."
            raise DamagedFileError(f"{file}, line {number} is not a run as run_all writes it. {advice}")
        entries.append(entry)
    return entries


def _entry(line: bytes) -> Row | None:
    """Return the entry of a line, None if it holds none."""
    try:
        entry = json.loads(line)
        whole = isinstance(entry["setting"], dict) and (isinstance(entry.get("result"), dict) or "error" in entry)
    except (ValueError, TypeError, KeyError):
        return None
    return entry if whole else None


def finished(file: Path | None) -> dict[str, Row]:
    """Return setting and result in one row for each run of the file that has not failed, by the key of its setting."""
    rows: dict[str, Row] = {}
    for entry in read(file) if file else []:
        if "result" in entry:
            rows.setdefault(key_of(entry["setting"]), entry["setting"] | entry["result"])
    return rows


def key_of(setting: Row) -> str:
    """Return one text for each setting, whatever the order of its names."""
    return json.dumps(plain(setting), sort_keys=True)


def plain(value: Any) -> Any:
    """Return the value as JSON will give it back: numbers, strings, lists and dicts. TypeError for other types."""

    def as_python(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray | Tensor):
            return value.tolist()
        raise TypeError(f"settings and results must be numbers, strings, lists and dicts; got a {type(value).__name__}")

    return json.loads(json.dumps(value, default=as_python))
