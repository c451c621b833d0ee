"""What only an owner can say, from [tool.owner] of pyproject.toml, and how it stands in each file that needs it.

A field that is empty is open: `make stamp` names it, and the files say that nobody has filled it in.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, fields
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest brings it along
    import tomli as tomllib

EVERYBODY = "The authors of Learning to Ponder"  # while no author is named
NOT_YET = "not named yet"
FORMS = {"orcid": r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", "doi": r"10\.\d{4,}/\S+", "contact": r"\S+@\S+|https://\S+"}


@dataclass(frozen=True)
class Author:
    """One author; without a family name nobody is named."""

    given_names: str
    family_names: str
    orcid: str
    affiliation: str

    @property
    def name(self) -> str:
        """Both names, in the order in which they are spoken."""
        return f"{self.given_names} {self.family_names}".strip()


@dataclass(frozen=True)
class Owner:
    """All that [tool.owner] holds."""

    authors: tuple[Author, ...]
    doi: str
    contact: str

    @property
    def named(self) -> list[Author]:
        """The authors who are named."""
        return [author for author in self.authors if author.family_names]

    def open_fields(self) -> list[str]:
        """The names of the fields that are empty, as they stand in pyproject.toml."""
        empty = [name for name in ("doi", "contact") if not getattr(self, name)]
        for number, author in enumerate(self.authors, 1):
            empty += [f"{key} of author {number}" for key, value in keys_of(author).items() if not value]
        return empty


def keys_of(author: Author) -> dict[str, str]:
    """An author's fields by their names in pyproject.toml."""
    return {field.name.replace("_", "-"): getattr(author, field.name) for field in fields(Author)}


def checked(table: dict[str, Any], allowed: set[str], where: str) -> dict[str, Any]:
    """The table, if it has exactly the keys that are allowed, and every text in it has its form."""
    if set(table) != allowed:
        raise SystemExit(f"pyproject.toml: {where} has {sorted(table)}; it must have {sorted(allowed)}")
    for key, form in FORMS.items():
        value = table.get(key, "")
        if value and not re.fullmatch(form, value):
            raise SystemExit(f"pyproject.toml: {key} in {where} is {value!r}; it must be empty or of the form {form}")
    return table


def read(project: str) -> Owner:
    """The owner's fields, from the text of pyproject.toml."""
    table = checked(tomllib.loads(project)["tool"]["owner"], {field.name for field in fields(Owner)}, "[tool.owner]")
    allowed = {field.name.replace("_", "-") for field in fields(Author)}
    rows = [checked(row, allowed, "[[tool.owner.authors]]") for row in table["authors"]]
    authors = [Author(**{key.replace("-", "_"): value for key, value in row.items()}) for row in rows]
    return Owner(tuple(authors), table["doi"], table["contact"])


def quoted(text: str) -> str:
    """The text as a string of YAML, and of TOML."""
    return json.dumps(text, ensure_ascii=False)


def items(rows: list[dict[str, str]]) -> str:
    """A list of YAML, without what is empty."""
    filled = [
        [f"{key}: {value if value.isdigit() else quoted(value)}" for key, value in row.items() if value] for row in rows
    ]
    return "".join("  - " + "\n    ".join(lines) + "\n" for lines in filled)


def with_list(text: str, key: str, rows: list[dict[str, str]]) -> str:
    """The text, with these rows as the list of a key of its YAML that is not indented."""
    return re.sub(rf"^{key}:\n(?: .*\n)*", lambda _: f"{key}:\n{items(rows)}", text, count=1, flags=re.M)


def citation(text: str, owner: Owner) -> str:
    """CITATION.cff."""
    rows = [keys_of(author) | {"orcid": author.orcid and f"https://orcid.org/{author.orcid}"} for author in owner.named]
    text = with_list(text, "authors", rows or [{"name": EVERYBODY}])
    doi = f"doi: {quoted(owner.doi)}\n" if owner.doi else ""
    return re.sub(r"^(repository-code: .*\n)(?:doi: .*\n)?", lambda line: line[1] + doi, text, flags=re.M)


def paper(text: str, owner: Owner) -> str:
    """paper.md: its head, as the journal wants it."""
    named = owner.named or [Author("", EVERYBODY, "", "")]
    places = list(dict.fromkeys(author.affiliation or NOT_YET for author in named))
    rows = [
        {
            "name": author.name,
            "orcid": author.orcid,
            "affiliation": str(1 + places.index(author.affiliation or NOT_YET)),
        }
        for author in named
    ]
    text = with_list(text, "authors", rows)
    return with_list(text, "affiliations", [{"index": str(i), "name": place} for i, place in enumerate(places, 1)])


def archive(text: str, owner: Owner) -> str:
    """.zenodo.json, by which the archive describes a release."""
    creators = [
        {
            "name": ", ".join(filter(None, (author.family_names, author.given_names))),
            "orcid": author.orcid,
            "affiliation": author.affiliation,
        }
        for author in owner.named
    ]
    filled = [{key: value for key, value in creator.items() if value} for creator in creators]
    described = json.loads(text) | {"creators": filled or [{"name": EVERYBODY}]}
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def conduct(text: str, owner: Owner) -> str:
    """CODE_OF_CONDUCT.md: to whom one writes."""
    contact = f"<{owner.contact}>" if owner.contact else f"{NOT_YET}; an owner adds it before the course is published"
    return re.sub(r"^\*\*Contact:\*\* .*", lambda _: f"**Contact:** {contact}.", text, flags=re.M)


def package(text: str, owner: Owner) -> str:
    """The authors in the pyproject.toml of either package."""
    names = [author.name for author in owner.named] or [EVERYBODY]
    listed = ", ".join(f"{{ name = {quoted(name)} }}" for name in names)
    return re.sub(r"^authors = \[.*\]$", lambda _: f"authors = [{listed}]", text, flags=re.M)


WRITERS = {
    "CITATION.cff": citation,
    "paper.md": paper,
    ".zenodo.json": archive,
    "CODE_OF_CONDUCT.md": conduct,
    "pyproject.toml": package,
    "course-package/pyproject.toml": package,
}
