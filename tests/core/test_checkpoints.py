"""Checkpoints: written whole or not at all, damaged ones named, no code executed."""

import errno
import io
import os

import pytest
import torch
from small import WITH_ADAM, draw, make, weights
from torch import nn

from ponder_utils.checkpoints import DamagedFileError, atomic_write, load_weights
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import RNNStep
from ponder_utils.training import train


def write_half(path):
    with atomic_write(path) as draft:
        draft.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Keeps:
    def __init__(self, state):
        self.state = state

    def state_dict(self):
        return self.state

    def load_state_dict(self, state):
        pass


def test_checkpoints_are_written_whole_or_not_at_all_and_a_full_disk_names_the_file(tmp_path):
    (model, loss), path = make(), tmp_path / "deep" / "last.pt"
    options = {"checkpoint_dir": path.parent, "lr": 5e-3, "progress": False}
    train(model, loss, draw, 1, also={"it": Keeps([1, "two"])}, **options)
    before = path.read_bytes()
    with pytest.raises(OSError, match=r"No space left on device: .*deep.last\.pt"):
        write_half(path)
    with pytest.raises(DamagedFileError, match=r"last\.pt.*holds more than tensors"):  # it could not be read
        train(model, loss, draw, 2, also={"it": Keeps(nn.Linear(1, 1))}, **options)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["last.pt"]


EXECUTED: list[str] = []


class Payload:
    def __reduce__(self):
        return (execute, ())


def execute():
    EXECUTED.append("code of the file")


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


WHOLE = saved({"model": {"weight": torch.ones(300)}})
NO_CHECKPOINTS = {
    "code": saved({"model": Payload()}),
    "nothing": b"",
    "half a zip": WHOLE[: len(WHOLE) // 2],
    "a tensor": saved(torch.ones(3)),
}


@pytest.mark.parametrize("kind", NO_CHECKPOINTS)
def test_what_is_no_checkpoint_is_named_and_executes_no_code(tmp_path, kind):
    (model, loss), path = make(), tmp_path / "last.pt"
    kept = weights(model)
    path.write_bytes(NO_CHECKPOINTS[kind])
    with pytest.raises(DamagedFileError, match=r"last\.pt"):
        load_weights(model, path)
    with pytest.raises(DamagedFileError, match=r"last\.pt"):
        train(model, loss, draw, 40, checkpoint_dir=tmp_path, **WITH_ADAM)
    assert torch.equal(weights(model), kept)
    assert EXECUTED == []


def test_a_state_dict_of_ones_own_is_loaded_and_is_no_run_to_go_on_from(tmp_path):
    (model, loss), (other, _) = make(), make(seed=7)
    torch.save(other.state_dict(), tmp_path / "last.pt")
    with pytest.raises(ValueError, match="is of another run"):
        train(model, loss, draw, 40, checkpoint_dir=tmp_path, **WITH_ADAM)
    load_weights(model, tmp_path / "last.pt")
    assert torch.equal(weights(model), weights(other))


@pytest.mark.parametrize("other", [PonderNet(RNNStep(6, 33), 6), PonderNet(RNNStep(6, 32), 6).step, nn.Linear(6, 32)])
def test_weights_of_another_network_are_refused_before_any_is_written(tmp_path, other):
    path, kept = tmp_path / "other.pt", weights(other)
    torch.save({"model": make()[0].state_dict()}, path)
    with pytest.raises(ValueError, match=r"other\.pt"):
        load_weights(other, path)
    assert torch.equal(weights(other), kept)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # of torch 2.9 itself, while it compiles
def test_a_compiled_and_wrapped_network_writes_the_weights_of_the_plain_one(tmp_path):
    model, loss = make()
    wrapped = nn.DataParallel(torch.compile(model, backend="eager"))
    train(wrapped, loss, draw, 2, checkpoint_dir=tmp_path, lr=5e-3, progress=False)
    other, _ = make(seed=7)
    load_weights(other, tmp_path / "last.pt")
    assert torch.equal(weights(other), weights(model))


@pytest.mark.parametrize("wrap", [nn.DataParallel, lambda model: torch.compile(model, backend="eager")])
def test_weights_of_a_wrapped_network_are_those_of_the_network_and_what_else_a_file_holds_is_refused(wrap, tmp_path):
    one, two = nn.Linear(3, 2), nn.Linear(3, 2)
    torch.save(wrap(one).state_dict(), tmp_path / "wrapped.pt")
    load_weights(two, tmp_path / "wrapped.pt")
    assert torch.equal(one.weight, two.weight)
    torch.save({**nn.Linear(3, 2).state_dict(), "epoch": 3}, tmp_path / "more.pt")
    with pytest.raises(ValueError, match=r"epoch: nothing here, \['int'\] there"):
        load_weights(two, tmp_path / "more.pt")
    assert torch.equal(one.weight, two.weight)
