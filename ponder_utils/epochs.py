"""Batches and random numbers that a resumed training finds again."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ponder_utils.checkpoints import checksum

END = object()


class GlobalRandom:
    """The random numbers for which nobody gives a generator: Python's, NumPy's, torch's, and torch's on a device."""

    def __init__(self, device: torch.device) -> None:
        self.places: list[tuple[Any, Any]] = [(torch, ())]  # modules, and what their functions are given besides
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
    """Draws batches from a function of a generator, or from an iterable, such as a `DataLoader`, which it starts again.

    While an iterable is read, the global random numbers are seeded for each batch, and the generators that it and its
    samplers hold for each epoch. So, if `resumable`, a checkpoint can have the same drawn once more: the last batch of
    a function, or the last epoch as far as it was read; a checksum shows whether it is the same. ValueError for
    persistent workers then, which keep random numbers of their own from epoch to epoch.
    """

    def __init__(self, batches: Any, global_random: GlobalRandom, resumable: bool) -> None:
        self.batches, self.global_random, self.resumable = batches, global_random, resumable
        self.start: dict[str, Any] = {}  # the random numbers before the epoch, or before the batch of a function
        self.taken, self.checksum = 0, 0  # of batches since then
        if resumable and any(getattr(part, "persistent_workers", False) for part in self._parts()):
            why = "whose random numbers are in no checkpoint"
            raise ValueError(f"batches must be without persistent_workers where there is a checkpoint_dir, {why}")

    def __call__(self, generator: torch.Generator) -> Any:
        """Return the next batch; ValueError if an iterable is empty or can be read only once."""
        batch = END if callable(self.batches) or self.taken == 0 else self._read()
        if batch is END:
            if self.resumable:
                self.start = {"generator": generator.get_state(), "device": str(generator.device)}
                self.start["random"] = self.global_random.state_dict()
            self.taken, self.checksum = 0, 0
            batch = self.batches(generator) if callable(self.batches) else self._start_again(generator)
        if batch is END:
            raise ValueError("batches must hold a batch each time it is read; got an iterable that is empty or used up")
        self.taken += 1
        self.checksum = checksum(batch, self.checksum) if self.resumable else 0
        return batch

    def _start_again(self, generator: torch.Generator) -> Any:
        self.seed = int(torch.randint(2**31, (), generator=generator, device=generator.device))
        for n, own in enumerate(part for part in self._parts() if isinstance(part, torch.Generator)):
            own.manual_seed(self.seed + n)
        return self._read()

    def _read(self) -> Any:
        with self.global_random.seeded(self.seed + self.taken):
            if self.taken == 0:
                self.iterator = iter(self.batches)
            return next(self.iterator, END)

    def _parts(self) -> list[Any]:
        """Return the iterable, and the samplers, loaders and generators that it holds, however deep."""
        parts = [self.batches]
        for part in parts:  # which grows
            inside = [*getattr(part, "__dict__", {}).values()]
            if isinstance(part, list | tuple | dict) and len(part) < 100:
                inside = [*part.values()] if isinstance(part, dict) else [*part]
            for value in inside:
                is_read = isinstance(value, torch.Generator) or hasattr(value, "__iter__")
                if is_read and not any(value is other for other in parts):
                    parts.append(value)
        return parts

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return self.start | {"taken": self.taken, "checksum": self.checksum}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """From a checkpoint: draw again what was drawn since `start`. ValueError if that is other batches now."""
        with self.global_random.seeded(0):
            self.global_random.load_state_dict(state["random"])
            generator = torch.Generator(state["device"]).set_state(state["generator"])
            for _ in range(state["taken"]):
                self(generator)
        if (self.taken, self.checksum) != (state["taken"], state["checksum"]):
            why = "other data or sizes, random numbers that no checkpoint holds, or a function that counts its batches"
            advice = "which then needs a state_dict and a load_state_dict"
            raise ValueError(f"batches are others than in the checkpoint, drawn again: {why}, {advice}")
