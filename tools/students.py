"""Write a copy of the course for students, from which no solution can be read off: make students.

    python tools/students.py FOLDER

What git knows is copied as it stands now, without history, and without LEFT_OUT. In a page or a notebook, a link to
something left out becomes its words.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from stamp import ROOT, parser_of

LEFT_OUT = [
    "TEACHING.md",  # what comes out of each bet
    "notebooks/solutions",
    "tests/course",  # looks at all of the repository, solutions included
    "tests/exercises.py",
    "tests/sheets.py",
    "tests/*/test_exercises_*",
    "tests/*/test_sheet_*",
    "tools/students.py",
]
LINK = re.compile(r"\[([^][]*)\]\(([^)\s#]+)[^)]*\)")


def kept() -> list[str]:
    """The files that git knows and students get."""
    asked = ["git", "-C", str(ROOT), "ls-files", "-z", "--", ".", *(f":!{pattern}" for pattern in LEFT_OUT)]
    listed = subprocess.run(asked, capture_output=True, text=True, encoding="utf-8")
    names = [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]
    if not names:
        raise SystemExit(f"make students copies what git knows, and git knows nothing here. {listed.stderr}")
    return names


def unlinked(text: str, folder: Path, copy: Path) -> str:
    """The text of a page of `folder`, with the words alone of each link to what the copy has not."""

    def words(link: re.Match[str]) -> str:
        path = folder / link[2]
        left_out = (ROOT / path).exists() and not (copy / path).exists()
        return f"{link[1]} (not in this copy)" if left_out else link[0]

    return LINK.sub(words, text)


def write(copy: Path) -> None:
    """Write the copy into a folder that is new or empty."""
    names = kept()
    if copy.exists() and (not copy.is_dir() or any(copy.iterdir())):
        raise SystemExit(f"{copy} is there, and not empty: remove it, or give another folder: make students TO=folder")
    for name in names:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    for name in names:
        if name.endswith((".md", ".ipynb")):
            text = (ROOT / name).read_bytes().decode()
            (copy / name).write_bytes(unlinked(text, Path(name).parent, copy).encode())


def main(arguments: list[str] | None = None) -> int:
    """Write the copy into the folder that is given."""
    parser = parser_of(__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="new or empty")
    copy = parser.parse_args(arguments).folder
    try:
        write(copy)
    except OSError as error:
        raise SystemExit(f"make students needs git and a new folder: {error}") from error
    print(f"{copy}: the course without solutions. What can be found there all the same: TEACHING.md, Grading")
    return 0


if __name__ == "__main__":
    sys.exit(main())
