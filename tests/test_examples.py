import pytest
import torch

from examples import lstm, torchvision_block, transformer, your_own
from ponder_utils import PonderNet
from ponder_utils.halting import PonderOutput, halting_log_probs


@pytest.mark.parametrize(
    ("main", "at_least"),
    [(transformer.main, 0.95), (torchvision_block.main, 0.93), (lstm.main, 0.95), (your_own.main, 0.95)],
    ids=["transformer", "torchvision_block", "lstm", "your_own"],
)
def test_an_example_learns_its_task(main, at_least):
    assert main() >= at_least


def test_brackets_are_balanced_where_the_target_says_so():
    x, y = transformer.brackets(300, torch.Generator().manual_seed(0))
    for tokens, padding, target in zip(x["tokens"], x["padding"], y, strict=True):
        text = "".join("_()"[token] for token in tokens)
        length = int((~padding).sum())
        assert text == text[:length] + "_" * (12 - length)
        while "()" in text:
            text = text.replace("()", "")
        assert (text.strip("_") == "") == bool(target)
    assert 0.4 < y.mean() < 0.7


def test_padding_is_not_read():
    torch.manual_seed(0)
    x, _ = transformer.brackets(20, torch.Generator().manual_seed(0))
    model = PonderNet(transformer.TransformerStep(32), max_steps=3).eval()
    other = {**x, "tokens": torch.where(x["padding"], 2, x["tokens"])}
    torch.testing.assert_close(model(other).y_hat, model(x).y_hat)
    (digits, lengths), _ = lstm.largest_digit(20, torch.Generator().manual_seed(0))
    after_the_end = torch.arange(8) >= lengths[:, None]
    reader = lstm.Reader(16)
    torch.testing.assert_close(reader((digits.masked_fill(after_the_end, 9), lengths)), reader((digits, lengths)))


def test_twice_sure_takes_the_second_of_two_sure_answers():
    y_hat = torch.tensor([[9.0, 9.0, 0.0], [-9.0, 0.0, 9.0], [0.0, 9.0, 0.0], [0.0, -9.0, 9.0]])  # [steps, batch]
    halt_logits = torch.zeros_like(y_hat)
    output = PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits))
    assert your_own.twice_sure(output).tolist() == [2, 4, 0]
    first = PonderOutput(*(part[:1] for part in output))
    assert your_own.twice_sure(first).tolist() == [0, 0, 0]
