"""A layer of a Hugging Face transformer, applied as often as it takes.

Here BERT's, small and with random weights; `BertModel.from_pretrained(...)` brings trained ones. The input is what a
tokenizer returns: a dict with input_ids and attention_mask. The task is that of `examples.transformer`: brackets.

    pip install transformers
    python -m examples.huggingface
"""

import torch
from torch import Tensor
from transformers import BertConfig, BertModel

from examples.transformer import N_PLACES, brackets, learn
from ponder_utils import Heads, Step

Inputs = dict[str, Tensor]
State = tuple[Tensor, Tensor]  # tokens [batch, tokens, hidden], and the mask as the layer adds it [batch, 1, 1, tokens]


class BertStep(Step):
    """One step of thought is one pass through the first layer; the answer and a_n are read from the mean of tokens."""

    def __init__(self, bert: BertModel) -> None:
        super().__init__()
        self.embeddings = bert.embeddings
        self.layer = bert.encoder.layer[0]
        self.heads = Heads(bert.config.hidden_size)

    def encode(self, x: Inputs) -> tuple[None, State]:
        """Return nothing that every step needs beside its state, and the first state."""
        h = self.embeddings(x["input_ids"])
        return None, (h, (1 - x["attention_mask"].to(h)[:, None, None]) * torch.finfo(h.dtype).min)

    def move(self, z: None, h: State) -> State:
        """Return the next state."""
        tokens, mask = h
        tokens = self.layer(tokens, attention_mask=mask)
        return tokens[0] if isinstance(tokens, tuple) else tokens, mask  # a tuple before transformers 5

    def read(self, h: State) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch] and a_n [batch]."""
        tokens, mask = h
        is_token = (mask[:, 0, 0] == 0).to(tokens)[:, :, None]
        return self.heads((tokens * is_token).sum(1) / is_token.sum(1))


def tokenized(batch_size: int, generator: torch.Generator) -> tuple[Inputs, Tensor]:
    """Draw strings of brackets, as a tokenizer would return them, and 1.0 for those that are balanced."""
    x, y = brackets(batch_size, generator)
    return {"input_ids": x["tokens"], "attention_mask": (~x["padding"]).long()}, y


def main(n_updates: int = 150) -> float:
    """Train on fresh strings; print and return how often the network is right on others."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=3,
        max_position_embeddings=N_PLACES,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,  # the usual 0.02 is meant for widths of a thousand
    )
    return learn(BertStep(BertModel(config)), tokenized, n_updates)


if __name__ == "__main__":
    main()
