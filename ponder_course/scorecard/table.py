"""The table of docs/scorecard.md, made from the rows in evidence/scorecard."""

import json
from pathlib import Path

from ponder_course.common.store import Row

ROOT = Path(__file__).resolve().parents[2]
PAGE, ROWS = ROOT / "docs" / "scorecard.md", ROOT / "evidence" / "scorecard"
BEGIN, END = "<!--rows-->\n", "<!--/rows-->\n"
HEADER = """| network | task | trained | rule | right | loops / need | early | late | larger: right | early |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def rows() -> list[Row]:
    """Return all rows, in the order of their names."""
    files = sorted(ROWS.glob("*.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def lines_of(row: Row) -> list[str]:
    """Return a line of the table for each task and rule of a row."""
    lines = []
    for name, task in row["tasks"].items():
        budget = task["budget"]
        training = budget["by"]
        if budget["updates"]:
            training = f"{budget['examples']:,} examples, {budget['seconds']:.0f} s"
        network = f"`{row['network']}`, {budget['parameters']:,} weights, {task['halts']} halt"
        first = f"{network} | {name} | {training}"
        for rule, trained in task["trained"]["rules"].items():
            larger = task["larger"].get("rules", {}).get(rule)
            beyond = "refused | " if larger is None else f"{larger['right']:.1%} | {larger['early']:.1%}"
            loops = f"{trained['steps']:.1f} / {trained['needed']:.1f}"
            as_trained = f"{trained['right']:.1%} | {loops} | {trained['early']:.1%} | {trained['late']:.1%}"
            lines.append(f"| {first} | {rule} | {as_trained} | {beyond} |\n")
            first = " | | "
    return lines


def with_table() -> str:
    """Return the page with the table as the rows make it."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    lines = [line for row in rows() for line in lines_of(row)]
    return before + BEGIN + "\n" + HEADER + "".join(lines) + "\n" + END + rest.split(END)[1]
