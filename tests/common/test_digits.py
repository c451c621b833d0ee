"""MNIST that is there, damaged or nowhere: a made-up one, in MNIST's format. And the small digits."""

import struct

import pytest
import torch
from torchvision.datasets import MNIST

from ponder_course.common.digits import MNISTError, load_digits

SIZES = {"train": 120, "t10k": 30}


def idx(array):
    """A uint8 tensor in MNIST's file format."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.numpy().tobytes()


@pytest.fixture
def data(monkeypatch, tmp_path):
    """A folder with a made-up MNIST of 150 images; nothing can be fetched."""

    def refused(self):
        if not self._check_exists():
            raise ConnectionRefusedError("refused")

    monkeypatch.setattr(MNIST, "download", refused)
    raw = tmp_path / "data" / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for part, size in SIZES.items():
        labels = torch.arange(size) % 10
        images = torch.randint(0, 256, (size, 28, 28), dtype=torch.uint8)
        images[:, 0, 0] = labels
        (raw / f"{part}-images-idx3-ubyte").write_bytes(idx(images))
        (raw / f"{part}-labels-idx1-ubyte").write_bytes(idx(labels.byte()))
    return tmp_path / "data"


@pytest.mark.parametrize("dataset", ["auto", "mnist"])
def test_mnist_is_read_and_each_image_keeps_its_label(data, dataset):
    found = load_digits(dataset, data)
    assert found.name == "MNIST"
    for split, size in zip(found[1:], (110, 10, 30), strict=True):
        assert split.x.shape == (size, 1, 28, 28)
        assert split.x.dtype == torch.uint8
        assert torch.equal(split.x[:, 0, 0, 0].long(), split.y)
    both = torch.cat([found.train.x, found.validation.x]).flatten(1)
    assert len(both.unique(dim=0)) == 120


@pytest.mark.parametrize("damage", ["cut off", "missing"])
def test_without_mnist_auto_takes_the_small_digits_and_says_why(data, damage, capsys):
    file = data / "MNIST" / "raw" / "train-images-idx3-ubyte"
    if damage == "cut off":
        file.write_bytes(file.read_bytes()[:-100])
    else:
        file.unlink()
    assert load_digits("auto", data).name == "the small digits"
    assert "MNIST could neither be read" in capsys.readouterr().out
    with pytest.raises(MNISTError, match="raw"):
        load_digits("mnist", data)


def test_small_digits_lie_as_mnists_do_and_no_image_is_in_two_parts():
    found = load_digits("digits", "/nowhere")
    assert [len(split.y) for split in found[1:]] == [1258, 180, 359]
    x, y = (torch.cat([split[part] for split in found[1:]]) for part in (0, 1))
    assert x.shape == (1797, 1, 28, 28)
    assert len(x.unique(dim=0)) == 1797
    assert x[:, :, 4:-4, 4:-4].long().sum() == x.long().sum()  # the margin is empty
    assert y.bincount(minlength=10).min() >= 170  # ten classes, none rare
