import collections
import dataclasses
from typing import NamedTuple

import pytest
import torch
from torch import nn

from benchmarks.peers import copy_cell
from ponder_course.mnist_rotation.networks import ConvEncoder, ConvStep, MLPCell
from ponder_utils.cells import GRUCell, RNNCell, encode_input
from ponder_utils.states import first_tensor, map_states, select_rows

TORCHS = {RNNCell: nn.RNNCell, GRUCell: nn.GRUCell}


@pytest.mark.parametrize("cell", [RNNCell, GRUCell])
@pytest.mark.parametrize("state", [None, torch.randn(7, 8, generator=torch.Generator().manual_seed(0))])
def test_cells_are_torchs_cells(cell, state):
    theirs, ours, x = TORCHS[cell](5, 8), cell(5, 8), torch.randn(7, 5)
    copy_cell(theirs, ours)
    torch.testing.assert_close(ours(ours.encode(x), state), theirs(x, state))
    torch.testing.assert_close(ours(x, state), theirs(x, state))  # called like torch's


@pytest.mark.parametrize("cell", [RNNCell, GRUCell, MLPCell])
def test_a_cell_flattens_its_input_and_never_skips_it(cell):
    cell, x = cell(6, 6), torch.randn(7, 2, 3)  # also where the state has the input's size
    z = encode_input(cell, x)
    assert cell.encode(z) is z
    torch.testing.assert_close(cell(x), cell(z, torch.zeros(7, 6)))
    torch.testing.assert_close(cell(x), cell(x.flatten(1)))


@pytest.mark.parametrize("state", [None, torch.randn(7, 8, generator=torch.Generator().manual_seed(0))])
def test_an_mlp_cell_is_two_layers_over_input_and_state(state):
    cell, x = MLPCell(5, 8, dropout=0.5).eval(), torch.randn(7, 5)
    h = torch.zeros(7, 8) if state is None else state
    weights = torch.cat([cell.from_x.weight, cell.from_h.weight.T], dim=1)
    between = (torch.cat([x, h], dim=1) @ weights.T + cell.from_x.bias + cell.from_h.bias).clamp(min=0)
    expected = (between @ cell.to_h.weight.T + cell.to_h.bias).clamp(min=0)
    torch.testing.assert_close(cell(cell.encode(x), state), expected)


@dataclasses.dataclass
class Memory:
    h: torch.Tensor
    name: str
    parts: dict
    copies: int = dataclasses.field(init=False, default=3)


class Pair(NamedTuple):
    h: torch.Tensor
    n: int


def nested(h, of_all):
    """A state with every kind of container, and with what belongs to no sample."""
    names = collections.defaultdict(list, {"h": h, "none": None})
    return [Memory(h, "name", {"pair": Pair(h, 3)}), (h, of_all), names, []]


def test_rows_of_any_state_are_rows_of_every_tensor_in_it():
    h, of_all = torch.randn(4, 2), torch.tensor(7.0)
    state = nested(h, of_all)
    doubled = map_states(lambda one, two: one + two, state, state)
    for found, wanted in ((select_rows(state, torch.tensor([2, 0])), h[[2, 0]]), (doubled, 2 * h)):
        memory, (part, same), names, empty = found
        pair = memory.parts["pair"]
        assert [type(one) for one in (*found, pair)] == [Memory, tuple, collections.defaultdict, list, Pair]
        for tensor in (memory.h, pair.h, part, names["h"]):
            assert torch.equal(tensor, wanted)
        assert same is of_all
        assert (memory.name, memory.copies, pair.n, names["none"], empty) == ("name", 3, 3, None, [])
    assert len(first_tensor(state)) == 4


IMAGES = torch.rand(2, 1, 28, 28, generator=torch.Generator().manual_seed(0))


def test_one_step_of_a_conv_step_by_hand():
    step = ConvStep(3, patch=14, n_outputs=2)
    z, h = step.encode(IMAGES)
    patches = IMAGES.unfold(2, 14, 14).unfold(3, 14, 14).flatten(-2)  # [2, 1, 2, 2, 196]
    by_hand = torch.einsum("bcijp,kcp->bkij", patches, step.from_x.weight.flatten(2)) + step.from_x.bias[:, None, None]
    torch.testing.assert_close(z, by_hand)
    assert not h.any()
    h = torch.randn(2, 3, 2, 2, generator=torch.Generator().manual_seed(1))
    y_hat, after, halt_logit = step(z, h)
    torch.testing.assert_close(after, h + (step.from_h(h) + z).clamp(min=0))
    read = torch.cat([after.flatten(2).mean(2), after.flatten(2).max(2).values], dim=1)
    out = read @ step.heads.weight.T + step.heads.bias
    torch.testing.assert_close(y_hat, out[:, :2])
    torch.testing.assert_close(halt_logit, out[:, 2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ConvEncoder()(IMAGES[:, 0]), r"x .*\[batch, 1, 28, 28\].* \[2, 28, 28\]"),
        (lambda: ConvEncoder(0), "n_features .*>= 1.* 0"),
        (lambda: ConvStep(4, 5, 10).encode(IMAGES), r" 5; got \[2, 1, 28, 28\]"),
        (lambda: ConvStep(4, 0, 10), "patch .*>= 1.* 0"),
        (lambda: ConvStep(0, 4, 10), "channels .*>= 1.* 0"),
        (lambda: ConvStep(4, 4, 1), "n_outputs .*>= 2.* 1"),
        (lambda: MLPCell(0, 4), "input_size .*>= 1.* 0"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
