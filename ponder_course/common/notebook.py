"""A notebook and its surroundings: the machine it runs on, and the parameters it was given."""

import ast
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from typing import Any

import numpy as np
import torch

from ponder_utils._check import check_choice, check_int

KINDS: dict[str, Any] = {"str": str, "int": int}  # of parameters, as declared
# by the name of a parameter, in every notebook
AT_LEAST = {"SEEDS": 1, "SEED": 0, "WORKERS": 1}
CHOICES = {"TRAIN": ("one", "all", "none", "store"), "DATASET": ("auto", "mnist", "digits")}


def pick_device(device: str = "auto", name: str = "device") -> torch.device:
    """Return the device "cpu", "cuda" or "mps" (Apple's GPU); "auto" is CUDA if there is one, else mps, else the CPU.

    ValueError, which speaks of `name`, for other names, and for a device that is not there.
    """
    check_choice(name, device, ("auto", "cpu", "cuda", "mps"))
    gpus = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    here = [*(gpu for gpu in gpus if gpus[gpu]), "cpu"]
    if device not in ("auto", *here):
        allowed = " or ".join(map(repr, ("auto", *reversed(here))))
        raise ValueError(f"{name} must be {allowed} on this machine, which has no {device}; got {device!r}")
    return torch.device(here[0] if device == "auto" else device)


def describe_machine(device: torch.device) -> str:
    """Return versions, device and cores in one line."""
    name = "Apple's GPU (mps)" if device.type == "mps" else f"CPU, {os.cpu_count()} cores"
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else name
    return f"Python {platform.python_version()}, torch {torch.__version__}, {name}"


def start(device: str, *notes: str) -> torch.device:
    """Return the device of that name, and print the machine and the notes in one line.

    From now on torch uses one thread, on which networks as small as the course's are faster than on two.
    """
    picked = pick_device(device)
    torch.set_num_threads(1)
    print(describe_machine(picked), *notes, sep=" | ")
    return picked


def check_parameters(cells: Sequence[str], values: Mapping[str, Any] | None = None, **choices: Sequence[str]) -> None:
    """Raise a ValueError or TypeError that names the first parameter of a notebook that is wrong.

    A notebook declares its parameters as annotated assignments, `NAME: type = value`; papermill adds a cell with its
    own values that begins with "# Parameters".

    Args:
        cells: the sources of the cells that have run, `In` in a notebook; those that are not Python are passed over. A
            parameter that papermill injected and no cell declares is refused; papermill itself only warns.
        values: the parameters as they are now, `globals()` in a notebook, for `check_parameter`.
        choices: what is allowed, by parameter.
    """
    declared, injected = dict.fromkeys(choices, "str"), set[str]()
    for source in cells:
        by_papermill = source.startswith("# Parameters\n")
        for node in _statements(source):
            if by_papermill and isinstance(node, ast.Assign):
                injected |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif not by_papermill and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                declared[node.target.id] = ast.unparse(node.annotation)
    unknown = sorted(injected - declared.keys())
    if unknown:
        raise ValueError(f"unknown parameter {', '.join(unknown)}; this notebook has {', '.join(sorted(declared))}")
    for name, kind in declared.items():
        if values and name in values and name.isupper() and kind in KINDS:
            check_parameter(name, values[name], kind, choices.get(name, ()))


def check_parameter(name: str, value: Any, kind: str, choices: Sequence[str] = ()) -> None:
    """Raise a TypeError or ValueError if the value is not of the declared kind ("int"), too low, or not a choice."""
    choices = choices or CHOICES.get(name, ())
    allowed = f"one of {', '.join(map(repr, choices))}" if choices else f"of type {kind}"
    if name in AT_LEAST:
        check_int(name, value, AT_LEAST[name])
    elif not isinstance(value, KINDS[kind]) or isinstance(value, bool):
        raise TypeError(f"{name} must be {allowed}; got {value!r} ({type(value).__name__})")
    elif choices:
        check_choice(name, value, choices)
    elif name == "DEVICE":
        pick_device(value, name)


def _statements(cell: str) -> list[ast.stmt]:
    """Return the statements of a cell, its magics and shell lines as calls; none if it is not Python."""
    from IPython.core.inputtransformer2 import TransformerManager  # here, since only a notebook has cells

    try:
        return ast.parse(TransformerManager().transform_cell(cell)).body
    except (SyntaxError, ValueError):  # `In` holds typos, too; ValueError: a null byte, before Python 3.12
        return []


def attempt(check: Callable[[Any], str | None], answer: Any, name: str = "") -> bool:
    """Run the check of an exercise on an answer, print a line, and return whether the answer is right.

    The line says what is wrong, or, of a right answer, what the check returns; and the name of the answer, if any.
    """
    not_yet = f"Not yet: {name}: " if name else "Not yet: "
    if not __debug__:  # checks are assertions, which Python then leaves out
        print(f"{not_yet}nothing can be checked, since Python was started with -O or PYTHONOPTIMIZE; start it without.")
        return False
    try:
        finding = check(answer)
    except NotImplementedError:
        print(f"{not_yet}nothing written so far.")
    except AssertionError as error:
        print(f"{not_yet}{' '.join(str(error).split()) or 'a result is not what it should be.'}")
    except Exception as error:  # whatever a reader's answer raises, or makes the check raise: the notebook goes on
        print(f"{not_yet}{type(error).__name__}: {' '.join(str(error).split())[:200]}")
    else:
        right = name or finding
        print(f"Right: {right}" if right else "Right.")
        return True
    return False


def check_on(*cases: tuple[Any, ...], tolerance: float = 1e-6) -> Callable[[Any], None]:
    """Return the check of an answer that is a function, for `attempt`: a case is (*arguments, the numbers expected)."""

    def check(answer: Any) -> None:
        for *arguments, expected in cases:
            got = torch.as_tensor(answer(*deepcopy(arguments)), dtype=torch.float64).tolist()
            right = np.shape(got) == np.shape(expected) and np.allclose(got, expected, rtol=0, atol=tolerance)
            assert right, f"{', '.join(map(str, arguments))} should give {expected}, not {got}"

    return check


def check_hashed(answer: Any, problem: str, digest: str, decimals: int = 0, name: str = "") -> bool:
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
        written = sha256(" ".join(["ponder", problem, *rounded]).encode()).hexdigest()
        assert written[:16] == digest, f"not right, when rounded to {decimals} decimals."

    return attempt(check, answer, name)


def check_numbers(sheet: str, **answers: tuple[Any, int, str]) -> dict[str, bool]:
    """Say of each number by itself whether it is right, and return that.

    answers: by name, (the number, its decimals, the digest that `check_hashed` wants for the problem "sheet name").
    """
    return {
        name: check_hashed(number, f"{sheet} {name}", digest, decimals, name)
        for name, (number, decimals, digest) in answers.items()
    }


def claim(sentence: str, holds: bool) -> str:
    """Return what a figure says of the lesson's networks; of others, that it does not hold, where it does not."""
    return sentence if holds else f"Not with these networks: {sentence}"
