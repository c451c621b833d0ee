import collections
import dataclasses
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
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


tensors = st.integers(0, 99).map(lambda seed: torch.randn(4, 2, generator=torch.Generator().manual_seed(seed)))
leaves = tensors | st.none() | st.integers() | st.text(max_size=3) | st.just(torch.tensor(7.0))
trees = st.recursive(
    leaves,
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.lists(parts, max_size=3).map(tuple)
        | st.builds(Pair, parts, parts)
        | st.dictionaries(st.text(max_size=2), parts, max_size=3)
        | st.dictionaries(st.text(max_size=2), parts, max_size=3).map(lambda d: collections.defaultdict(list, d))
        | st.builds(Memory, parts, st.text(max_size=3), st.dictionaries(st.text(max_size=2), parts, max_size=2))
    ),
    max_leaves=8,
)


def leaves_of(tree):
    """All leaves of a tree, in order."""
    if isinstance(tree, Memory):
        tree = [tree.h, tree.name, tree.parts, tree.copies]
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [leaf for part in tree for leaf in leaves_of(part)] if isinstance(tree, list | tuple) else [tree]


@given(trees)
def test_rows_of_any_state_are_rows_of_every_tensor_in_it(state):
    rows = torch.tensor([2, 0])
    selected = select_rows(state, rows)
    assert type(selected) is type(state)
    before, after = leaves_of(state), leaves_of(selected)
    assert len(before) == len(after)
    for one, two in zip(before, after, strict=True):
        if isinstance(one, torch.Tensor) and one.ndim:
            assert torch.equal(two, one[[2, 0]])
        else:
            assert two is one
    if any(isinstance(leaf, torch.Tensor) and leaf.ndim for leaf in before):
        assert len(first_tensor(state)) == 4
        doubled = map_states(lambda one, two: one + two, state, state)
        for one, two in zip(before, leaves_of(doubled), strict=True):
            assert torch.equal(two, 2 * one) if isinstance(one, torch.Tensor) and one.ndim else two is one


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
