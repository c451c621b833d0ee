"""Results in a file of JSON lines, one for each run, that any number of processes add to."""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from torch import Tensor

from ponder_utils._files import DamagedFileError

Row = dict[str, Any]


class Store:
    """The runs of a file: {"setting": ..., "result" or "error": ..., ..., "crc32": of all before it} in each line.

    Lines are only ever added. What a killed process has left of one is cut off by the next process that adds.
    Without a path, all is kept in memory.
    """

    def __init__(self, path: Path | str | None) -> None:
        self.path = None if path is None else Path(path).resolve()  # a link to a file stays one
        self.results: dict[str, Row] = {}  # key of the setting -> setting | result; the first one counts
        self._bytes = self._lines = 0  # that have been read
        self._read()

    def add(self, entries: list[Row]) -> None:
        """Add the runs that no other process has added, and learn of those that others have."""
        if self.path is None:
            return self._take(entries)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self.path}.lock"), self.path.open("ab") as file:
            self._read()
            new = [entry for entry in entries if key_of(entry["setting"]) not in self.results]
            file.truncate(self._bytes)
            file.write("".join(f"{_sealed(json.dumps(entry))}\n" for entry in new).encode())
            file.flush()
            os.fsync(file.fileno())
        return self._read()

    def _read(self) -> None:
        """What was added since the last time."""
        if self.path is not None and self.path.exists():
            if self.path.stat().st_size < self._bytes:  # it was cut, or is another file
                self._bytes = self._lines = 0
            with self.path.open("rb") as file:
                file.seek(self._bytes)
                lines = file.read().split(b"\n")[:-1]
            for line in lines:
                self._lines += 1
                self._bytes += len(line) + 1
                self._take([self._entry(line)])

    def _entry(self, line: bytes) -> Row:
        try:
            entry = json.loads(line)
            text = json.dumps({name: entry[name] for name in entry if name != "crc32"})
            if _sealed(text).encode() != line.rstrip(b"\r"):
                raise ValueError("it does not fit its checksum")
            return entry
        except (ValueError, TypeError) as error:
            told = f"{self.path}, line {self._lines} is not a run as run_grid writes it: {error}"
            advice = "Delete the line, or the file, and what is missing is run again."
            raise DamagedFileError(f"{told}. {advice}") from error

    def _take(self, entries: list[Row]) -> None:
        for entry in entries:
            if "result" in entry:
                self.results.setdefault(key_of(entry["setting"]), entry["setting"] | entry["result"])


def _sealed(text: str) -> str:
    return f'{text[:-1]}, "crc32": "{zlib.crc32(text.encode()):08x}"}}'


def key_of(setting: Row | list[Row]) -> str:
    """One text for every setting, or group of settings."""
    return json.dumps(plain(setting), sort_keys=True)


def plain(value: Any) -> Any:
    """The same in the numbers, strings, lists and dicts that a file of JSON holds, as it will be read."""
    return json.loads(json.dumps(value, default=_as_python))


def _as_python(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray | Tensor):
        return value.tolist()
    raise TypeError(f"settings and results must be numbers, strings, lists and dicts; got a {type(value).__name__}")
