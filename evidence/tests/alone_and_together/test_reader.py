"""The reader of lesson 08's evidence on inference, against a loop over what it reads."""

import math

import pytest
import torch

from ponder_evidence.alone_and_together.reader import ReaderStep
from ponder_utils.pondernet import PonderNet

PADDING = torch.arange(6) >= torch.tensor([6, 1, 3, 5, 4])[:, None]


def hear(attention, query, read):
    """What one query [size] hears from tokens [tokens, size], head by head and token by token."""
    size, width = attention.embed_dim, attention.head_dim
    (W_q, W_k, W_v), (b_q, b_k, b_v) = attention.in_proj_weight.split(size), attention.in_proj_bias.split(size)
    heard = []
    for start in range(0, size, width):
        part = slice(start, start + width)
        q = (W_q @ query + b_q)[part]
        scores = torch.stack([q @ (W_k @ token + b_k)[part] for token in read]) / math.sqrt(width)
        shares = scores.exp() / scores.exp().sum()
        heard.append(sum(share * (W_v @ token + b_v)[part] for share, token in zip(shares, read, strict=True)))
    return attention.out_proj.weight @ torch.cat(heard) + attention.out_proj.bias


@pytest.mark.parametrize("n_heads", [1, 2])
def test_a_reader_asks_its_memory_again_at_each_step_and_never_the_padding(n_heads):
    step = ReaderStep(8, 3, n_heads).double().eval()
    question, memory = torch.randn(5, 8).double(), torch.randn(5, 6, 8).double()
    output, layer = PonderNet(step, 3)((question, memory, PADDING)), step.reader
    for i, h in enumerate(question):
        for n in range(3):
            between = layer.norm_attention(h + hear(layer.attention, h, memory[i][~PADDING[i]]))
            h = layer.norm_mlp(between + layer.mlp(between))
            said = layer.heads.weight @ h + layer.heads.bias
            torch.testing.assert_close(torch.cat([output.y_hat[n, i], output.halt_logits[n, i, None]]), said)
