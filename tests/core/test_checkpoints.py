"""Checkpoints: written whole or not at all, damaged ones named, no code executed."""

import hashlib
import io
import os
import pickle
import time

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small import WITH_ADAM, draw, make, weights
from torch import nn

from ponder_utils.checkpoints import (
    SEAL,
    DamagedFileError,
    atomic_write,
    load_checkpoint,
    load_weights,
    save_checkpoint,
    unwrapped,
)
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import RNNStep
from ponder_utils.training import train


def write_half(path):
    with atomic_write(path) as draft:
        draft.write_bytes(b"half")
        raise OSError("disk full")


def test_checkpoints_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "state.pt"
    save_checkpoint(path, {"a": torch.ones(3), "b": [1, "two"]})
    before = path.read_bytes()
    with pytest.raises(OSError, match="disk full"):
        write_half(path)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        save_checkpoint(path, {"a": lambda: None})
    with pytest.raises(pickle.UnpicklingError):  # it could be written, and not be read
        save_checkpoint(path, {"a": nn.Linear(1, 1)})
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["state.pt"]


def test_a_draft_that_a_kill_has_left_goes_and_a_fresh_one_stays(tmp_path):
    for name, age in (("old", 7200), ("fresh", 0)):
        draft = tmp_path / f".state.pt.{name}.draft"
        draft.write_bytes(b"half")
        os.utime(draft, (time.time() - age,) * 2)
    save_checkpoint(tmp_path / "state.pt", {"a": 1})
    assert sorted(p.name for p in tmp_path.iterdir()) == [".state.pt.fresh.draft", "state.pt"]


EXECUTED: list[str] = []


class Payload:
    def __reduce__(self):
        return (execute, ())


def execute():
    EXECUTED.append("code of the file")


def sealed(content):
    return content + SEAL + hashlib.sha256(content).hexdigest().encode()


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


WHOLE = saved({"model": {"weight": torch.ones(300)}})
NO_CHECKPOINTS = {
    "code": sealed(saved({"model": Payload()})),
    "no seal": WHOLE,
    "nothing": b"",
    "sealed nothing": sealed(b""),
    "sealed text": sealed(b"accuracy,0.9"),
    "half a zip": sealed(WHOLE[: len(WHOLE) // 2]),
    "an old pickle": sealed(pickle.dumps({"model": {}}, protocol=2)),
}


@pytest.mark.parametrize("kind", NO_CHECKPOINTS)
def test_what_is_no_checkpoint_is_named_and_executes_no_code(tmp_path, kind):
    (model, loss), path = make(), tmp_path / "last.pt"
    kept = weights(model)
    path.write_bytes(NO_CHECKPOINTS[kind])
    with pytest.raises(DamagedFileError, match=r"last\.pt"):
        load_weights(model, path)
    for _ in range(2):  # the folder is free again
        with pytest.raises(DamagedFileError, match=r"last\.pt"):
            train(model, loss, draw, 40, checkpoint_dir=tmp_path, **WITH_ADAM)
    assert torch.equal(weights(model), kept)
    assert EXECUTED == []


class AsOneModule(nn.Module):
    """A network whose own part is called as the wrappers of torch call theirs."""

    def __init__(self):
        super().__init__()
        self.module, self.head = nn.Linear(6, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.module(x))


OTHERS = {
    "larger": (lambda: PonderNet(RNNStep(6, 33), 6), "step.cell"),
    "a part": (lambda: PonderNet(RNNStep(6, 32), 6).step, "cell"),
    "another": (AsOneModule, "head.weight"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_weights_of_another_network_are_refused_before_any_is_written(tmp_path, kind):
    build, named = OTHERS[kind]
    path, model = tmp_path / "other.pt", build()
    save_checkpoint(path, {"model": make()[0].state_dict()})
    kept = weights(model)
    with pytest.raises(ValueError, match=rf"other\.pt .*{named}") as refused:
        load_weights(model, path)
    assert len(str(refused.value)) < 1000
    assert torch.equal(weights(model), kept)


WRAPPED = {
    "plain": lambda model: model,
    "wrapped, compiled": lambda model: nn.DataParallel(torch.compile(model, backend="eager")),
    "compiled, wrapped": lambda model: torch.compile(nn.DataParallel(model)),
}


@pytest.mark.parametrize("here", WRAPPED)
@pytest.mark.parametrize("there", WRAPPED)
@pytest.mark.parametrize("build", [lambda: PonderNet(RNNStep(6, 32), 6), AsOneModule])
def test_weights_go_from_and_into_compiled_and_wrapped_networks(tmp_path, here, there, build):
    model, other = build(), build()
    save_checkpoint(tmp_path / "best.pt", {"model": unwrapped(WRAPPED[there](other)).state_dict()})
    load_weights(WRAPPED[here](model), tmp_path / "best.pt")
    assert torch.equal(weights(model), weights(other))


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # of torch 2.9 itself, while it compiles
@pytest.mark.parametrize("wraps", [("plain", "wrapped, compiled"), ("wrapped, compiled", "plain")])
def test_a_training_goes_on_wrapped_and_unwrapped(tmp_path, wraps):
    whole, loss = make()
    options = WITH_ADAM | {"log_every": 5, "evaluate": None}
    rows = train(whole, loss, draw, 10, **options)
    for n_updates, wrap in zip((5, 10), wraps, strict=True):
        model, loss = make(seed=0 if n_updates == 5 else 7)
        again = train(WRAPPED[wrap](model), loss, draw, n_updates, checkpoint_dir=tmp_path, **options)
    for row, wanted in zip(again, rows, strict=True):
        assert row == pytest.approx(wanted, rel=1e-5)  # what is compiled may round otherwise
    torch.testing.assert_close(weights(model), weights(whole))


@settings(max_examples=30)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_single_bit_flips_silently(tmp_path_factory, place, bit):
    path = tmp_path_factory.mktemp("bits") / "state.pt"
    save_checkpoint(path, {"a": torch.arange(8.0), "b": [1, "two"]})
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"state\.pt is damaged"):
        load_checkpoint(path)


def test_a_link_to_a_checkpoint_stays_one(tmp_path):
    (tmp_path / "link.pt").symlink_to(tmp_path / "real.pt")
    save_checkpoint(tmp_path / "link.pt", {"a": 1})
    assert (tmp_path / "link.pt").is_symlink()
    assert load_checkpoint(tmp_path / "real.pt") == {"a": 1}
