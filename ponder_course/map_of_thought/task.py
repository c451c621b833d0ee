"""Mazes in which every open place has to say whose star is nearest, and news travels one place a step.

A maze has m x m cells and is drawn on 2 m - 1 by 2 m - 1 places: cells stand where both coordinates are even, passages
between them, all else is wall. A place hears from the eight around it, through open places only.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csgraph, csr_array
from torch import Tensor
from torch.nn.functional import max_pool2d

from ponder_utils._check import check_generator, check_int, check_real


@dataclass(frozen=True)
class MazeTask:
    """Whose star is nearest? The target at an open place is 1.0 if it is a star of the second colour, 0.0 of the first.

    Mazes are random spanning trees of n_cells x n_cells cells, of which 1 to max_stars hold a star of a random colour;
    of the passages that are no part of the tree, this fraction is open, too: loops. Walls have no target, and neither
    have places as far from both colours: there stands -1.
    TypeError or ValueError unless n_cells >= 2, 1 <= max_stars <= n_cells^2 and 0 <= loops <= 1.
    """

    n_cells: int
    max_stars: int = 3
    loops: float = 0.0

    def __post_init__(self) -> None:
        check_int("n_cells", self.n_cells, 2)
        check_int("max_stars", self.max_stars, 1, self.n_cells**2)
        check_real("loops", self.loops, 0, 1, open_low=False)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, 3, side, side], open places and stars of both colours, and y [batch_size, side, side].

        side = 2 n_cells - 1; float32. x is 1.0 where there is an open place, or a star, and 0.0 elsewhere.
        """
        device = check_generator(generator)
        shape = (check_int("batch_size", batch_size, 1), self.n_cells, self.n_cells)
        is_open = self._open_places(batch_size, generator)
        n_stars = torch.randint(1, self.max_stars + 1, (batch_size, 1), generator=generator, device=device)
        order = torch.rand(batch_size, self.n_cells**2, generator=generator, device=device).argsort(1).argsort(1)
        is_star = (order < n_stars).view(shape)
        is_second = torch.rand(shape, generator=generator, device=device) < 0.5
        x = torch.stack([is_open, torch.zeros_like(is_open), torch.zeros_like(is_open)], dim=1)
        x[:, 1:, ::2, ::2] = torch.stack([is_star & ~is_second, is_star & is_second], dim=1).float()
        return x, self.answers(x)

    def _open_places(self, batch_size: int, generator: torch.Generator | None) -> Tensor:
        """Draw mazes, [batch_size, side, side]: one forest of least weight, with a tree for each maze."""
        m, device = self.n_cells, check_generator(generator)
        cells = torch.arange(batch_size * m * m, dtype=torch.int32, device="cpu")  # scipy < 1.16 asks for int32
        cells = cells.view(batch_size, m, m)
        to_the_right = torch.stack([cells[:, :, :-1].flatten(), cells[:, :, 1:].flatten()])
        downwards = torch.stack([cells[:, :-1].flatten(), cells[:, 1:].flatten()])
        passages = torch.cat([to_the_right, downwards], dim=1)  # [2, passages], from one cell to another
        n = passages.shape[1]
        weights = 1 + torch.rand(n, generator=generator, device=device).cpu()  # 0 would be no passage
        graph = csr_array((weights, tuple(passages)), shape=(cells.numel(), cells.numel()))
        tree = torch.from_numpy(np.stack(csgraph.minimum_spanning_tree(graph).nonzero()))
        in_a_loop = torch.rand(n, generator=generator, device=device).cpu() < self.loops
        ends = torch.cat([tree, passages[:, in_a_loop]], dim=1)
        maze, row, column = ends[0] // m**2, ends // m % m, ends % m
        is_open = torch.zeros(batch_size, 2 * m - 1, 2 * m - 1, dtype=torch.float32, device="cpu")
        is_open[:, ::2, ::2] = 1
        is_open[maze, row.sum(0), column.sum(0)] = 1  # half-way between places 2 (row, column) of both cells
        return is_open.to(device)

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """Return the targets of mazes x [batch, 3, height, width]: [batch, height, width], -1 where there is none."""
        first, second = distances(x[:, 0], x[:, 1]), distances(x[:, 0], x[:, 2])
        return torch.where(first == second, -1.0, (second < first).float())

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """Return the steps each place needs, the distance to its nearest star and 1 more: int64 [batch, height, width].

        A place that no news can reach, such as a wall, has one step more than the mazes have places.
        """
        return distances(x[:, 0], x[:, 1:].amax(1)) + 1


def with_both_colours(x: Tensor) -> list[int]:
    """Return which mazes have stars of both colours, those first whose places are divided most evenly."""
    y = MazeTask.answers(x).flatten(1)
    smaller = torch.minimum((y == 0).sum(1), (y == 1).sum(1))
    return [int(i) for i in smaller.argsort(descending=True, stable=True) if smaller[i] > 0]


def distances(is_open: Tensor, sources: Tensor) -> Tensor:
    """Return how many steps it is from the nearest source through open places: int64 [batch, height, width].

    is_open, sources: 1.0 or 0.0, [batch, height, width]. Where none can be reached, the number of places of a maze.
    """
    reached = is_open * sources
    far = is_open[0].numel()
    away = torch.where(reached > 0, 0, far)
    for n in range(1, far):
        grown = max_pool2d(reached, 3, stride=1, padding=1) * is_open
        new = grown > reached
        if not new.any():
            break
        away[new] = n
        reached = grown
    return away
