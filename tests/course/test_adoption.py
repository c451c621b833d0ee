"""What whoever adopts, cites or reports needs: the owner's fields, the paper, forms, and the container."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import owner  # noqa: E402
import stamp  # noqa: E402

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
ADA = owner.Author("Ada", "Example: \"the\" 'First'", "0000-0000-0000-000X", "A place, \\1 & Co.")
BOB = owner.Author("", "Bob", "", "")
CY = owner.Author("Cy", "Third", "", "A place, \\1 & Co.")
OWNER = owner.Owner((ADA, BOB, CY), "10.5281/zenodo.0", "nobody@example.org")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def written(name, given):
    return owner.WRITERS[name](read(name), given)


def front_of(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_each_field_is_open_or_of_its_form_and_every_file_says_what_the_owner_says():
    given = stamp.owned()
    values = {"doi": given.doi, "contact": given.contact}
    for number, author in enumerate(given.authors, 1):
        values |= {f"{key} of author {number}": value for key, value in owner.keys_of(author).items()}
    assert given.open_fields() == [name for name, value in values.items() if not value]
    assert [name for name in owner.WRITERS if written(name, given) != read(name)] == []


def test_what_an_owner_fills_in_reaches_every_file_and_goes_again():
    cited = yaml.safe_load(written("CITATION.cff", OWNER))
    assert [author.get("family-names") for author in cited["authors"]] == [ADA.family_names, "Bob", "Third"]
    assert cited["authors"][0]["orcid"].endswith("/" + ADA.orcid)
    assert cited["authors"][1].keys() == {"family-names"}
    assert cited["doi"] == OWNER.doi
    assert len(cited["references"]) == len(yaml.safe_load(read("CITATION.cff"))["references"])
    head = front_of(written("paper.md", OWNER))
    assert [author["name"] for author in head["authors"]] == [ADA.name, "Bob", "Cy Third"]
    assert [author["affiliation"] for author in head["authors"]] == [1, 2, 1]
    assert [place["name"] for place in head["affiliations"]] == [ADA.affiliation, owner.NOT_YET]
    assert head["authors"][0]["orcid"] == ADA.orcid
    creators = json.loads(written(".zenodo.json", OWNER))["creators"]
    assert [creator["name"] for creator in creators] == [f"{ADA.family_names}, Ada", "Bob", "Third, Cy"]
    assert OWNER.contact in written("CODE_OF_CONDUCT.md", OWNER)
    for name in ("pyproject.toml", "course-package/pyproject.toml"):
        authors = owner.tomllib.loads(written(name, OWNER))["project"]["authors"]
        assert [author["name"] for author in authors] == [ADA.name, "Bob", "Cy Third"]
    for name, write in owner.WRITERS.items():
        assert write(written(name, OWNER), OWNER) == written(name, OWNER)
        assert write(written(name, OWNER), stamp.owned()) == read(name)


@pytest.mark.parametrize(
    ("before", "after"),
    [("orcid", 'orcid = "1234"'), ("doi", 'doi = "https://doi.org/10.5281/zenodo.0"'), ("contact", "mail = ''")],
)
def test_a_field_that_is_wrong_or_unknown_is_refused(before, after):
    text = re.sub(rf"^{before} = .*", after, read("pyproject.toml"), flags=re.M)
    with pytest.raises(SystemExit, match=r"pyproject\.toml: "):
        owner.read(text)


def test_the_work_has_one_title():
    titles = [yaml.safe_load(read("CITATION.cff"))["title"], front_of(read("paper.md"))["title"]]
    assert {*titles, json.loads(read(".zenodo.json"))["title"]} == {titles[0]}


def test_the_paper_cites_what_its_bibliography_holds_and_keeps_to_the_journals_length():
    text = read("paper.md").split("---\n", 2)[2]
    keys = re.findall(r"^@\w+\{([\w-]+),$", read(front_of(read("paper.md"))["bibliography"]), re.M)
    assert sorted(keys) == sorted({*re.findall(r"@(\w+)", text)})
    assert len(re.sub("<!--.*?-->", "", text).split()) <= 1000
    assert {path for path in re.findall(r"`([\w./]+)`", text) if not (ROOT / path).exists()} == set()


def test_every_row_of_the_plan_says_what_students_can_do():
    rows = [line.strip("|").split("|") for line in read("TEACHING.md").splitlines() if "_problems.ipynb" in line]
    head = next(line for line in read("TEACHING.md").splitlines() if line.startswith("| session")).strip("|").split("|")
    assert rows
    assert all(len(row) == len(head) and all(cell.strip() for cell in row) for row in rows)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_is_one_that_github_can_show(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form.keys() == {"name", "description", "body"}
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert fields
    assert {field["type"] for field in fields} <= {"input", "textarea"}
    assert len({field["id"] for field in fields}) == len(fields)
    assert len({field["attributes"]["label"] for field in fields}) == len(fields)


def test_the_container_calls_a_target_of_make():
    container = json.loads(read(".devcontainer/devcontainer.json"))
    command, target = container["postCreateCommand"].split()
    assert command == "make"
    assert re.search(rf"^{target}:", read("Makefile"), re.M)
    assert ".venv/" in container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
