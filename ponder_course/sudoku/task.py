"""Sudokus of any size, drawn by shuffling one that is solved, and how many rounds elimination needs for each cell."""

import math
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from ponder_course.sudoku.cover import Groups, groups_of, rounds
from ponder_utils._check import check_generator, check_int, check_real

GIVEN, UNKNOWN = -1, -2  # targets of cells that are not asked


@dataclass(frozen=True)
class SudokuTask:
    """Which digit stands in each cell? Boards have box x box boxes of box x box cells, and as many digits as a row.

    A board is one solved board, in all of whose symmetries (digits, rows of a band, bands, columns likewise, transpose)
    it is shuffled. The share of its cells that are given is uniform between two limits, each board drawing its own.
    TypeError or ValueError unless box >= 2 and 0 <= lowest <= highest <= 1.
    """

    box: int
    lowest: float = 0.2
    highest: float = 0.7

    def __post_init__(self) -> None:
        check_int("box", self.box, 2)
        check_real("lowest", self.lowest, 0, 1, open_low=False)
        check_real("highest", self.highest, self.lowest, 1, open_low=False)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, side, side, side], float32, and y [batch_size, side^2], int64; side = box^2.

        x is 1 where a digit is given in a cell, -1 where another is, and 0 where the cell is open: row, column, digit.
        y is the digit, from 0, of an open cell that elimination can know, `GIVEN` or `UNKNOWN` elsewhere.
        """
        solved = self.solved(batch_size, generator)
        device, side = solved.device, self.box**2
        share = torch.rand(batch_size, 1, 1, generator=generator, device=device)
        share = self.lowest + (self.highest - self.lowest) * share
        given = torch.rand(batch_size, side, side, generator=generator, device=device) < share
        x = signs(torch.where(given, solved + 1, 0))
        return x, self.answers(x)

    def solved(self, batch_size: int, generator: torch.Generator | None = None) -> Tensor:
        """Draw solved boards, digits from 0: int64 [batch_size, side, side]."""
        device, box = check_generator(generator), self.box
        check_int("batch_size", batch_size, 1)

        def order(*shape: int) -> Tensor:
            return torch.rand(batch_size, *shape, generator=generator, device=device).argsort(-1)

        lines = []
        for _ in range(2):  # rows, and columns
            bands = order(box)
            within = order(box, box)
            lines.append((bands[..., None] * box + within).flatten(1))
        rows, columns = lines[0][:, :, None], lines[1][:, None, :]
        pattern = (box * (rows % box) + rows // box + columns) % box**2
        board = order(box**2).gather(1, pattern.flatten(1)).view_as(pattern)
        turned = torch.rand(batch_size, 1, 1, generator=generator, device=device) < 0.5
        return torch.where(turned, board.mT, board)

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """Return y of boards x as `batch` draws them: the digit of an open cell that can be known, from 0, or less."""
        known, since = _by_cell(x)
        digits = torch.where(known == 1, torch.arange(x.shape[-1], device=x.device), UNKNOWN).amax(2)
        return torch.where((known * since == 1).any(2), GIVEN, digits)

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """Return the round in which elimination knows the digit of each cell: int64 [batch, cells].

        1 where it is given, and 0 where it is never known.
        """
        known, since = _by_cell(x)
        return torch.where(known == 1, since, 0).amax(2)


def _by_cell(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return what the rule knows, and in which round, of each cell's digits: [batch, cells, digits] each."""
    known, since = rounds(x.flatten(1), sudoku_groups(math.isqrt(x.shape[-1])).to(x.device))
    return known.unflatten(1, (-1, x.shape[-1])), since.unflatten(1, (-1, x.shape[-1]))


@cache
def sudoku_groups(box: int) -> Groups:
    """Return the groups of the places (row, column, digit) of a sudoku; the questions are its cells, row by row."""
    side = check_int("box", box, 2) ** 2
    place = torch.arange(side**3).view(side, side, side)
    boxes = place.view(box, box, box, box, side).permute(0, 2, 4, 1, 3)
    kinds = [place, place.permute(0, 2, 1), place.permute(1, 2, 0), boxes]
    groups = torch.cat([kind.reshape(-1, side) for kind in kinds])
    return groups_of(groups.tolist(), asked=side**2)


def signs(board: Tensor) -> Tensor:
    """Return x, as a batch has it, of boards [batch, side, side]: digits from 1, and 0 where a cell is open."""
    side = board.shape[-1]
    is_digit = board[..., None] == torch.arange(1, side + 1, device=board.device)
    return is_digit.float() - (~is_digit & (board > 0)[..., None]).float()


def read_board(text: str) -> Tensor:
    """Return the board of a text of digits, row by row, with 0 or . where a cell is open: int64 [1, side, side].

    Spaces and line breaks do not count. ValueError that names the cell if a digit stands twice in a row, a column or a
    box, or is none; or if there are not as many signs as a board of 4 x 4 or 9 x 9 has cells.
    """
    cells = "".join(text.split()).replace(".", "0")
    side = math.isqrt(len(cells))
    if side not in (4, 9) or side**2 != len(cells):
        raise ValueError(f"text must have 16 or 81 digits; got {len(cells)}")
    digits: list[int] = []
    for n, sign in enumerate(cells):
        name = f"row {n // side + 1}, column {n % side + 1}"
        if sign not in "0123456789"[: side + 1]:
            raise ValueError(f"text must have a digit from 1 to {side}, 0 or . in each cell; got {sign!r} in {name}")
        digits.append(int(sign))
    board = torch.tensor(digits).view(1, side, side)
    box = math.isqrt(side)
    for n, digit in enumerate(digits):
        row, column = divmod(n, side)
        for m, other in enumerate(digits[:n]):
            r, c = divmod(m, side)
            shared = r == row or c == column or (r // box, c // box) == (row // box, column // box)
            if digit and digit == other and shared:
                came = f"{digit} in row {r + 1}, column {c + 1} and row {row + 1}, column {column + 1}"
                raise ValueError(f"text must have no digit twice in a row, a column or a box; got {came}")
    return board
