"""Train the networks of the live figures, check each, and write them down: book/live/weights/, which is committed.

    python book/live/live_networks.py            all of them, a few minutes on one core
    python book/live/live_networks.py line       one of them

The book takes what is committed, and trains nothing. A file is JSON behind `live.weights.NAME =`, since a page that is
opened as a file may load scripts, but no JSON.
"""

import argparse
import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from ponder_course.adding_a_column import experiment as columns
from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.digits import DigitSet, load_digits
from ponder_course.common.fingerprint import fingerprint_of
from ponder_course.common.lines import LineParityTask, all_of_one_segment, whole_lines_right
from ponder_course.common.local import LocalStep
from ponder_course.common.measures import at_step, mean, think
from ponder_course.common.runs import rounded
from ponder_course.judges import experiment as judges
from ponder_course.judges.task import SumTask
from ponder_course.light_cone.experiment import fresh
from ponder_course.map_of_thought import experiment as mazes
from ponder_course.map_of_thought.task import MazeTask
from ponder_course.mnist_rotation import experiment as rotation
from ponder_course.mnist_rotation.task import rotated_by
from ponder_course.sudoku import experiment as sudoku
from ponder_course.sudoku.cover import CoverStep
from ponder_course.sudoku.task import SudokuTask, sudoku_groups
from ponder_course.words import experiment as walkers
from ponder_evidence.adding_a_column.experiment import run as run_columns
from ponder_evidence.alone_and_together.experiment import run as run_forests
from ponder_evidence.judges import experiment as judged_runs
from ponder_evidence.light_cone import beating_the_clock as hurry
from ponder_evidence.light_cone import experiment as lines
from ponder_evidence.map_of_thought import experiment as stored_mazes
from ponder_evidence.mnist_rotation import experiment as digits
from ponder_evidence.parity import experiment as parity
from ponder_evidence.sudoku.experiment import run as run_sudoku
from ponder_evidence.words.experiment import run as run_walkers
from ponder_utils.checkpoints import atomic_write
from ponder_utils.evaluation import class_correct, evaluate
from ponder_utils.pondernet import PonderNet
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import RNNStep
from ponder_utils.tasks import ParityTask

WEIGHTS = Path(__file__).resolve().parent / "weights"
DATA = Path(__file__).resolve().parents[2] / "data"  # where MNIST is
Row = dict[str, Any]


def encoded(step: nn.Module, n_bytes: int = 4) -> Row:
    """Return the weights as JSON can hold them: {name: {"shape": [...], "float32": little-endian numbers, base64}}.

    n_bytes: 2 for "bfloat16" in place of "float32": the upper half of each number.

    ValueError if a weight is not finite, or if a state's numbers are no multiple of 4 (the page computes four at once).
    """
    weights = {}
    for name, weight in step.state_dict().items():
        if not weight.isfinite().all():
            raise ValueError(f"step must have finite weights; {name} has others")
        if name.endswith("from_h.bias") and len(weight) % 4:
            raise ValueError(f"step must have a multiple of 4 numbers in a state; got {len(weight)}")
        rounded_weight = weight.cpu().bfloat16().float() if n_bytes == 2 else weight.cpu()
        numbers = np.asarray(rounded_weight, "<f4")[..., None].view(np.uint8)[..., 4 - n_bytes :].tobytes()
        kind = "float32" if n_bytes == 4 else "bfloat16"
        weights[name] = {"shape": list(weight.shape), kind: base64.b64encode(numbers).decode()}
    return weights


def decoded(weights: Mapping[str, Mapping[str, Any]]) -> dict[str, torch.Tensor]:
    """Return the tensors that `encoded` wrote, as a state_dict."""
    tensors = {}
    for name, weight in weights.items():
        halves = np.frombuffer(base64.b64decode(weight.get("float32") or weight["bfloat16"]), "<u2")
        if "bfloat16" in weight:
            halves = np.stack([np.zeros_like(halves), halves], axis=1)
        tensors[name] = torch.from_numpy(np.ascontiguousarray(halves).view("<f4").copy()).view(weight["shape"])
    return tensors


def learn_parity(**setting: Any) -> PonderNet:
    """Return the network that lesson 03's run with this setting trains."""
    kept = []

    def keep(model: PonderNet, elements: int) -> Row:
        kept.append(model)
        return {}

    parity.run(more=keep, **setting)
    return kept[0]


def check_line(model: PonderNet, seed: int = 0) -> Row:
    """Return how many fresh lines are right, and their mean steps and need: {places: measures}."""
    found = {}
    for places in (16, 64):
        x, y = fresh(LineParityTask(places), 500, seed)
        halted = model.predict(x, "threshold", q=0.2, max_steps=places + 16)
        found[places] = {
            "right": whole_lines_right(halted.y_hat, y).float().mean().item(),
            "steps": halted.steps.float().mean().item(),
            "need": LineParityTask.needed_steps(x).amax(1).float().mean().item(),
        }
    return rounded(found)


def check_vote(model: PonderNet, seed: int = 0) -> Row:
    """Return how many of all lines of six places are right, their mean steps and need, and how many halt early."""
    x = all_of_one_segment(hurry.RECIPE["places"])
    halted = model.predict(x, "threshold", q=0.2)
    right = whole_lines_right(halted.y_hat, LineParityTask.answers(x)).float().mean().item()
    steps, need = halted.steps.float(), LineParityTask.needed_steps(x).amax(1).float()
    early = int((steps < need).sum())
    return rounded({"right": right, "steps": steps.mean().item(), "need": need.mean().item(), "early": early})


def check_parity(model: PonderNet, seed: int = 0) -> Row:
    """Return how often fresh inputs are right if the network halts by itself, and if all stop at a step, [N]."""
    score = evaluate(model, *ParityTask(8).batch(2000, torch.Generator().manual_seed(seed)))
    return rounded({"right": score.accuracy, "steps": score.steps, "right_at": score.accuracy_by_step})


def check_column(model: PonderSequence, seed: int = 0) -> Row:
    """Return how many sums of fresh columns are right, and their mean steps and need: {width: measures}."""
    found = {}
    for width in (16, 64):
        x = ColumnTask(width, 8).batch(50, torch.Generator().manual_seed(seed))[0]
        test = columns.measure(model, x, width + 10, q=0.5)
        found[width] = {"right": test["sums"], "steps": test["steps"], "need": test["needed"]}
    return rounded(found)


def check_maze(model: PonderNet, seed: int = 0) -> Row:
    """Return how many places of fresh mazes are right, and their mean steps and need: {cells on a side: measures}."""
    found = {}
    for cells, n_mazes in ((5, 50), (15, 5)):
        x, _ = MazeTask(cells).batch(n_mazes, torch.Generator().manual_seed(seed))
        test = mazes.measure(model, x, 8 * cells)
        found[cells] = {"right": test["places"], "steps": test["steps"], "need": test["needed"]}
    return rounded(found)


def check_sudoku(model: PonderNet, seed: int = 0) -> Row:
    """Return how many cells that elimination can know are right, and how many halt in their round: {side: measures};
    and how many halt of those that it cannot.
    """
    found = {}
    for box, n_boards, n_steps in ((2, 200, 20), (3, 40, 60)):
        x, _ = SudokuTask(box).batch(n_boards, torch.Generator().manual_seed(seed))
        test = sudoku.measure(think(PonderNet(sudoku.on_boards(model, box), n_steps), x, n_steps), x)
        found[box**2] = {
            "right": 1 - test["wrong"] / test["cells"],
            "in_its_round": test["exactly"] / test["cells"],
            "given_up": test["given up"] / test["unknown"],
        }
    return rounded(found)


def check_forest(model: PonderNet, seed: int = 0) -> Row:
    """Return how many nodes are `right_by_border`, and the mean steps by depth."""
    test = forests.measure(model, trees_and_chains(seed, 300, 100), forests.N_NODES + 8)["by_depth"]
    return rounded(right_by_border(test, forests.MAX_DEPTH) | {"steps": [row["steps"] for row in test.values()]})


def check_walker(model: walkers.Walker, seed: int = 0, max_depth: int = 1) -> Row:
    """Return how many nodes are `right_by_border`, and the mean words by depth."""
    test = walkers.measure(model, trees_and_chains(seed, 60, 20), walkers.N_NODES + 8)["by_depth"]
    return rounded(right_by_border(test, max_depth) | {"words": [row["words"] for row in test.values()]})


def trees_and_chains(seed: int, n_trees: int, n_chains: int) -> torch.Tensor:
    """Return fresh forests and chains, with nodes of every depth: parents [texts, nodes]."""
    generator = torch.Generator().manual_seed(seed)
    trees, _ = ForestTask(forests.N_NODES).batch(n_trees, generator)
    return torch.cat([trees, forests.chains(n_chains, forests.N_NODES, generator)])


def right_by_border(by_depth: Mapping[int, Row], max_depth: int) -> Row:
    """Return how many nodes are "right" that are no deeper than in training, and how many "deeper" ones."""
    right, border = {}, max_depth + 1
    for name, depths in (("right", range(border)), ("deeper", range(border, len(by_depth)))):
        nodes = sum(by_depth[depth]["nodes"] for depth in depths)
        right[name] = sum(by_depth[depth]["nodes"] * by_depth[depth]["right"] for depth in depths) / nodes
    return right


def learn_judge(judge: str, n_values: int, discount: float, price: float, seed: int, **recipe: Any) -> PonderNet:
    """Return the network that lesson 11's run with this setting trains."""
    return PonderNet(judges.learn(judge, n_values, discount, price, seed, recipe, "product", True), recipe["N"])


def check_judge(model: PonderNet, seed: int = 0) -> Row:
    """Return how many fresh lines are right when they halt, or at their need if that is later; how many are early."""
    x, y = SumTask(16, n_values=model.step.n_values).batch(1000, torch.Generator().manual_seed(seed))
    thought, need = judges.think(model.step, x, y, 20), SumTask.needed_steps(x).amax(1)
    steps = judges.halting_steps(thought)
    right = at_step(thought.right, torch.maximum(steps, need))
    return rounded({"right": mean(right), "early": mean(steps < need), "steps": mean(steps), "need": mean(need)})


@cache
def mnist() -> DigitSet:
    """Return MNIST, read once."""
    return load_digits("mnist", DATA)


def learn_digits(**setting: Any) -> PonderNet:
    """Return the network that lesson 04's run with this setting trains, on MNIST."""
    return digits.learn(mnist(), "class", **setting)[0]


def check_digits(model: PonderNet, seed: int = 0) -> Row:
    """Return how many upright digits are read rightly, of half of MNIST's test images, and in how many steps."""
    test = mnist().test
    half = torch.randperm(len(test.y), generator=torch.Generator().manual_seed(seed))[: len(test.y) // 2]
    score = evaluate(model, rotated_by(test.x[half], 0), test.y[half], class_correct)
    return rounded({"right": score.accuracy, "steps": score.steps})


@dataclass(frozen=True)
class Network:
    """A network of a live figure: the stored run that trains one like it, and what of it is checked."""

    run: Callable[..., Row]  # its fingerprint is that of the code behind the weights
    setting: Row
    learn: Callable[..., Any]
    check: Callable[..., Row]
    step: Callable[[], nn.Module]  # untrained
    model: Callable[[nn.Module], Any]  # the network around it
    n_bytes: int = 4  # of a weight
    at_least: float = 0.98  # so many are right
    part: Callable[[Any], nn.Module] = attrgetter("step")  # of the network, which is written


def of_forests(memory: str, **setting: Any) -> Network:
    """Return a network of the figure of forests, which reads the others as memory says."""
    return Network(
        run=run_forests,
        setting={"memory": memory} | setting,
        learn=forests.learn,
        check=check_forest,
        step=partial(forests.make_step, memory),
        model=partial(PonderNet, max_steps=14),
        n_bytes=2,
    )


def of_judges(judge: str, n_values: int) -> Network:
    """Return a network of the figure of judges, on lines with as many values to a place."""
    (setting,) = judged_runs.kinds([judge], [n_values])
    return Network(
        run=judged_runs.run,
        setting=setting | {"seed": 0},
        learn=learn_judge,
        check=check_judge,
        step=partial(judges.JudgedLine, n_values, 2 if judge == "HRM" else 1),
        model=partial(PonderNet, max_steps=judged_runs.RECIPE["N"]),
    )


def of_digits(recipe: Row, at_least: float, **changed: float) -> Network:
    """Return a network that reads digits, by a recipe of lesson 04."""
    kind = recipe["network"]
    return Network(
        run=digits.run,
        setting=recipe | {"updates": rotation.BUDGETS["class"].updates[kind], "seed": 0} | changed,
        learn=learn_digits,
        check=check_digits,
        step=digits.STEPS[kind],
        model=partial(PonderNet, max_steps=recipe["N"]),
        n_bytes=2,
        at_least=at_least,
    )


def of_walkers(carried: str, max_depth: int) -> Network:
    """Return a network of the figure of words."""
    return Network(
        run=run_walkers,
        setting={"carried": carried, "max_depth": max_depth, "seed": 0},
        learn=walkers.learn,
        check=partial(check_walker, max_depth=max_depth),
        step=partial(walkers.Walker, carried),
        model=lambda walker: walker,
        n_bytes=2,
        part=lambda walker: walker,
    )


NETWORKS = {
    "line": Network(
        run=lines.run,
        setting=lines.RECIPE | {"seed": 0},
        learn=lines.learn,
        check=check_line,
        step=partial(LocalStep, 2, lines.CHANNELS),
        model=partial(PonderNet, max_steps=lines.RECIPE["N"]),
    ),
    "vote": Network(
        run=hurry.run,
        setting=hurry.RECIPE | {"seed": 11, "updates": 1500},  # as lesson 06 trains it
        learn=hurry.learn,
        check=check_vote,
        step=partial(LocalStep, 2, lines.CHANNELS),
        model=partial(PonderNet, max_steps=hurry.RECIPE["N"]),
    ),
    "parity": Network(
        run=parity.run_with_map,
        setting=parity.SETTING_OF_MAP | {"seed": 10},
        learn=learn_parity,
        check=check_parity,
        step=partial(RNNStep, 8, 128),
        model=partial(PonderNet, max_steps=parity.SETTING_OF_MAP["N"]),
    ),
    "maze": Network(
        run=stored_mazes.run,
        setting={"seed": 0},
        learn=mazes.learn,
        check=check_maze,
        step=partial(mazes.MazeStep, 32),
        model=partial(PonderNet, max_steps=mazes.PHASES[-1][1]),
    ),
    "column": Network(
        run=run_columns,
        setting={"seed": 10},
        learn=columns.learn,
        check=check_column,
        step=partial(columns.ColumnStep, columns.CHANNELS),
        model=partial(PonderSequence, max_steps=columns.WIDTH + 10),
    ),
    "forest_alone": of_forests("initial", seed=6),
    "forest_together": of_forests("current", seed=1),
    "forest_awake": of_forests("current", seed=1, update_dropout=0.0),
    "judges_two": of_judges("TRM", 2),
    "judges_five": of_judges("TRM", 5),
    "judges_hrm": of_judges("HRM", 2),
    "digit_cnn": of_digits(rotation.CNN, 0.97),
    "digit_cnn_free": of_digits(rotation.CNN, 0.97, beta=0.0),
    "digit_patches": of_digits(rotation.PATCHES, 0.92),
    "digit_patches_free": of_digits(rotation.PATCHES, 0.92, beta=0.0),
    "words_word": of_walkers("word", 1),
    "words_state": of_walkers("state", 1),
    "words_state_four": of_walkers("state", 4),
    "sudoku": Network(
        run=run_sudoku,
        setting={"seed": 10},
        learn=sudoku.learn,
        check=check_sudoku,
        step=partial(CoverStep, sudoku_groups(2), sudoku.CHANNELS),
        model=partial(PonderNet, max_steps=sudoku.N),
    ),
}


def read(name: str) -> Row:
    """Return what was written of a network: setting, fingerprint, checked, weights."""
    text = (WEIGHTS / f"{name}.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix(f"live.weights.{name} = ").removesuffix(";\n"))


def load(name: str) -> Any:
    """Return a network as it was written, in evaluation mode."""
    network = NETWORKS[name]
    step = network.step()
    step.load_state_dict(decoded(read(name)["weights"]))
    return network.model(step).eval()


def write(name: str) -> Path:
    """Train a network, check it, and write it down; return the file."""
    torch.set_num_threads(1)
    network = NETWORKS[name]
    model = network.learn(**network.setting)
    weights = encoded(network.part(model), network.n_bytes)
    network.part(model).load_state_dict(decoded(weights))
    found = {
        "setting": network.setting,
        "fingerprint": fingerprint_of(network.run),
        "checked": network.check(model),
        "weights": weights,
    }
    path = WEIGHTS / f"{name}.js"
    with atomic_write(path) as draft:
        draft.write_text(f"live.weights.{name} = {json.dumps(found)};\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"any of {', '.join(NETWORKS)}; without: all")
    for name in parser.parse_args().names or NETWORKS:
        print(write(name))
