"""The networks of the live figures, as they are stored: how right they are on their tasks."""

import sys
from functools import partial
from pathlib import Path

import pytest
import torch

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.lines import LineParityTask, all_of_one_segment
from ponder_course.common.measures import at_step, think
from ponder_course.judges import experiment as judges
from ponder_course.judges.lesson import halting_steps
from ponder_course.judges.task import SumTask
from ponder_course.light_cone.lesson import whole_lines_right
from ponder_course.map_of_thought.lesson import halt as halt_mazes
from ponder_course.map_of_thought.task import MazeTask
from ponder_course.price_of_a_word import experiment as prices
from ponder_course.sudoku import experiment as sudoku
from ponder_course.sudoku.lesson import on_boards
from ponder_course.sudoku.task import SudokuTask
from ponder_course.words import experiment as walkers
from ponder_utils import ParityTask, PonderNet, evaluate

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "book" / "live"))
from live_networks import load, stored  # noqa: E402


def drawn(task, n):
    return task.batch(n, torch.Generator().manual_seed(0))[0]


def of_lines(x, model):
    halted = model.predict(x, "threshold", q=0.2, max_steps=x.shape[2] + 16)
    return [whole_lines_right(halted.y_hat, LineParityTask.answers(x)).float().mean()]


def of_mazes(model):
    x, y = MazeTask(15).batch(5, torch.Generator().manual_seed(0))
    y_hat, _ = halt_mazes(model.eval(), x, 120)
    return [((y_hat > 0) == (y > 0.5))[y >= 0].float().mean()]


def of_sudokus(model):
    """Cells that halt in their round, where elimination knows them; and where not, that halt."""
    x = drawn(SudokuTask(3), 10)
    test = sudoku.measure(think(PonderNet(on_boards(model, 3), 60), x, 60), x)
    return [test["exactly"] / test["cells"], test["given up"] / test["unknown"]]


def of_nodes(measure, max_depth, model):
    """Right answers up to the depth of training, and beyond."""
    x = torch.cat([drawn(ForestTask(32), 20), forests.chains(5, 32, torch.Generator().manual_seed(0))])
    right = [[], []]
    for depth, row in measure(model, x, 40)["by_depth"].items():
        right[depth > max_depth] += [row["right"]] * row["nodes"]
    return [sum(rows) / len(rows) for rows in right]


def of_judges(step):
    """Lines right when they halt, or at their need if that is later; lines that halt before."""
    x, y = SumTask(16, n_values=step.n_values).batch(1000, torch.Generator().manual_seed(0))
    thought, need = judges.think(step, x, y, 20), SumTask.needed_steps(x).amax(1)
    steps = halting_steps(thought.q_logits)
    right = at_step(thought.right, torch.maximum(steps, need))
    return [right.float().mean(), (steps < need).float().mean()]


def of_writers(writer):
    """Right answers of questions with an arrow."""
    return [prices.measure(writer, prices.texts_of("forests", 40))["right"]]


def of_parity(model):
    score = evaluate(model, *ParityTask(8).batch(2000, torch.Generator().manual_seed(0)))
    return [score.accuracy, *score.accuracy_by_step]


RIGHT = {
    "line": (partial(of_lines, drawn(LineParityTask(64), 300)), [1]),
    "vote": (partial(of_lines, all_of_one_segment(6)), [1]),
    "parity": (of_parity, [1, *stored("parity")[2]["right_at"]]),  # as its page says
    "maze": (of_mazes, [1]),
    "forest_alone": (partial(of_nodes, forests.measure, 8), [1, 1]),
    "forest_together": (partial(of_nodes, forests.measure, 8), [1, 1]),
    "judges_two": (of_judges, [1, 0.69]),
    "judges_five": (of_judges, [0.98, 0]),
    "words_word": (partial(of_nodes, walkers.measure, 1), [1, 1]),
    "words_state": (partial(of_nodes, walkers.measure, 1), [1, 0]),
    "price_2": (of_writers, [1]),
    "price_20": (of_writers, [1]),
    "price_28": (of_writers, [0.93]),
    "price_32": (of_writers, [0]),
    "sudoku": (of_sudokus, [1, 0]),
}


@torch.no_grad()
@pytest.mark.parametrize("name", RIGHT)
def test_a_network_is_as_right_as_its_figure_says(name):
    measure, expected = RIGHT[name]
    assert [float(value) for value in measure(load(name))] == pytest.approx(expected, abs=0.02)
