"""What the book and the slides both read from the cells of a lesson."""

from __future__ import annotations

import re

from nbformat import NotebookNode

LINK = re.compile(r"(?<!\])\[([^]]*)\]\([^)]*\)")
BET = re.compile(r"^(?:.+\n)*?.*\*\*Bet (\d)(?: \([^)]*\))?\.\*\*(?:.+\n?)+", re.M)  # its paragraph
CHOICES = re.compile(r": ([^:.?]*, [^:.?]*)\?")


def title_of(cell: NotebookNode) -> str:
    """The title of a folded cell, such as "Figure: the machine"; "" where it has none."""
    match = re.match(r"# @title (.*)", cell.source)
    return match[1] if match else ""


def blocks(source: str) -> list[str]:
    """The paragraphs of a cell, without what only works in a notebook, and markers of facts; links as their words."""
    text = LINK.sub(r"\1", re.sub(r"<details>.*?</details>|<!--\d.*?-->", "", source, flags=re.S))
    return [block.strip() for block in re.split(r"\n\n+", text) if block.strip()]


def opening(first: NotebookNode) -> tuple[str, str, list[str]]:
    """The title of a lesson, its question, and the paragraphs that introduce it: from its first cell."""
    title, _, question, *others = blocks(first.source)
    return title.removeprefix("# "), question, others


def heading(words: str) -> str:
    """A heading without the minutes behind it."""
    return re.sub(r" \(\d+ minutes?\)$", "", words)


def choices_of(bet: str) -> list[str]:
    """What a bet offers behind a colon, as in "how many: none, one, or two?"; nothing where any answer may be given."""
    listed = CHOICES.search(bet)
    return re.split(r", or |, ", listed[1]) if listed else []


def bare(table: str) -> str:
    """A table of pandas without the looks that it brings along."""
    return re.sub(r'<style scoped>.*?</style>\s*| border="1"', "", table, flags=re.S)
