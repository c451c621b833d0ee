import functools
import gzip
import hashlib
import http.server
import struct
import threading
from http.client import IncompleteRead
from pathlib import Path

import pytest
import torch
from torchvision.datasets import MNIST

from ponder_course.common import digits
from ponder_course.common.digits import MNISTError, load_digits

REAL = Path(__file__).resolve().parents[2] / "data"  # the notebooks' default folder
SIZES = {"train": 120, "t10k": 30}


def idx(array):
    """A uint8 tensor in MNIST's file format."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.numpy().tobytes()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def mirror(tmp_path):
    """A folder, and the address of a server on this machine that hands out what is in it."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def little(monkeypatch, mirror):
    """A made-up MNIST of 150 images behind a mirror, with its checksums in place of the real ones."""
    generator = torch.Generator().manual_seed(0)
    folder, address = mirror
    files, archives = {}, []
    for part, size in SIZES.items():
        labels = torch.arange(size) % 10
        images = torch.randint(0, 256, (size, 28, 28), generator=generator, dtype=torch.uint8)
        images[:, 0, 0] = labels
        for name, array in ((f"{part}-images-idx3-ubyte", images), (f"{part}-labels-idx1-ubyte", labels.byte())):
            files[name] = idx(array)
            archive = gzip.compress(files[name])
            (folder / f"{name}.gz").write_bytes(archive)
            archives.append((f"{name}.gz", hashlib.md5(archive).hexdigest()))
    monkeypatch.setattr(digits, "MNIST_FILES", {name: hashlib.md5(data).hexdigest() for name, data in files.items()})
    monkeypatch.setattr(MNIST, "resources", archives)
    monkeypatch.setattr(MNIST, "mirrors", [address])
    return files


def lay(folder, files):
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name, data in files.items():
        (raw / name).write_bytes(data)
    return raw


def everything_in(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


def no_network(monkeypatch):
    monkeypatch.setattr(MNIST, "mirrors", ["http://127.0.0.1:9/"])  # nothing listens there


def is_the_little_one(data):
    assert data.name == "MNIST"
    for split, size in zip(data[1:], (110, 10, 30), strict=True):
        assert split.x.shape == (size, 1, 28, 28)
        assert split.x.dtype == torch.uint8
        assert torch.equal(split.x[:, 0, 0, 0].long(), split.y)  # each image kept its label
    both = torch.cat([data.train.x, data.validation.x]).flatten(1)
    assert len(both.unique(dim=0)) == 120
    return True


def test_mnist_is_fetched_into_a_folder_that_did_not_exist_and_then_read_without_a_network(
    little, monkeypatch, tmp_path
):
    folder = tmp_path / "new" / "data"
    assert is_the_little_one(load_digits("auto", folder))
    assert {path.name for path in everything_in(folder)} == set(little)
    assert not list(folder.glob(".fetching*"))
    no_network(monkeypatch)
    assert is_the_little_one(load_digits("mnist", folder))


@pytest.mark.parametrize("dataset", ["auto", "mnist"])
@pytest.mark.parametrize(
    ("suffix", "damaged"),
    [
        ("", lambda content: content[:-1] + b"\xff"),
        (".gz", lambda content: gzip.compress(content)[:-1]),
        (".gz", lambda content: content),  # not packed
        (".gz", lambda content: gzip.compress(content[:-1])),
    ],
)
def test_what_is_damaged_is_named_and_left_as_it_was(little, monkeypatch, tmp_path, dataset, suffix, damaged):
    no_network(monkeypatch)
    raw, name = lay(tmp_path, little), "t10k-labels-idx1-ubyte"
    (raw / name).unlink()
    (raw / f"{name}{suffix}").write_bytes(damaged(little[name]))
    before = {path: path.read_bytes() for path in everything_in(tmp_path)}
    with pytest.raises(MNISTError, match=rf"{name}{suffix} is damaged"):
        load_digits(dataset, tmp_path)
    assert {path: path.read_bytes() for path in everything_in(tmp_path)} == before


def test_whole_archives_need_no_network_and_nothing_is_written(little, monkeypatch, tmp_path):
    no_network(monkeypatch)
    raw = lay(tmp_path, little)
    for name in list(little)[1:]:
        (raw / f"{name}.gz").write_bytes(gzip.compress(little[name], mtime=5))  # not the bytes of a mirror's archive
        (raw / name).write_bytes(b"damaged")
    before = everything_in(tmp_path)
    is_the_little_one(load_digits("auto", tmp_path))
    assert everything_in(tmp_path) == before


@pytest.mark.parametrize("content", [b"<html>Moved</html>", gzip.compress(b"other bytes", mtime=0)])
def test_a_mirror_that_sends_something_else_leaves_no_file(little, mirror, monkeypatch, tmp_path, content):
    name, _ = MNIST.resources[-1]
    (mirror[0] / name).write_bytes(content)
    checksum = hashlib.md5(content).hexdigest()  # torchvision's own check of the archive passes
    monkeypatch.setattr(MNIST, "resources", [*MNIST.resources[:-1], (name, checksum)])
    with pytest.raises(MNISTError):
        load_digits("mnist", tmp_path / "data")
    assert not everything_in(tmp_path / "data")


def test_small_digits_need_no_folder_and_lie_as_mnists_do():
    data = load_digits("digits", "/nowhere")
    assert [len(split.y) for split in data[1:]] == [1258, 180, 359]
    for x, y in data[1:]:
        assert x.shape == (len(y), 1, 28, 28)
        assert x.dtype == torch.uint8
        inside = x[:, :, 4:-4, 4:-4]
        assert inside.long().sum() == x.long().sum()  # the margin is empty
        assert inside.max() >= 250
    all_labels = torch.cat([split.y for split in data[1:]])
    assert all_labels.bincount(minlength=10).min() >= 170  # ten classes, none rare


def test_splits_are_fixed_by_the_seed_and_share_no_image():
    one, same, other = (load_digits("digits", seed=seed) for seed in (1, 1, 2))
    for a, b in zip(one[1:], same[1:], strict=True):
        assert torch.equal(a.x, b.x)
        assert torch.equal(a.y, b.y)
    assert not torch.equal(one.train.y, other.train.y)

    def images(data):
        return sorted(bytes(image.flatten().tolist()) for split in data[1:] for image in split.x)

    assert images(one) == images(other)
    assert len(set(images(one))) == 1797


def test_wrong_dataset_is_named():
    with pytest.raises(ValueError, match=r"dataset .*'MNIST'"):
        load_digits("MNIST")


@pytest.mark.skipif(not (REAL / "MNIST").exists(), reason="needs MNIST in data/")
def test_the_real_mnist_is_whole_and_balanced_as_published():
    data = load_digits("mnist", REAL)
    assert [len(split.y) for split in data[1:]] == [55_000, 5_000, 10_000]
    assert data.test.y[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    everything = torch.cat([split.y for split in data[1:]]).bincount()
    assert everything.tolist() == [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]


@pytest.mark.parametrize("error", [IncompleteRead(b""), TimeoutError(), None], ids=repr)
def test_without_mnist_auto_takes_the_small_digits_and_says_why_and_mnist_never_falls_back(
    little, monkeypatch, tmp_path, capsys, error
):
    def fail(self):
        raise error

    no_network(monkeypatch)
    if error:
        monkeypatch.setattr(MNIST, "download", fail)
    why = type(error).__name__ if error else "refused"
    assert load_digits("auto", tmp_path / "data").name == "the small digits"
    assert why in capsys.readouterr().out
    with pytest.raises(MNISTError, match=why):
        load_digits("mnist", tmp_path / "data")
    assert not everything_in(tmp_path / "data")
