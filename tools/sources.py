"""Write the cells of a lesson that are tagged `source` as a module of its room, such as light_cone/lesson.py.

    python tools/sources.py

So the code that a reader sees in a lesson is the code that runs in the other lessons, in the evidence, in the live
figures and in the tests. A test holds both equal.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from stamp import ROOT, lessons, parser_of

HEADER = '''"""The cells of notebooks/{name} that are tagged `source`: change them there, then `make sources`."""'''


def module_of(lesson: Path) -> Path:
    """Return where the source cells of a lesson are written."""
    return ROOT / "ponder_course" / lesson.stem[3:] / "lesson.py"


def text_of(lesson: Path) -> str:
    """Return the module that a lesson's source cells make, without their titles; nothing if it has no such cell."""
    parts = [HEADER.format(name=lesson.name)]
    for cell in nbformat.read(lesson, as_version=4).cells:
        if "source" in cell.metadata.get("tags", []):
            lines = cell.source.splitlines()
            parts.append("\n".join(line for line in lines if not line.startswith("# @title")))
    first, *others = parts
    return f"{first}\n\n" + "\n\n\n".join(others) + "\n" if others else ""


def main() -> int:
    """Write what differs, and say so."""
    parser_of(__doc__).parse_args()
    for lesson in lessons():
        text, module = text_of(lesson), module_of(lesson)
        if text and (not module.exists() or module.read_text(encoding="utf-8") != text):
            module.write_text(text, encoding="utf-8")
            print(f"wrote {module.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
