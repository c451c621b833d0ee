"""The hooks of scorecard/huggingface.py, on random weights of two layers."""

import pytest
import torch
from torch import nn

from ponder_course.scorecard.huggingface import thoughts
from ponder_utils import halting_steps

transformers = pytest.importorskip("transformers")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SIZES = {"vocab_size": 40, "hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4}
LLAMA = SIZES | {"num_hidden_layers": 2, "num_key_value_heads": 4}
X = {"input_ids": torch.arange(12).view(2, 6)}


def gpt2(n_layers):
    config = transformers.GPT2Config(vocab_size=40, n_embd=32, n_layer=n_layers, n_head=4)
    model = transformers.GPT2LMHeadModel(config)
    return model, {"after": [*model.transformer.h], "read": lambda h: model.lm_head(model.transformer.ln_f(h))}


def llama(n_layers):
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA | {"num_hidden_layers": n_layers}))
    return model, {"after": [*model.model.layers], "read": lambda h: model.lm_head(model.model.norm(h))}


def albert(n_layers):  # one layer in a loop
    config = transformers.AlbertConfig(**SIZES, embedding_size=16, num_hidden_layers=n_layers)
    model = transformers.AlbertForMaskedLM(config)
    return model, {"after": [*model.albert.encoder.albert_layer_groups], "read": model.predictions}


class Like(nn.Module):
    """Ouro: the stack and its norm, again and again, with a gate. Huginn: as well, and a layer after the loop."""

    def __init__(self, has_coda):
        super().__init__()
        self.whole = transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA))
        self.coda = transformers.LlamaModel(transformers.LlamaConfig(**LLAMA)) if has_coda else None
        self.early_exit_gate = nn.Linear(32, 1)

    def read(self, h):
        return self.whole.lm_head(h if self.coda is None else self.coda(inputs_embeds=h).last_hidden_state)

    def forward(self, input_ids, n_loops=4):
        h = self.whole.model.embed_tokens(input_ids)
        for _ in range(n_loops):
            h = self.whole.model(inputs_embeds=h).last_hidden_state
        return self.read(h)


@pytest.mark.parametrize("build", [gpt2, llama, albert])
def test_a_state_after_each_layer_answers_as_the_shorter_model_does(build):
    model, how = build(2)
    output = thoughts(model, X, **how)
    assert output.y_hat.shape == (2, 2, 6, 40)
    torch.testing.assert_close(output.y_hat[-1], model(**X).logits)
    shorter, _ = build(1)
    shorter.load_state_dict({name: model.state_dict()[name] for name in shorter.state_dict()})
    torch.testing.assert_close(output.y_hat[0], shorter.eval()(**X).logits)
    assert halting_steps(output, "settled", tolerance=100.0, classes=True).eq(2).all()


@pytest.mark.parametrize("has_coda", [False, True], ids=["like Ouro", "like Huginn"])
def test_loops_are_answered_one_by_one_and_the_gate_is_asked(has_coda):
    model = Like(has_coda).eval()
    output = thoughts(model, X, [model.whole.model.norm], model.read, model.early_exit_gate)
    assert output.halt_logits.shape == (4, 2, 6)
    for n in range(4):
        torch.testing.assert_close(output.y_hat[n], model(**X, n_loops=n + 1))
    with torch.no_grad():
        model.early_exit_gate.bias.fill_(100.0)
    sure = thoughts(model, X, [model.whole.model.norm], model.read, model.early_exit_gate)
    assert halting_steps(sure, "quantile").eq(1).all()


def test_a_module_that_is_not_called_is_named():
    with pytest.raises(ValueError, match="none of them was called"):
        thoughts(gpt2(1)[0], X, [nn.Linear(1, 1)], nn.Identity())
