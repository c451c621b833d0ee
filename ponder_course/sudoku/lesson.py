"""The cells of notebooks/10_sudoku.ipynb that are tagged `source`: change them there, then `make sources`."""

from functools import partial

import torch
from torch import Tensor, nn

import ponder_utils as pu
from ponder_course.common.measures import at_step
from ponder_course.common.training import fit
from ponder_course.sudoku.cover import Groups
from ponder_course.sudoku.search import Search, Think, Thought, fits, guesses, think_until_quiet
from ponder_course.sudoku.task import UNKNOWN, SudokuTask, sudoku_groups


def others(h: Tensor, groups: Groups) -> Tensor:  # [boards, places, channels]
    in_groups = h[:, groups.members]  # [boards, groups, places of a group, channels]
    first, at = in_groups.max(2, keepdim=True)  # the largest state of each group, and where
    second = in_groups.scatter(2, at, -1.0).amax(2, keepdim=True)  # without it (-1: the least)
    of_others = first.expand_as(in_groups).scatter(2, at, second)  # first, but second for its owner
    return of_others.flatten(1, 2)[:, groups.slots]  # [boards, places, 4 groups, channels]


class Places(pu.Step):
    def __init__(self, groups: Groups, channels: int, noise: float = 0.0) -> None:
        super().__init__()
        self.groups, self.noise = groups, noise
        self.from_x, self.heads = nn.Linear(2, channels), nn.Linear(channels, 2)
        self.own, self.heard = nn.Linear(channels, channels), nn.Linear(channels, channels)
        self.from_h, self.from_m = nn.Linear(channels, channels), nn.Linear(channels, channels)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:  # [boards, row, column, digit]
        signs = x.flatten(1)  # 1: given on, -1: given off, 0: open
        z = self.from_x(torch.stack([signs == 1, signs == -1], 2).to(self.from_x.weight.dtype))
        return z, torch.zeros_like(z)  # W_x x + b' and h_0, [boards, places, channels] each


class CoverStep(Places):  # own: W_o, heard: W_m, from_h: W_h, from_m: W_hm
    def message(self, h: Tensor) -> Tensor:  # [boards, places, channels], here and below
        heard = self.heard(others(h, self.groups))
        return torch.relu(self.own(h)[:, :, None] + heard).amax(2)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        m = self.message(h)
        h = torch.tanh(self.from_h(h) + self.from_m(m) + z)  # (1)
        return h + self.noise * torch.randn_like(h) if self.training else h

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        cells = self.groups.members[: self.groups.asked]  # the first groups are the cells
        y_hat, a = self.heads(h)[:, cells].unbind(3)  # of each digit, [boards, cells, digits]
        return y_hat, a.amax(2)


ponder_loss = pu.PonderLoss(nn.CrossEntropyLoss(reduction="none"), prior=0.8, beta=0.03)


def charge_of_stuck(output: pu.PonderOutput, y: Tensor) -> Tensor:
    stuck = y == UNKNOWN  # [boards, cells]
    if not stuck.any():
        return torch.zeros(())
    survival = output.at(stuck).log_survival.exp()  # [N, cells]: has not halted by step n
    return (1 - survival[-2]).mean()  # has halted by step N - 1


def loss_of_cells(output: pu.PonderOutput, y: Tensor) -> Tensor:
    findable = y >= 0
    return ponder_loss(output.at(findable), y[findable]).total + charge_of_stuck(output, y)


def untrained(seed: int) -> pu.PonderNet:
    torch.manual_seed(seed)
    return pu.PonderNet(CoverStep(sudoku_groups(2), channels=24, noise=0.1), max_steps=12)


def learn(seed: int, updates: int, device: torch.device) -> pu.PonderNet:
    model, draw = untrained(seed).to(device), partial(SudokuTask(2).batch, 32)  # boards in a batch
    schedule = pu.cool_down(updates)  # after half of the updates lr falls in a line to 0
    fit(model, loss_of_cells, draw, updates, lr=1e-2, clip=1.0, seed=seed, schedule=schedule)
    return model.cpu()


def on_boards(model: pu.PonderNet, box: int) -> CoverStep:  # 3: boards of 9 x 9
    step = CoverStep(sudoku_groups(box), channels=24)
    step.load_state_dict(model.step.state_dict())
    return step.eval()


def halt(output: pu.PonderOutput, level: float = 0.5) -> tuple[Tensor, Tensor]:
    halts = output.halt_logits.sigmoid() >= level  # [N, boards, cells]
    steps = torch.where(halts.any(0), halts.long().argmax(0) + 1, 0)  # the first; 0: it waits
    digits = output.y_hat.argmax(3)  # from 0, at each step
    return at_step(digits, torch.where(steps > 0, steps, len(digits))), steps


def solve(
    step: pu.Step, board: Tensor, max_thoughts: int = 10_000, thinks: Think = think_until_quiet
) -> Search:
    search, to_do = Search(), [Thought(board)]  # 0 where a cell is open
    while to_do and search.solved is None and len(search.thoughts) < max_thoughts:
        thought = to_do.pop()
        thought.answers, thought.steps = thinks(step, thought.board)  # 0: a cell still waits
        search.thoughts.append(thought)
        if not fits(thought.answers):  # a contradiction: this guess is taken back
            continue
        if thought.answers.all():
            search.solved = thought.answers
        else:  # one thought for each digit left in the cell
            to_do += guesses(thought.answers, parent=len(search.thoughts) - 1)
    return search
