"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
