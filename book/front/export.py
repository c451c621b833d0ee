"""Write what the maze on the book's first page needs: its scripts, lesson 07's network, colours, what is known of it.

    python book/front/export.py FOLDER     where all goes, such as the book's _static/front
    python book/front/export.py            runs/front: the page alone, to try it: open runs/front/index.html

Stored runs hold results, not weights. So the network of the first stored run is trained anew on its seed (about a
minute on one core), checked, and kept in runs/, which is not committed; as long as the code behind it stays the same,
the next export takes seconds.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import torch
from matplotlib.colors import to_hex
from torch import nn

from ponder_course.common import runs, style
from ponder_course.common.fingerprint import fingerprint_of
from ponder_course.map_of_thought import experiment as mazes
from ponder_course.map_of_thought.figures import THOUGHT, WALL
from ponder_course.research.map_of_thought import experiment as stored_runs
from ponder_utils.checkpoints import DamagedFileError, atomic_write

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "book" / "live"))
from live_networks import encoded as weights_of  # noqa: E402

RESULTS = ROOT / "results" / "07_mazes_main.jsonl"
KEPT = ROOT / "runs" / "front"
FORMAT = 1  # of network.js; static/think.js reads this one
SIZES = ("5", "10", "20", "30")  # tests on trees, of the kind that was trained on
TOLERANCE = 0.01  # of the mean steps, against the need; the stored runs stay within 0.0013
Row = Mapping[str, Any]


class WrongNetworkError(RuntimeError):
    """The network that was trained is not what lesson 07 says of such networks."""


def encoded(step: nn.Module) -> dict[str, Any]:
    """Return the weights as JSON can hold them: {name: {"shape": [...], "float32": little-endian numbers, base64}}.

    TypeError unless step is a `MazeStep`; ValueError if news goes through its walls, and where `weights_of` refuses it.
    """
    if not isinstance(step, mazes.MazeStep):
        raise TypeError(f"step must be a MazeStep; got a {type(step).__name__}")
    if step.through_walls:
        raise ValueError("step must have through_walls = False: in the page, no news goes through walls")
    return weights_of(step)


def checked(step: nn.Module, rows: Sequence[Row], n_mazes: int = 20) -> dict[str, float]:
    """Return how right a network is on mazes of 20 x 20 cells, halted place by place, and its mean steps.

    rows: the stored runs. WrongNetworkError if fewer whole mazes are right than in any of those, at any size, or if the
    mean steps are not the need, to 1 %.
    """
    task, N, _ = stored_runs.TESTS["20"]
    x, _ = task.batch(n_mazes, torch.Generator().manual_seed(100))
    measured = mazes.measure(mazes.PonderNet(step, N), x, N)
    found = {name: round(measured[name], 4) for name in ("places", "mazes", "steps", "needed", "early")}
    worst = min(row[size]["mazes"] for row in rows for size in SIZES)
    off = found["steps"] / found["needed"] - 1
    if found["mazes"] < worst or abs(off) > TOLERANCE:
        raise WrongNetworkError(
            f"on {n_mazes} mazes of 20 x 20 cells the network is right at every place of {found['mazes']:.0%}, with "
            f"{off:+.1%} steps against the need; stored runs ({RESULTS.name}) are right in {worst:.0%} or more, "
            f"and this page allows {TOLERANCE:.0%} of steps"
        )
    return found


def known(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the stored runs say, for the sentences of the page: whole mazes right, from the worst to the best."""
    tests = (*SIZES, "20, loops", "20, all passages")
    spans = {test: [min(row[test]["mazes"] for row in rows), max(row[test]["mazes"] for row in rows)] for test in tests}
    n_cells, longest, *_ = max(mazes.PHASES)
    return {
        "networks": len(rows),
        "mazes": spans,
        "trained_side": 2 * n_cells - 1,
        "trained_steps": longest,
        "largest_side": 2 * int(SIZES[-1]) - 1,
    }


def colours() -> dict[str, Any]:
    """Return the colours of the course's figures; steps from few to many, also brighter, for a dark page."""
    dark = mpl.colormaps["YlOrBr"](np.linspace(0.0, 0.68, 9))
    return {
        "first": style.BLUE,
        "second": style.PURPLE,
        "halting": style.HALTING,
        "wrong": style.WRONG,
        "wall": WALL,
        "steps": {"light": list(map(to_hex, THOUGHT(np.linspace(0, 1, 9)))), "dark": list(map(to_hex, dark))},
    }


def trained(kept: Path = KEPT) -> dict[str, Any]:
    """Return the network of the first stored run: seed, fingerprint of the code, weights, and what `checked` found.

    It is trained unless `kept` holds it, made by the same code. DamagedFileError if the file there is no export.
    """
    rows = runs.stored(RESULTS)
    if not rows:
        raise FileNotFoundError(f"{RESULTS} must hold the stored runs of lesson 07; it holds none")
    seed, code = rows[0]["seed"], fingerprint_of(stored_runs.run)
    file = kept / "weights.json"
    if file.exists():
        try:
            found = json.loads(file.read_text())
            same = [found[name] for name in ("format", "seed", "fingerprint")] == [FORMAT, seed, code]
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedFileError(
                f"{file} is not what this export writes. Delete it, and it is made again."
            ) from error
        if same:
            return found
    print(f"training lesson 07's network on seed {seed}: about a minute, once", flush=True)
    torch.set_num_threads(1)
    step = mazes.learn(seed).step
    found = {
        "format": FORMAT,
        "seed": seed,
        "fingerprint": code,
        "checked": checked(step, rows),
        "weights": encoded(step),
    }
    kept.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as draft:
        draft.write_text(json.dumps(found))
    return found


def write(folder: Path, kept: Path = KEPT) -> Path:
    """Write network.js into a folder, which is made if it is not there, beside the page's scripts; return the file.

    It is JSON behind `window.ponderNetwork =`: a page that is opened as a file may load scripts, but no JSON.
    """
    export = trained(kept) | {"known": known(runs.stored(RESULTS)), "colours": colours()}
    shutil.copytree(HERE / "static", folder, dirs_exist_ok=True)
    path = folder / "network.js"
    path.write_text(f"window.ponderNetwork = {json.dumps(export)};\n")
    return path


def write_page(folder: Path, kept: Path = KEPT) -> Path:
    """Write the page alone, with all that it needs, and return index.html."""
    write(folder / "_static" / "front", kept)
    page = folder / "index.html"
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    looks = (
        "body{margin:0 auto;max-width:54em;padding:1em;font-family:sans-serif}body[data-theme=dark]{background:#131416}"
    )
    looks += "@media(prefers-color-scheme:dark){body:not([data-theme=light]){background:#131416}}"
    body = (HERE / "maze.html").read_text()
    page.write_text(
        f'<!doctype html>\n<html lang="en"><head>{head}<title>A maze that thinks</title><style>{looks}</style></head>\n'
        f'<body data-theme="auto">\n{body}</body></html>\n'
    )
    return page


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="where network.js goes; without: the page in runs/front")
    folder = parser.parse_args().folder
    print(write(folder) if folder else write_page(KEPT))
