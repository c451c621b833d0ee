"""Batches and random numbers that a resumed training finds again."""

import random
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ponder_utils.states import tensors_in


class RandomNumbers:
    """All of a run: of the generator of its batches, and Python's, NumPy's, torch's, and torch's on a device."""

    def __init__(self, device: torch.device, seed: int) -> None:
        self.generator = torch.Generator(device).manual_seed(seed)
        self.places: list[tuple[Any, Any]] = [(torch, ())]  # modules, and what their functions are given besides
        if device.type in ("cuda", "mps", "xpu"):
            self.places.append((torch.get_device_module(device), (device,)))

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        state = {"generator": self.generator.get_state(), "python": random.getstate()}
        state["numpy"] = np.random.get_state(legacy=False)  # noqa: NPY002
        return state | {"torch": [place.get_rng_state(*device) for place, device in self.places]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """From a checkpoint."""
        self.generator.set_state(state["generator"])
        random.setstate(state["python"])
        np.random.set_state(state["numpy"])  # noqa: NPY002
        for (place, device), of_place in zip(self.places, state["torch"], strict=True):
            place.set_rng_state(of_place, *device)

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

    def __init__(self, batches: Any, random_numbers: RandomNumbers, resumable: bool) -> None:
        self.batches, self.random, self.resumable = batches, random_numbers, resumable
        self.epoch: Iterator[Any] = iter(())
        self.start: dict[str, Any] = {}  # the random numbers before the epoch
        self.taken, self.checksum = 0, 0  # of batches since then
        if resumable and any(getattr(part, "persistent_workers", False) for part in self._parts()):
            why = "whose random numbers are in no checkpoint"
            raise ValueError(f"batches must be without persistent_workers where there is a checkpoint_dir, {why}")

    def __call__(self, generator: torch.Generator) -> Any:
        """Return the next batch; ValueError if an iterable is empty or can be read only once."""
        batch = next(self.epoch, None)
        if batch is None:
            self.start = self.random.state_dict() if self.resumable else {}
            self.taken, self.checksum = 0, 0
            self.epoch = self._read(generator)
            batch = next(self.epoch, None)
        if batch is None:
            raise ValueError("batches must hold a batch each time it is read; got an iterable that is empty or used up")
        self.taken += 1
        for tensor in tensors_in(batch) if self.resumable else ():
            content = tensor.detach().cpu().flatten().view(torch.uint8).numpy().data
            self.checksum = zlib.crc32(content, self.checksum)
        return batch

    def _read(self, generator: torch.Generator) -> Iterator[Any]:
        """Read the iterable once; of a function one batch."""
        if callable(self.batches):
            yield self.batches(generator)
            return
        seed = int(torch.randint(2**31, (), generator=generator, device=generator.device))
        for n, own in enumerate(part for part in self._parts() if isinstance(part, torch.Generator)):
            own.manual_seed(seed + n)
        iterator = None
        while True:
            with self.random.seeded(seed + self.taken):
                iterator = iter(self.batches) if iterator is None else iterator
                batch = next(iterator, None)
            if batch is None:
                return
            yield batch

    def _parts(self) -> list[Any]:
        """Return the iterable, and the samplers, loaders and generators that it holds, however deep."""
        parts = [self.batches]
        for part in parts:  # which grows
            is_short = isinstance(part, list | tuple) and len(part) < 100
            for value in part if is_short else getattr(part, "__dict__", {}).values():
                is_read = isinstance(value, torch.Generator) or hasattr(value, "__iter__")
                if is_read and not any(value is other for other in parts):
                    parts.append(value)
        return parts

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"start": self.start, "taken": self.taken, "checksum": self.checksum}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """From a checkpoint: draw again what was drawn since `start`. ValueError if that is other batches now."""
        self.random.load_state_dict(state["start"])
        for _ in range(state["taken"]):
            self(self.random.generator)
        if (self.taken, self.checksum) != (state["taken"], state["checksum"]):
            why = "other data or sizes, random numbers that no checkpoint holds, or a function that counts its batches"
            advice = "which then needs a state_dict and a load_state_dict"
            raise ValueError(f"batches are others than in the checkpoint, drawn again: {why}, {advice}")
