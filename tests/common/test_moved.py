"""Notebooks that were copied before modules moved go on."""

from importlib import import_module

import pytest

from ponder_course import LESSONS
from ponder_course.moved import FOLDERS, MOVED


def is_there(old):
    """Whether no lesson was deleted that had the module, or has it now."""
    folder, new = old.rpartition(".")[0], MOVED[old].removeprefix("research.").split(".")[0]
    return folder in ("", *FOLDERS, *LESSONS) and new in ("common", *LESSONS)


@pytest.mark.parametrize("old", [*filter(is_there, MOVED)])
def test_an_old_name_gives_the_very_module_and_warns(old):
    new = import_module(f"ponder_course.{MOVED[old]}")
    with pytest.warns(FutureWarning, match=f"ponder_course.{MOVED[old]}"):
        found = import_module(f"ponder_course.{old}")
    assert found is new
    names = {}
    folder, _, name = f"ponder_course.{old}".rpartition(".")
    exec(f"from {folder} import {name}", names)
    assert names[name] is new
