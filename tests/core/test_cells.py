import collections
import dataclasses
from typing import NamedTuple

import pytest
import torch
from torch import nn

from ponder_utils.cells import GRUCell, RNNCell, encode_input
from ponder_utils.states import first_tensor, map_states, select_rows

TORCHS = {RNNCell: nn.RNNCell, GRUCell: nn.GRUCell}


@torch.no_grad()
def copy_cell(ours, theirs):
    """Give torch's cell the weights of ours; its `weight_hh` has the gates' rows before the candidate's."""
    layers = [ours.gates_from_h, ours.from_h] if isinstance(ours, GRUCell) else [ours.from_h]
    theirs.weight_ih.copy_(ours.from_x.weight)
    theirs.bias_ih.copy_(ours.from_x.bias)
    theirs.weight_hh.copy_(torch.cat([layer.weight.t() for layer in layers]))
    theirs.bias_hh.copy_(torch.cat([layer.bias for layer in layers]))


@pytest.mark.parametrize("cell", [RNNCell, GRUCell])
@pytest.mark.parametrize("state", [None, torch.randn(7, 8, generator=torch.Generator().manual_seed(0))])
def test_cells_are_torchs_cells(cell, state):
    theirs, ours, x = TORCHS[cell](5, 8), cell(5, 8), torch.randn(7, 5)
    copy_cell(ours, theirs)
    torch.testing.assert_close(ours(ours.encode(x), state), theirs(x, state))
    torch.testing.assert_close(ours(x, state), theirs(x, state))  # called like torch's


@pytest.mark.parametrize("cell", [RNNCell, GRUCell])
def test_a_cell_flattens_its_input_and_never_skips_it(cell):
    cell, x = cell(6, 6), torch.randn(7, 2, 3)  # also where the state has the input's size
    z = encode_input(cell, x)
    assert cell.encode(z) is z
    torch.testing.assert_close(cell(x), cell(z, torch.zeros(7, 6)))
    torch.testing.assert_close(cell(x), cell(x.flatten(1)))


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
