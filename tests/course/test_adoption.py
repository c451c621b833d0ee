"""What whoever cites needs: one title, and the paper's bibliography."""

import json
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def front_of(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_the_work_has_one_title():
    titles = [yaml.safe_load(read("CITATION.cff"))["title"], front_of(read("paper.md"))["title"]]
    assert {*titles, json.loads(read(".zenodo.json"))["title"]} == {titles[0]}


def test_the_paper_cites_what_its_bibliography_holds_and_keeps_to_the_journals_length():
    text = read("paper.md").split("---\n", 2)[2]
    keys = re.findall(r"^@\w+\{([\w-]+),$", read(front_of(read("paper.md"))["bibliography"]), re.M)
    assert sorted(keys) == sorted({*re.findall(r"@(\w+)", text)})
    assert len(re.sub("<!--.*?-->", "", text).split()) <= 1000
