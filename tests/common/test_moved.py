"""Notebooks that were copied before each lesson had a room go on."""

from importlib import import_module

import pytest

from ponder_course import LESSONS
from ponder_course.moved import MOVED


@pytest.mark.parametrize(
    "old", [old for old, new in MOVED.items() if new.removeprefix("research.").split(".")[0] in ("common", *LESSONS)]
)
def test_an_old_name_gives_the_very_module_and_warns(old):
    new = import_module(f"ponder_course.{MOVED[old]}")
    spec = new.__spec__
    with pytest.warns(FutureWarning, match=f"ponder_course.{MOVED[old]}"):
        found = import_module(f"ponder_course.{old}")
    assert found is new
    assert found.__name__ == f"ponder_course.{MOVED[old]}"
    assert found.__spec__ is spec
    names = {}
    folder, _, name = f"ponder_course.{old}".rpartition(".")
    exec(f"from {folder} import {name}", names)
    assert names[name] is new


def test_other_names_are_not_found():
    for name in ("ponder_course.nothing", "ponder_course.experiments.nothing", "ponder_course.figures.runs"):
        with pytest.raises(ModuleNotFoundError):
            import_module(name)
