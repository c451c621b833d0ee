"""Handwritten digits: MNIST from a folder or the network, or scikit-learn's small set, which needs neither."""

import gzip
import hashlib
import socket
import zlib
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import interpolate, pad

from ponder_utils._check import check_choice

MNIST_FILES = {  # unpacked
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


def load_digits(dataset: str = "auto", folder: Path | str = "data", *, device: torch.device | str = "cpu") -> DigitSet:
    """Return digits of 28 x 28 pixels as tensors on the device.

    Args:
        dataset: "mnist": MNIST (LeCun et al. 1998), 55,000 + 5,000 + 10,000 images. "digits": the 1,797 digits of
            8 x 8 pixels that come with scikit-learn (Alpaydin & Kaynak 1998), enlarged: 1,258 + 180 + 359. "auto":
            MNIST if it is in the folder or can be fetched, else the small ones, and a line that says why.
        folder: where MNIST is, or is fetched to, in torchvision's layout (MNIST/raw/...): files, or archives (.gz).
    MNISTError if MNIST is there but damaged; or, with "mnist", if it is not there and cannot be fetched.
    """
    check_choice("dataset", dataset, ("auto", "mnist", "digits"))
    generator = torch.Generator().manual_seed(0)
    raw = Path(folder, "MNIST", "raw")
    files = {} if dataset == "digits" else _files(raw)
    if dataset != "digits" and len(files) < len(MNIST_FILES):
        try:
            files = _fetch(raw)
        except (OSError, RuntimeError, HTTPException) as error:
            why = (str(error).strip() or repr(error)).splitlines()[-1]
            reason = f"MNIST is not in {raw} and could not be put there: {why}."
            if dataset == "mnist":
                advice = 'Give the folder of a copy, or choose dataset "digits", which needs no network.'
                raise MNISTError(f"{reason} {advice}") from error
            print(f"{reason} Taking the small digits instead.")
            dataset = "digits"
    if dataset == "digits":
        name, parts = "the small digits", _shuffled_parts(_read_small_digits(), [0.7, 0.8], generator)
    else:
        known, test = (_read_mnist(files, part) for part in ("train", "t10k"))
        name, parts = "MNIST", [*_shuffled_parts(known, [55 / 60], generator), test]
    return DigitSet(name, *(Split(x.to(device), y.to(device)) for x, y in parts))


def _files(raw: Path) -> dict[str, bytes]:
    """Return the content of those of MNIST's files that are there, unpacked; an archive serves where a file does not.

    MNISTError if what is there of a file is damaged or cannot be read.
    """
    files = {}
    for name, checksum in MNIST_FILES.items():
        damage = ""
        for path in (raw / name, raw / f"{name}.gz"):
            try:
                content = path.read_bytes()
                content = gzip.decompress(content) if path.suffix == ".gz" else content
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (gzip.BadGzipFile, EOFError, zlib.error):
                content = b""
            except OSError as error:
                raise MNISTError(f"{path} cannot be read: {error.strerror}") from error
            if hashlib.md5(content, usedforsecurity=False).hexdigest() == checksum:
                files[name] = content
                break
            damage = damage or f"{path} is damaged: its {path.stat().st_size:,} bytes are not those of MNIST."
        if damage and name not in files:
            raise MNISTError(f'{damage} Delete it, and it will be fetched again; or choose dataset "digits".')
    return files


def _fetch(raw: Path) -> dict[str, bytes]:
    """Fetch MNIST, and return its files. They come to `raw` only when all are there and whole."""
    from torchvision.datasets import MNIST  # here, since torchvision doubles the time of the import

    folder = raw.parents[1]
    folder.mkdir(parents=True, exist_ok=True)
    timeout = socket.getdefaulttimeout()
    socket.setdefaulttimeout(SILENCE)
    try:
        with TemporaryDirectory(dir=folder, prefix=".fetching-") as draft:
            MNIST(draft, download=True)
            drafted = Path(draft, "MNIST", "raw")
            files = _files(drafted)
            raw.mkdir(parents=True, exist_ok=True)
            for name in MNIST_FILES:
                (drafted / name).replace(raw / name)
    finally:
        socket.setdefaulttimeout(timeout)
    return files


def _read_mnist(files: dict[str, bytes], part: str) -> Split:
    """Return the images and labels of a part, "train" or "t10k"; 16 and 8 bytes in front give sizes."""
    names = (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte")
    x, y = (torch.frombuffer(bytearray(files[name]), dtype=torch.uint8) for name in names)
    return Split(x[16:].reshape(-1, 1, 28, 28), y[8:].long())


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
