"""Handwritten digits: MNIST from a folder or the network, or scikit-learn's small set, which needs neither."""

import socket
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import interpolate, pad

from ponder_utils._check import check_choice

# torchvision checks the archives that it fetches, but not the files in them, which are all that it reads later.
MNIST_FILES = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}
SILENCE = 10  # seconds after which a server that sends nothing is given up; torchvision would wait for ever


class MNISTError(RuntimeError):
    """MNIST is damaged, or cannot be fetched."""


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


def load_digits(
    dataset: str = "auto", folder: Path | str = "data", *, device: torch.device | str = "cpu", seed: int = 0
) -> DigitSet:
    """Return digits of 28 x 28 pixels as tensors on the device.

    Args:
        dataset: "mnist": MNIST (LeCun et al. 1998), 55,000 + 5,000 + 10,000 images. "digits": the 1,797 digits of
            8 x 8 pixels that come with scikit-learn (Alpaydin & Kaynak 1998), enlarged: 1,258 + 180 + 359. "auto":
            MNIST if it is in the folder or can be fetched, else the small ones, and a line that says why.
        folder: where MNIST is, or is fetched to, in torchvision's layout (MNIST/raw/...).
        seed: of the split into training and validation, and of the small digits' test.
    MNISTError if MNIST is there but damaged; or, with "mnist", if it is not there and cannot be fetched.
    """
    check_choice("dataset", dataset, ("auto", "mnist", "digits"))
    generator = torch.Generator().manual_seed(seed)
    raw = Path(folder, "MNIST", "raw")
    if dataset != "digits" and not _is_whole(raw):
        try:
            _fetch(raw)
        except (OSError, RuntimeError) as error:
            reason = f"MNIST is not in {raw} and could not be put there: {str(error).strip().splitlines()[-1]}."
            if dataset == "mnist":
                advice = 'Give the folder of a copy, or choose dataset "digits", which needs no network.'
                raise MNISTError(f"{reason} {advice}") from error
            print(f"{reason} Taking the small digits instead.")
            dataset = "digits"
    if dataset == "digits":
        name, parts = "the small digits", _shuffled_parts(_read_small_digits(), [0.7, 0.8], generator)
    else:
        known, test = _read_mnist(folder)
        name, parts = "MNIST", [*_shuffled_parts(known, [55 / 60], generator), test]
    return DigitSet(name, *(Split(x.to(device), y.to(device)) for x, y in parts))


def _is_whole(raw: Path) -> bool:
    from torchvision.datasets.utils import check_integrity  # here, since torchvision doubles the time of the import

    present = [raw / name for name in MNIST_FILES if (raw / name).exists()]
    for file in present:
        if not check_integrity(file, MNIST_FILES[file.name]):
            damage = f"{file} is damaged: its {file.stat().st_size:,} bytes are not those of MNIST."
            raise MNISTError(f'{damage} Delete it, and it will be fetched again; or choose dataset "digits".')
    return len(present) == len(MNIST_FILES)


def _fetch(raw: Path) -> None:
    """Fetch MNIST. Files come to `raw` only when all are there and whole."""
    from torchvision.datasets import MNIST

    folder = raw.parents[1]
    folder.mkdir(parents=True, exist_ok=True)
    timeout = socket.getdefaulttimeout()
    socket.setdefaulttimeout(SILENCE)
    try:
        with TemporaryDirectory(dir=folder, prefix=".fetching-") as draft:
            MNIST(draft, download=True)
            drafted = Path(draft, "MNIST", "raw")
            _is_whole(drafted)
            raw.mkdir(parents=True, exist_ok=True)
            for name in MNIST_FILES:
                (drafted / name).replace(raw / name)
    finally:
        socket.setdefaulttimeout(timeout)


def _read_mnist(folder: Path | str) -> list[Split]:
    from torchvision.datasets import MNIST

    halves = [MNIST(Path(folder), train=train) for train in (True, False)]
    return [Split(half.data.unsqueeze(1), half.targets) for half in halves]


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
