import pytest
import torch
from torch import nn

from benchmarks.peers import with_weights_of
from ponder_utils.cells import GRUCell, MLPCell, RNNCell, begin, hidden, select
from ponder_utils.pondernet import RULES, PonderNet
from ponder_utils.steps import RecurrentStep

TORCHS = {RNNCell: nn.RNNCell, GRUCell: nn.GRUCell}


@pytest.mark.parametrize("cell", [RNNCell, GRUCell])
@pytest.mark.parametrize("state", [None, torch.randn(7, 8, generator=torch.Generator().manual_seed(0))])
def test_cells_are_torchs_cells(cell, state):
    theirs, x = TORCHS[cell](5, 8), torch.randn(7, 5)
    ours = with_weights_of(theirs, cell(5, 8))
    torch.testing.assert_close(ours(ours.start(x), state), theirs(x, state))
    torch.testing.assert_close(ours(x, state), theirs(x, state))  # called like torch's


@pytest.mark.parametrize("cell", [RNNCell, GRUCell, MLPCell])
@pytest.mark.parametrize("hidden_size", [5, 8])
def test_a_cell_never_skips_the_input(cell, hidden_size):
    cell, x = cell(5, hidden_size), torch.randn(7, 5)
    torch.testing.assert_close(cell(x), cell(cell.start(x), torch.zeros(7, hidden_size)))
    begun = cell.start(x)
    assert cell.start(begun) is begun
    with pytest.raises(ValueError, match=r"x must have input_size = 5 numbers per sample; got 6"):
        cell(torch.randn(7, 6))


@pytest.mark.parametrize("state", [None, torch.randn(7, 8, generator=torch.Generator().manual_seed(0))])
def test_an_mlp_cell_is_two_layers_over_input_and_state(state):
    cell, x = MLPCell(5, 8, dropout=0.5).eval(), torch.randn(7, 5)
    h = torch.zeros(7, 8) if state is None else state
    weights = torch.cat([cell.from_x.weight, cell.from_h.weight.T], dim=1)
    between = (torch.cat([x, h], dim=1) @ weights.T + cell.from_x.bias + cell.from_h.bias).clamp(min=0)
    expected = (between @ cell.to_h.weight.T + cell.to_h.bias).clamp(min=0)
    torch.testing.assert_close(cell(cell.start(x), state), expected)


def test_dropout_of_an_mlp_cell_is_drawn_anew_at_every_update_of_training_only():
    cell, x = MLPCell(5, 64, dropout=0.5), torch.randn(7, 5)
    z = cell.start(x)
    assert not torch.equal(cell(z, None), cell(z, None))
    cell.eval()
    assert torch.equal(cell(z, None), cell(z, None))


@pytest.mark.parametrize("cell", [RNNCell, GRUCell, MLPCell])
def test_inputs_are_flattened_after_the_batch(cell):
    cell, x = cell(6, 8), torch.randn(4, 2, 3)
    torch.testing.assert_close(begin(cell, x), begin(cell, x.flatten(1)), rtol=0, atol=0)


def test_states_of_one_part_of_two_and_of_none():
    h, c, rows = torch.randn(4, 2), torch.randn(4, 2), torch.tensor([2, 0])
    assert hidden(h) is h
    assert hidden((h, c)) is h
    assert torch.equal(select(h, rows), h[[2, 0]])
    both = select((h, (c, None)), rows)
    assert torch.equal(both[0], h[[2, 0]])
    assert torch.equal(both[1][0], c[[2, 0]])
    assert both[1][1] is None
    other = select({"list": [h, None], "h": c}, rows)
    assert torch.equal(other["list"][0], h[[2, 0]])
    assert torch.equal(other["h"], c[[2, 0]])
    assert hidden([h, c]) is h


class CountingLSTM(nn.LSTMCell):
    rows = 0

    def forward(self, x, state=None):
        self.rows += len(x)
        return super().forward(x, state)


def test_pondernet_around_torchs_lstm_is_that_lstm():
    model, x = PonderNet(RecurrentStep(nn.LSTMCell(6, 16), n_outputs=3), 5), torch.randn(20, 6)
    y_hat, logits, _ = model(x)
    state = (torch.zeros(20, 16), torch.zeros(20, 16))
    for n in range(5):
        state = model.step.cell(x, state)
        heads = model.step.heads(state[0])
        torch.testing.assert_close(y_hat[n], heads[:, :3])
        torch.testing.assert_close(logits[n], heads[:, 3])


@pytest.mark.parametrize("rule", RULES)
def test_pondernet_around_torchs_lstm_predicts_as_it_computes_forward(rule):
    model, x = PonderNet(RecurrentStep(CountingLSTM(6, 16)), 9), torch.randn(40, 6)
    nn.init.normal_(model.step.heads.weight, std=3)  # so that samples halt at different steps
    nn.init.constant_(model.step.heads.bias, -1)
    y_hat, _, log_p = model(x)
    model.step.cell.rows = 0
    got = model.predict(x, rule, step=4, generator=torch.Generator().manual_seed(0), look_every=1)
    assert model.step.cell.rows == got.computed.sum()
    if rule == "expectation":
        torch.testing.assert_close(got.y_hat, (log_p.exp() * y_hat).sum(0))
    else:
        torch.testing.assert_close(got.y_hat, y_hat[got.steps - 1, torch.arange(40)])
        torch.testing.assert_close(got.p_halt, log_p.exp()[got.steps - 1, torch.arange(40)])
    if rule in ("sample", "quantile", "most_probable"):
        assert len(got.computed.unique()) > 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: RNNCell(0, 8), ValueError, "input_size must be an integer >= 1; got 0"),
        (lambda: GRUCell(4, 8.5), TypeError, "hidden_size must be an integer >= 1; got 8.5"),
        (lambda: RNNCell(4, 8).start(torch.zeros(3, 5)), ValueError, "x must have input_size = 4 numbers .*; got 5"),
        (lambda: RecurrentStep(nn.LSTMCell(4, 8), 0), ValueError, "n_outputs must be an integer >= 1; got 0"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
