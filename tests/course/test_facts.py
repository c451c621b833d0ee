"""tools/facts.py finds every number of the texts that is not what the evidence says, and nothing else."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import facts as tool  # noqa: E402

FACTS = {"01": {"half": "50 %", "pair": "0.61 [0.35, -0.87]", "count": "8 of 10", "many": "1,000", "none": "0 of 3"}}
TEXT = """Half of them, 50 %<!--01.half-->, are right; by 0.61 steps [0.35, -0.87]<!--01.pair--> more, in eight of
ten<!--01.count--> networks, on 1,000<!--01.many--> of 9 lines. **None of three**<!--01.none--> fails, and 8 of
10<!--01.count--> do not.
"""
NUMBERS = ["50", "0.61", "0.35", "-0.87", "eight", "ten", "1,000", "None", "three", "8", "10"]


@pytest.fixture(scope="module")
def printed():
    return tool.printed()


def test_the_numbers_of_all_texts_are_those_that_the_evidence_prints(printed):
    assert tool.check(tool.texts(), printed) == []


def test_all_texts_are_checked_and_all_lessons_with_stored_runs_have_facts(printed):
    names = {path.name for path in tool.texts()}
    assert {"README.md", "TEACHING.md", "paper.md", "findings.md", "report.md"} < names
    assert {path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")} <= names
    stored = {path.name[:2] for path in (ROOT / "evidence" / "results").glob("*.jsonl")}
    assert set(printed) == stored
    assert all(tool.NUMBER.search(text) for facts in printed.values() for text in facts.values())


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("other", ["7", "twelve"])
def test_every_flipped_number_is_found(number, other):
    flipped = re.sub(rf"(?<![\w.,]){re.escape(number)}(?=[\s<\],*])", other, TEXT, count=1)
    assert flipped != TEXT
    assert tool.problems(TEXT, FACTS) == ([], {("01", name) for name in FACTS["01"]})
    ((_, message),), _ = tool.problems(flipped, FACTS)
    assert message.startswith("01.")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5<!--01.haf-->", "01.haf"),
        ("5<!--half-->", "has the form"),
        ("5<!--01.half", "has the form"),
        ("many<!--01.half-->", "stands behind no number"),
        ("[-0.87]<!--01.pair-->", "stands behind no number"),
        ("many<!--02.printed-->", "stands behind no number"),
        ("98,765<!--02.printed-->", "the lesson prints no 98765"),
    ],
)
def test_a_marker_that_cannot_be_read_is_named_with_its_place(text, says):
    ((place, message),), _ = tool.problems(f"A line.\n{text}", FACTS)
    assert says in message
    assert place == 8 + text.index("<!--")


def test_the_command_names_file_and_line(tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(TEXT.replace("50 %", "51 %").replace("1,000", "1,001"), encoding="utf-8")
    lines = tool.check([page], FACTS | {"02": {"spare": "1"}})
    assert lines == [
        "page.md:1: 01.half: 51 %; the evidence says 50 %",
        "page.md:2: 01.many: 1,001; the evidence says 1,000",
        "no text uses 02.spare",
    ]
