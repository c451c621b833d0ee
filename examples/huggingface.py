"""A language model from Hugging Face, asked after each layer or loop, and stopped by the rules of `ponder_utils`.

Hooks collect what a module returns each time that it is called. Which module, and how an answer is read from its state:

    a plain stack     after=[*model.transformer.h]            read=lambda h: model.lm_head(model.transformer.ln_f(h))
    like Ouro         after=[model.model.norm]                read=model.lm_head, gate=model.model.early_exit_gate
    like Huginn       after=[model.transformer.core_block[-1]]
                      read=lambda h: model.predict_from_latents(h).logits

For the last two the names were read in the code that these models come with (November 2026); their trained weights were
not run here. A stack that was not trained to answer early may be wrong in all layers but the last.

    pip install transformers
    python -m examples.huggingface
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel

from ponder_utils import PonderOutput, halting_log_probs, halting_steps


@contextmanager
def watched(modules: Sequence[nn.Module]) -> Iterator[list[Tensor]]:
    """Give a list that grows by what these modules return, one state for each call, in the order of the calls."""
    states: list[Tensor] = []

    def keep(module: nn.Module, inputs: Any, output: Any) -> None:  # noqa: ANN401 - layers differ in what they return
        states.append(output[0] if isinstance(output, tuple) else output)

    hooks = [module.register_forward_hook(keep) for module in modules]
    try:
        yield states
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def thoughts(
    model: nn.Module,
    inputs: Mapping[str, Any],
    after: Sequence[nn.Module],
    read: Callable[[Tensor], Tensor],
    gate: Callable[[Tensor], Tensor] | None = None,
) -> PonderOutput:
    """Return what a model would answer after each loop or layer, and what its gate says.

    Args:
        inputs: of the model's `forward`, such as input_ids.
        after: modules whose output is a state [batch, tokens, size], such as all layers, or the last layer of a loop.
        read: state -> logits [batch, tokens, words].
        gate: state -> halting logits [batch, tokens, 1]; None: there is none, and 0 stands for them.

    ValueError if none of the modules was called.
    """
    with watched(after) as states:
        model.eval()(**inputs)
    if not states:
        raise ValueError("after must hold modules that the model calls; none of them was called")
    y_hat = torch.stack([read(state) for state in states])  # [n, batch, tokens, words]
    halt = y_hat.new_zeros(y_hat.shape[:-1]) if gate is None else torch.stack([gate(h)[..., 0] for h in states])
    return PonderOutput(y_hat, halt, halting_log_probs(halt))


def main() -> PonderOutput:
    """Print after which layer each token of a small GPT-2 with random weights would leave, by two rules."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "n_positions": 16, "n_embd": 32, "n_layer": 6, "n_head": 4}
    model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0, initializer_range=0.2))
    stack = model.transformer  # of trained weights: GPT2LMHeadModel.from_pretrained("gpt2")
    x = {"input_ids": torch.randint(50, (1, 8))}
    output = thoughts(model, x, [*stack.h], lambda h: model.lm_head(stack.ln_f(h)))
    print("certain:", halting_steps(output, "confidence", q=0.1, classes=True).tolist())
    print("settled:", halting_steps(output, "settled", tolerance=0.01, classes=True).tolist())
    return output


if __name__ == "__main__":
    main()
