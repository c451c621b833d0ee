"""MNIST that is there, damaged, fetched or nowhere: a made-up one, in MNIST's format."""

import gzip
import hashlib
import struct
from pathlib import Path

import pytest
import torch
from torchvision.datasets import MNIST

from ponder_course.common import digits
from ponder_course.common.digits import MNISTError, load_digits

SIZES = {"train": 120, "t10k": 30}


def idx(array):
    """A uint8 tensor in MNIST's file format."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.numpy().tobytes()


@pytest.fixture
def little(monkeypatch):
    """The files of a made-up MNIST of 150 images, whose checksums hold; torchvision fetches it from nowhere."""
    files = {}
    for part, size in SIZES.items():
        labels = torch.arange(size) % 10
        images = torch.randint(0, 256, (size, 28, 28), dtype=torch.uint8)
        images[:, 0, 0] = labels
        files[f"{part}-images-idx3-ubyte"] = idx(images)
        files[f"{part}-labels-idx1-ubyte"] = idx(labels.byte())
    monkeypatch.setattr(digits, "MNIST_FILES", {name: hashlib.md5(data).hexdigest() for name, data in files.items()})
    monkeypatch.setattr(MNIST, "download", lambda self: lay(Path(self.raw_folder), files))
    return files


def cut_off(monkeypatch):
    def refused(self):
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr(MNIST, "download", refused)


def lay(folder, files):
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_little(found):
    assert found.name == "MNIST"
    for split, size in zip(found[1:], (110, 10, 30), strict=True):
        assert split.x.shape == (size, 1, 28, 28)
        assert split.x.dtype == torch.uint8
        assert torch.equal(split.x[:, 0, 0, 0].long(), split.y)  # each image kept its label
    both = torch.cat([found.train.x, found.validation.x]).flatten(1)
    assert len(both.unique(dim=0)) == 120


def test_mnist_is_fetched_once_and_then_read_without_a_network(little, monkeypatch, tmp_path):
    check_little(load_digits("auto", tmp_path))
    assert {path.name for path in contents(tmp_path)} == set(little)
    cut_off(monkeypatch)
    check_little(load_digits("mnist", tmp_path))


@pytest.mark.parametrize(
    ("suffix", "damaged"),
    [
        ("", lambda content: content[:-1] + b"\xff"),
        (".gz", lambda content: gzip.compress(content[:-1])),
    ],
)
def test_what_is_damaged_is_named_and_left_as_it_was(little, tmp_path, suffix, damaged):
    raw, name = tmp_path / "MNIST" / "raw", "t10k-labels-idx1-ubyte"
    lay(raw, little)
    (raw / name).unlink()
    (raw / f"{name}{suffix}").write_bytes(damaged(little[name]))
    before = contents(tmp_path)
    with pytest.raises(MNISTError, match=rf"{name}{suffix} is damaged"):
        load_digits("auto", tmp_path)
    assert contents(tmp_path) == before


def test_whole_archives_need_no_network_and_nothing_is_written(little, monkeypatch, tmp_path):
    cut_off(monkeypatch)
    raw = tmp_path / "MNIST" / "raw"
    lay(raw, dict.fromkeys(little, b"damaged") | {f"{name}.gz": gzip.compress(little[name]) for name in little})
    before = contents(tmp_path)
    check_little(load_digits("auto", tmp_path))
    assert contents(tmp_path) == before


def test_without_a_network_auto_takes_the_small_digits_and_says_why(little, monkeypatch, tmp_path, capsys):
    cut_off(monkeypatch)
    assert load_digits("auto", tmp_path).name == "the small digits"
    assert "refused" in capsys.readouterr().out
    with pytest.raises(MNISTError, match="refused"):
        load_digits("mnist", tmp_path)
    assert not contents(tmp_path)


def test_small_digits_lie_as_mnists_do_and_no_image_is_in_two_parts():
    found = load_digits("digits", "/nowhere")
    assert [len(split.y) for split in found[1:]] == [1258, 180, 359]
    x, y = (torch.cat([split[part] for split in found[1:]]) for part in (0, 1))
    assert x.shape == (1797, 1, 28, 28)
    assert len(x.unique(dim=0)) == 1797
    assert x[:, :, 4:-4, 4:-4].long().sum() == x.long().sum()  # the margin is empty
    assert y.bincount(minlength=10).min() >= 170  # ten classes, none rare
