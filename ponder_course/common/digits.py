"""Handwritten digits: MNIST from a folder or the network, or scikit-learn's small set, which needs neither."""

import socket
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import interpolate, pad

from ponder_utils._check import check_choice

SILENCE = 10  # seconds after which a server that sends nothing is given up; torchvision would wait for ever


class MNISTError(RuntimeError):
    """MNIST can be neither read nor fetched."""


class Split(NamedTuple):
    """Images and their labels."""

    x: Tensor  # [n, 1, 28, 28] uint8, 0 (paper) to 255 (ink)
    y: Tensor  # [n] int64, 0 to 9


class DigitSet(NamedTuple):
    """A data set of digits, in three parts that share no image."""

    name: str
    train: Split
    validation: Split
    test: Split


def load_digits(dataset: str = "auto", folder: Path | str = "data", *, device: torch.device | str = "cpu") -> DigitSet:
    """Return digits of 28 x 28 pixels as tensors on the device.

    Args:
        dataset: "mnist": MNIST (LeCun et al. 1998), 55,000 + 5,000 + 10,000 images. "digits": the 1,797 digits of
            8 x 8 pixels that come with scikit-learn (Alpaydin & Kaynak 1998), enlarged: 1,258 + 180 + 359. "auto":
            MNIST if it is in the folder or can be fetched, else the small ones, and a line that says why.
        folder: where MNIST is, or is fetched to, in torchvision's layout, MNIST/raw/...
    MNISTError, with "mnist", if MNIST can be neither read nor fetched.
    """
    check_choice("dataset", dataset, ("auto", "mnist", "digits"))
    generator = torch.Generator().manual_seed(0)
    if dataset != "digits":
        try:
            known, test = _read_mnist(Path(folder))
            return _on(device, "MNIST", [*_shuffled_parts(known, [55 / 60], generator), test])
        except (OSError, RuntimeError, HTTPException, AssertionError, ValueError) as error:
            why = (str(error).strip() or repr(error)).splitlines()[-1]
            reason = f"MNIST could neither be read from {Path(folder, 'MNIST', 'raw')} nor fetched into it: {why}."
            if dataset == "mnist":
                advice = 'Give the folder of a copy, or choose dataset "digits", which needs no network.'
                raise MNISTError(f"{reason} {advice}") from error
            print(f"{reason} Taking the small digits instead.")
    return _on(device, "the small digits", _shuffled_parts(_read_small_digits(), [0.7, 0.8], generator))


def _on(device: torch.device | str, name: str, parts: list[Split]) -> DigitSet:
    return DigitSet(name, *(Split(part.x.to(device), part.y.to(device)) for part in parts))


def _read_mnist(folder: Path) -> list[Split]:
    """Return what MNIST has for training and for its test, as torchvision reads it, or else fetches it."""
    from torchvision.datasets import MNIST  # here, since torchvision doubles the time of the import

    timeout = socket.getdefaulttimeout()
    socket.setdefaulttimeout(SILENCE)
    try:
        parts = [MNIST(str(folder), train=train, download=True) for train in (True, False)]
    finally:
        socket.setdefaulttimeout(timeout)
    return [Split(part.data.unsqueeze(1), part.targets) for part in parts]


def _read_small_digits() -> Split:
    """Return them enlarged to 20 x 20 pixels, with a margin of 4: so MNIST's lie in their frame."""
    from sklearn.datasets import load_digits  # here, since it takes a second and MNIST does not need it

    small = load_digits()
    x = torch.tensor(small.images, dtype=torch.float32).unsqueeze(1) * (255 / 16)
    x = interpolate(x, size=(20, 20), mode="bilinear", align_corners=False)
    return Split(pad(x, (4, 4, 4, 4)).round().to(torch.uint8), torch.tensor(small.target))


def _shuffled_parts(whole: Split, cuts: list[float], generator: torch.Generator) -> list[Split]:
    order = torch.randperm(len(whole.y), generator=generator)
    places = [round(cut * len(order)) for cut in cuts]
    return [Split(whole.x[part], whole.y[part]) for part in order.tensor_split(places)]
