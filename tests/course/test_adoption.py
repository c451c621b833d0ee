"""What whoever cites, reports or installs needs: one title, the paper's bibliography, forms, and the container."""

import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


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


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_is_one_that_github_can_show(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form.keys() == {"name", "description", "body"}
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in fields} <= {"input", "textarea"}
    assert len({field["id"] for field in fields}) == len(fields)


def test_the_container_calls_a_target_of_make():
    container = json.loads(read(".devcontainer/devcontainer.json"))
    command, target = container["postCreateCommand"].split()
    assert command == "make"
    assert re.search(rf"^{target}:", read("Makefile"), re.M)
