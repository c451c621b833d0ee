"""The door to stored runs: files of JSON lines, one line for each run, which `evidence/` writes and lessons draw."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from ponder_utils.checkpoints import DamagedFileError

Row = dict[str, Any]
PACKED = Path(__file__).parents[1] / "stored"  # in an installed wheel; see course-package/setup.py
CLONE = Path(__file__).resolve().parents[2]
FOLDERS = [PACKED, CLONE / "evidence" / "results", CLONE / "results", CLONE / "benchmarks"]


def at_hand(file: Path | str) -> Path:
    """Return the path of a file in `results` or `benchmarks`; where it is missing, of that in the wheel or the clone.

    So a notebook that was opened alone, as on Colab, or from another working directory, finds the stored runs. Other
    folders are taken at their word.
    """
    path = Path(file)
    if path.exists() or path.parent.name not in ("results", "benchmarks"):
        return path
    elsewhere = [folder / path.name for folder in FOLDERS]
    return next((other for other in elsewhere if other.exists()), path)


def read(file: Path) -> list[Row]:
    """Return the entries of a file, none if there is no file. DamagedFileError names a line that is not an entry."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if not isinstance(entry["setting"], dict) or not isinstance(entry["result"], dict):
                raise TypeError("setting and result must be dicts")
        except (ValueError, TypeError, KeyError) as why:
            advice = "Delete the line, and the run is made again."
            raise DamagedFileError(f"{file}, line {number} is not a run with its setting and result. {advice}") from why
        entries.append(entry)
    return entries


def finished(file: Path | None) -> dict[str, Row]:
    """Return setting and result in one row for each run of the file, by the key of its setting."""
    rows: dict[str, Row] = {}
    for entry in read(file) if file else []:
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
