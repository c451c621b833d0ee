"""Batches of a `DataLoader`, in an order that a resumed training finds again."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch


class Epochs:
    """Draws from an iterable of batches, such as a `DataLoader`, and starts over where it ends.

    The order of an epoch is drawn from a seed, which a checkpoint holds with the number of batches that were taken. The
    iterable must draw its order, by torch's random numbers, when its first batch is asked for, as torch's samplers do.
    """

    def __init__(self, loader: Iterable[Any]) -> None:
        self.loader = loader
        self.seed, self.taken = 0, 0
        self.iterator: Iterator[Any] = iter(())

    def __call__(self, generator: torch.Generator) -> Any:
        """Return the next batch; ValueError if the iterable is empty or can be read only once."""
        for batch in self.iterator:
            self.taken += 1
            return batch
        self.seed = int(torch.randint(2**31, (), generator=generator, device=generator.device))
        return self._begin()

    def _begin(self) -> Any:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self.seed)
            for part in (self.loader, getattr(self.loader, "sampler", None)):
                if isinstance(own := getattr(part, "generator", None), torch.Generator):
                    own.manual_seed(self.seed)
            self.iterator, self.taken = iter(self.loader), 1
            for batch in self.iterator:
                return batch
        raise ValueError("batches must hold a batch each time it is read; got an iterable that is empty or used up")

    def state_dict(self) -> dict[str, int]:
        """For a checkpoint."""
        return {"seed": self.seed, "taken": self.taken}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """From a checkpoint: read the epoch again up to where it was."""
        self.seed = state["seed"]
        if state["taken"]:
            self._begin()
            while self.taken < state["taken"]:
                next(self.iterator)
                self.taken += 1
