"""Compare the numbers of the texts with the facts that the evidence prints: make facts.

    python tools/facts.py

After a number of a text stands a marker that no reader sees, as in "68 % to 80 %<!--07.common_step-->": the lesson, and
the name of a fact, which a cell tagged `facts` of a notebook of the evidence computes from stored runs and prints. A
fact of several numbers has one marker, after its last number. Words between the numbers are the author's business, and
so is whether a number stands as a word, "ten of ten".

"8 to 13<!--07.printed-->" says that lesson 07 itself prints 8 and then 13, in a cell whose output is compared.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
from stamp import ROOT, notebooks, parser_of

MARKER = re.compile(r"<!--(\d\d)\.(\w+)-->")
WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
NUMBER = re.compile(rf"(?<![\w.])[-+−]?\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{'|'.join(WORDS)})\b", re.I)
BETWEEN = re.compile(r"[\s%\])*$]*")  # what may stand between the last number and its marker
PRINTED = "printed"  # the name of a number, or of a pair, that a lesson prints
PAIR = re.compile(r"[\s%]*\b(?:of|to|and)\s+")  # what stands between two numbers that belong together
Facts = dict[str, dict[str, str]]  # {"07": {"common_step": "68% to 80%"}}


def printed() -> Facts:
    """The facts of all lessons, by the lesson's number, as the evidence has printed them."""
    facts: Facts = {}
    for path in sorted((ROOT / "evidence" / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if "facts" not in cell.metadata.get("tags", []):
                continue
            lines = "".join(output.text for output in cell.outputs).splitlines()
            for marker, fact in (line.split(": ", 1) for line in lines):
                lesson, name = marker.split(".")
                if name in facts.setdefault(lesson, {}):
                    raise SystemExit(f"{path.name}: {marker} is printed twice")
                facts[lesson][name] = fact
    return facts


@cache
def shown(lesson: str) -> list[str]:
    """The numbers that a lesson prints, in their order; not those of cells whose output is not compared."""
    texts = []
    for path in (ROOT / "notebooks").glob(f"{lesson}_*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if "nbval-ignore-output" not in cell.metadata.get("tags", []):
                for output in cell.get("outputs", []):
                    data = output.get("data", {})
                    texts.append(output.get("text") or data.get("text/markdown") or data.get("text/plain", ""))
    return [plain(number[0]) for text in texts for number in NUMBER.finditer(text)]


def texts() -> list[Path]:
    """README, TEACHING, the paper, the pages of docs, the words of live figures, and all notebooks."""
    pages = [ROOT / name for name in ("README.md", "TEACHING.md", "paper.md")]
    return [*pages, *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "book/live").glob("*.html")), *notebooks()]


def plain(number: str) -> str:
    """The number in digits, as facts have it: "ten" is "10", "+1,000" is "1000"."""
    number = number.lower()
    return str(WORDS.index(number)) if number in WORDS else re.sub("[+,]", "", number.replace("−", "-"))


def problems(text: str, facts: Facts) -> tuple[list[tuple[int, str]], set[tuple[str, str]]]:
    """What is wrong in a text, each with its place, and the facts that it uses."""
    wrong, used = [], set()
    bare = MARKER.sub(lambda marker: " " * len(marker[0]), text)  # a number may have several markers
    numbers_of_text = list(NUMBER.finditer(bare))
    for opened in re.finditer("<!--(?!slide-->|spoken-->|/?bench-->|/?rows-->)", text):
        marker = MARKER.match(text, opened.start())
        if not marker:
            wrong.append((opened.start(), "a marker has the form <!--07.name_of_a_fact-->"))
            continue
        lesson, name = marker.groups()
        if name == PRINTED:
            numbers = [number for number in numbers_of_text if number.end() <= marker.start()][-2:]
            if not numbers or not BETWEEN.fullmatch(bare, numbers[-1].end(), marker.start()):
                wrong.append((opened.start(), f"{lesson}.{name} stands behind no number"))
                continue
            if len(numbers) == 2 and not PAIR.fullmatch(bare, numbers[0].end(), numbers[1].start()):
                del numbers[0]
            wanted = [plain(number[0]) for number in numbers]
            prints = shown(lesson)
            is_printed = wanted[0] in prints if len(wanted) == 1 else wanted in map(list, pairwise(prints))
            if not is_printed:
                wrong.append((opened.start(), f"{lesson}.{name}: the lesson prints no {' '.join(wanted)}"))
            continue
        fact = facts.get(lesson, {}).get(name)
        if fact is None:
            allowed = ", ".join(sorted(facts.get(lesson, {}))) or "none"
            wrong.append((opened.start(), f"no fact is called {lesson}.{name}; allowed are {allowed}"))
            continue
        used.add((lesson, name))
        wanted = NUMBER.findall(fact)
        numbers = [number for number in numbers_of_text if number.end() <= marker.start()][-len(wanted) :]
        if len(numbers) < len(wanted) or not BETWEEN.fullmatch(bare, numbers[-1].end(), marker.start()):
            wrong.append((opened.start(), f"{lesson}.{name} stands behind no number; the evidence says {fact}"))
        elif [plain(number[0]) for number in numbers] != [plain(number) for number in wanted]:
            stands = " ".join(bare[numbers[0].start() : marker.start()].split())
            wrong.append((numbers[0].start(), f"{lesson}.{name}: {stands}; the evidence says {fact}"))
    return wrong, used


def check(paths: list[Path], facts: Facts) -> list[str]:
    """What is wrong in the texts, a line for each: file, line, fact, what stands there, what the evidence says."""
    lines, unused = [], {(lesson, name) for lesson, named in facts.items() for name in named}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        wrong, used = problems(text, facts)
        unused -= used
        for place, message in wrong:
            line = text.count("\n", 0, place) + 1
            lines.append(f"{path.relative_to(ROOT)}:{line}: {message}")
    return lines + [f"no text uses {lesson}.{name}" for lesson, name in sorted(unused)]


def main() -> int:
    """Check all texts; 1 if anything is wrong."""
    parser_of(__doc__).parse_args()
    facts = printed()
    lines = check(texts(), facts)
    print(*lines, f"{sum(map(len, facts.values()))} facts, {len(lines)} problems", sep="\n")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
