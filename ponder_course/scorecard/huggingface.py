"""A language model from Hugging Face, asked after each layer or loop, for the rules of `ponder_utils` to stop it.

Hooks collect what a module returns each time that it is called. Which module, and how an answer is read from its state:

    a plain stack     after=[*model.transformer.h]            read=lambda h: model.lm_head(model.transformer.ln_f(h))
    like Ouro         after=[model.model.norm]                read=model.lm_head, gate=model.model.early_exit_gate
    like Huginn       after=[model.transformer.core_block[-1]]
                      read=lambda h: model.predict_from_latents(h).logits

For the last two the names were read in the code that these models come with (November 2026); their trained weights were
not run here. A stack that was not trained to answer early may be wrong in all layers but the last.
evidence/notebooks/13_downloaded_models.ipynb runs it, on Colab too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils import PonderOutput, halting_log_probs


@contextmanager
def watched(modules: Sequence[nn.Module]) -> Iterator[list[Tensor]]:
    """Give a list that grows by what these modules return, one state for each call, in the order of the calls."""
    states: list[Tensor] = []

    def keep(module: nn.Module, inputs: Any, output: Any) -> None:
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
