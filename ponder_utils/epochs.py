"""Batches of a `DataLoader`, and random numbers, that a resumed training finds again."""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ponder_utils.checkpoints import checksum

END = object()


class GlobalRandom:
    """The random numbers for which nobody gives a generator: Python's, NumPy's, torch's, and torch's on a device."""

    def __init__(self, device: torch.device) -> None:
        # modules of torch, and what their functions are given besides
        self.places: list[tuple[Any, Any]] = [(torch, ())]
        if device.type in ("cuda", "mps", "xpu"):
            self.places.append((torch.get_device_module(device), (device,)))

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002
        tensors = [place.get_rng_state(*device) for place, device in self.places]
        return {"python": random.getstate(), "numpy": numpy_state, "torch": tensors}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """From a checkpoint."""
        random.setstate(state["python"])
        np.random.set_state(state["numpy"])  # noqa: NPY002
        for (place, device), tensor in zip(self.places, state["torch"], strict=True):
            place.set_rng_state(tensor, *device)

    @contextmanager
    def seeded(self, seed: int) -> Iterator[None]:
        """Draw from this seed within the block, and go on after it as if nothing had been drawn."""
        before = self.state_dict()
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002
        for place, device in self.places:
            place.set_rng_state(torch.Generator(*device).manual_seed(seed).get_state(), *device)
        try:
            yield
        finally:
            self.load_state_dict(before)


class Draws:
    """Draws batches from a function that has no state of its own: resumed, it must draw the last batch once more."""

    def __init__(self, draw: Callable[[torch.Generator], Any], global_random: GlobalRandom) -> None:
        self.draw, self.global_random = draw, global_random
        self.last: dict[str, Any] = {}

    def __call__(self, generator: torch.Generator) -> Any:
        """Return the next batch."""
        self.last = {"generator": generator.get_state(), "random": self.global_random.state_dict()}
        self.last["device"] = str(generator.device)
        batch = self.draw(generator)
        self.last["checksum"] = checksum(batch)
        return batch

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint: what the last batch was drawn with, and its checksum."""
        return self.last

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """From a checkpoint. ValueError if another batch is drawn now."""
        with self.global_random.seeded(0):
            self.global_random.load_state_dict(state["random"])
            self(torch.Generator(state["device"]).set_state(state["generator"]))
        if self.last["checksum"] != state["checksum"]:
            why = "of other data, or counted in the function, which then needs a state_dict and a load_state_dict"
            raise ValueError(f"batches are others than in the checkpoint: the last, drawn again, differs; {why}")


class Epochs:
    """Draws from an iterable of batches, such as a `DataLoader`, and starts over where it ends.

    The global random numbers are seeded for each batch, and the generators that the iterable and its samplers hold for
    each epoch, so that an epoch can be read again. With `resumable`, a checksum shows whether it came again; ValueError
    for persistent workers, which keep random numbers of their own from epoch to epoch.
    """

    def __init__(self, loader: Iterable[Any], global_random: GlobalRandom, resumable: bool) -> None:
        self.loader, self.global_random, self.resumable = loader, global_random, resumable
        self.seed, self.taken, self.checksum = 0, 0, 0
        self.iterator: Iterator[Any] = iter(())
        if resumable and any(getattr(part, "persistent_workers", False) for part in self._parts()):
            why = "whose random numbers are in no checkpoint"
            raise ValueError(f"batches must be without persistent_workers where there is a checkpoint_dir, {why}")

    def __call__(self, generator: torch.Generator) -> Any:
        """Return the next batch; ValueError if the iterable is empty or can be read only once."""
        batch = self._next() if self.taken else END
        if batch is END:
            self.seed = int(torch.randint(2**31, (), generator=generator, device=generator.device))
            self.taken, self.checksum = 0, 0
            batch = self._next()
        if batch is END:
            raise ValueError("batches must hold a batch each time it is read; got an iterable that is empty or used up")
        return batch

    def _next(self) -> Any:
        with self.global_random.seeded(self.seed + self.taken):
            if self.taken == 0:
                for n, own in enumerate(part for part in self._parts() if isinstance(part, torch.Generator)):
                    own.manual_seed(self.seed + n)
                self.iterator = iter(self.loader)
            batch = next(self.iterator, END)
        if batch is not END:
            self.taken += 1
            self.checksum = checksum(batch, self.checksum) if self.resumable else 0
        return batch

    def _parts(self) -> list[Any]:
        """Return the iterable, and the samplers, loaders and generators that it holds, however deep."""
        parts: list[Any] = [self.loader]
        for part in parts:  # which grows
            inside = vars(part).values() if hasattr(part, "__dict__") else ()
            if isinstance(part, list | tuple | dict) and len(part) < 100:
                inside = part.values() if isinstance(part, dict) else part
            for value in inside:
                is_read = isinstance(value, torch.Generator) or hasattr(value, "__iter__")
                if is_read and not any(value is other for other in parts):
                    parts.append(value)
        return parts

    def state_dict(self) -> dict[str, int]:
        """For a checkpoint."""
        return {"seed": self.seed, "taken": self.taken, "checksum": self.checksum}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """From a checkpoint: read the epoch again up to where it was. ValueError if it holds other batches now."""
        self.seed, self.taken, self.checksum = state["seed"], 0, 0
        while self.taken < state["taken"] and self._next() is not END:
            pass
        if self.state_dict() != state:
            why = "other data, other sizes, or random numbers that no checkpoint holds"
            came = f"of {state['taken']} taken in the last epoch, {self.taken} were read again, and differ: {why}"
            raise ValueError(f"batches are others than in the checkpoint; {came}")
