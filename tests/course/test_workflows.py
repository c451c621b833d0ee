"""The workflows for GitHub, as far as one can check them here: they parse, and name what is there."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
each_workflow = pytest.mark.parametrize("name", WORKFLOWS)


def jobs(name):
    return yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))["jobs"]


def steps(name):
    return [step for job in jobs(name).values() for step in job["steps"]]


@each_workflow
def test_every_target_and_file_that_is_run_exists(name):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    commands = [shlex.split(line) for step in steps(name) for line in step.get("run", "").splitlines()]
    assert commands
    for command in commands:
        if command[0] == "make":
            assert {word for word in command[1:] if "=" not in word} <= targets, command
        for word in command:
            if re.fullmatch(r"[\w/]+\.(py|txt)", word):
                assert (ROOT / word).exists(), command
