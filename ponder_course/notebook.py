"""A notebook and its surroundings: the machine it runs on, and the parameters it was given."""

import ast
import os
import platform
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import torch

from ponder_utils._check import check_choice


def pick_device(device: str = "auto") -> torch.device:
    """Return the device "cpu" or "cuda"; "auto" is CUDA if there is one. ValueError for other names or missing CUDA."""
    check_choice("device", device, ("auto", "cpu", "cuda"))
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device must be 'auto' or 'cpu' on this machine, which has no CUDA device; got 'cuda'")
    return torch.device("cuda" if torch.cuda.is_available() and device != "cpu" else "cpu")


def describe_machine(device: torch.device) -> str:
    """Return versions, device and cores in one line."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {os.cpu_count()} cores"
    return f"Python {platform.python_version()}, torch {torch.__version__}, {name}"


def check_parameters(cells: Sequence[str]) -> None:
    """Raise a ValueError if papermill injected a parameter that no cell declares; papermill itself only warns.

    A notebook declares its parameters as annotated assignments, `NAME: type = value`; papermill adds a cell with its
    own values that begins with "# Parameters". `cells` are the sources of the cells that have run, `In` in a notebook;
    those that are not Python are passed over.
    """
    declared, injected = set[str](), set[str]()
    for source in cells:
        by_papermill = source.startswith("# Parameters\n")
        for node in _statements(source):
            if by_papermill and isinstance(node, ast.Assign):
                injected |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif not by_papermill and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                declared.add(node.target.id)
    unknown = sorted(injected - declared)
    if unknown:
        raise ValueError(f"unknown parameter {', '.join(unknown)}; this notebook has {', '.join(sorted(declared))}")


def _statements(cell: str) -> list[ast.stmt]:
    """Return the statements of a cell, its magics and shell lines as calls; none if it is not Python."""
    from IPython.core.inputtransformer2 import TransformerManager  # here, since only a notebook has cells

    try:
        return ast.parse(TransformerManager().transform_cell(cell)).body
    except (SyntaxError, ValueError):  # `In` holds typos, too; ValueError: a null byte, before Python 3.12
        return []


def attempt(check: Callable[[Any], None], answer: Any) -> bool:
    """Run the check of an exercise on an answer; print in one line what is wrong, and return whether it is right."""
    try:
        check(answer)
    except NotImplementedError:
        print("Not yet: nothing written so far.")
    except AssertionError as error:
        print(f"Not yet: {' '.join(str(error).split()) or 'a result is not what it should be.'}")
    except Exception as error:  # whatever a reader's answer raises, or makes the check raise: the notebook goes on
        print(f"Not yet: {type(error).__name__}: {' '.join(str(error).split())[:200]}")
    else:
        print("Right.")
        return True
    return False


def check_hashed(answer: Any, problem: str, digest: str, decimals: int = 0) -> bool:
    """Say whether an answer is right without showing the right one, as `attempt` does.

    answer: a number, several in any container that a tensor can be made of, or a function that returns them. digest:
    the first 16 digits of the SHA-256 of the problem's name and the rounded numbers, such as "ponder 01 1a 0.25 -1.00".
    """

    def check(answer: Any) -> None:
        numbers = answer() if callable(answer) else answer
        if numbers is None:
            raise NotImplementedError
        numbers = torch.as_tensor(numbers, dtype=torch.float64).flatten()
        assert numbers.isfinite().all(), "a number is not finite."
        rounded = [f"{round(number, decimals) + 0.0:.{decimals}f}" for number in numbers.tolist()]  # + 0.0: no -0
        found = sha256(" ".join(["ponder", problem, *rounded]).encode()).hexdigest()
        assert found[:16] == digest, f"not right, when rounded to {decimals} decimals."

    return attempt(check, answer)
