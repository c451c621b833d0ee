"""The reader of lesson 08's evidence on inference, against a loop over what it reads."""

import torch

from ponder_evidence.alone_and_together.reader import ReaderStep
from ponder_utils.pondernet import PonderNet


def test_a_reader_asks_its_memory_again_at_each_step():
    step = ReaderStep(8, 3).double().eval()
    question, memory = torch.randn(5, 8).double(), torch.randn(5, 6, 8).double()
    output, layer = PonderNet(step, 3)((question, memory)), step.reader
    for i, h in enumerate(question):
        for n in range(3):
            between = layer.norm_attention(h + layer.attention(h[None], memory[i], memory[i])[0][0])
            h = layer.norm_mlp(between + layer.mlp(between))
            said = layer.heads.weight @ h + layer.heads.bias
            torch.testing.assert_close(torch.cat([output.y_hat[n, i], output.halt_logits[n, i, None]]), said)
