"""Files that are written whole or not at all, and that are known to be whole when they are read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SEAL = b"\nsha256 "


class DamagedFileError(ValueError):
    """A file is not what was written. The message says which, what is wrong, and what helps."""


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a path to write to; when the block ends well, that file takes the place of `path` in one move.

    If the block raises, or the process is killed, `path` is what it was before. A link stays one.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        yield draft
        with draft.open("r+b") as file:  # Windows syncs only what may be written
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_sealed(path: Path, content: bytes) -> None:
    """Write the content, and after it a line with its SHA-256."""
    with written_whole(path) as draft:
        draft.write_bytes(content + SEAL + hashlib.sha256(content).hexdigest().encode())


def read_sealed(path: Path, advice: str) -> bytes:
    """The content that `write_sealed` wrote; an error that ends with the advice, if one bit of it has changed."""
    content, _, digest = path.read_bytes().rpartition(SEAL)
    if digest != hashlib.sha256(content).hexdigest().encode():
        raise DamagedFileError(
            f"{path} is damaged, or not a file of ponder_utils: {path.stat().st_size:,} bytes that do not fit "
            f"the checksum at their end. {advice}"
        )
    return content
