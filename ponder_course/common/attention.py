"""Steps that read by attention: every token reads every other (one layer of a transformer), or one reader a memory."""

from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils._check import check_choice, check_int, check_mask, check_real, check_type
from ponder_utils.states import hidden_state
from ponder_utils.steps import Heads, Step

HALTED = 30.0  # the halting logit of padding, so that nobody waits for it
SURE = 1e4  # the logit of the answer there


class TransformerStep(Step):
    """Every token asks the others, by attention, and then answers and halts by itself.

        A = LN(H + attention(H)),  H' = LN(A + MLP(A))

    The layer of Vaswani et al. 2017 (arXiv:1706.03762), repeated as in the Universal Transformer (arXiv:1807.03819,
    Eqs. 4-5) without its encodings of place and time.

    Args:
        size: numbers in the state of a token, a multiple of n_heads.
        n_outputs: size of one answer; 1 gives y_hat_n of shape [batch, tokens], more [batch, tokens, n_outputs].
        memory: keys and values come from the states of the others by now, "current", or their first ones, "initial".
        update_dropout: in training a token keeps its old state at a step with this probability, in [0, 1], as in
            zoneout (arXiv:1606.01305): so it cannot count.
        causal: a token reads itself and those before it.
        halting_bias: of the halting logits before training, as for `ponder_utils.steps.Heads`.
    """

    def __init__(
        self,
        size: int,
        n_outputs: int = 1,
        n_heads: int = 1,
        memory: str = "current",
        update_dropout: float = 0.0,
        causal: bool = False,
        halting_bias: float | None = None,
    ) -> None:
        super().__init__()
        if check_int("size", size, 1) % check_int("n_heads", n_heads, 1):
            raise ValueError(f"size must be a multiple of n_heads = {n_heads}; got {size}")
        self.memory = check_choice("memory", memory, ("initial", "current"))
        self.update_dropout = check_real("update_dropout", update_dropout, 0, 1, open_low=False)
        self.causal = check_type("causal", causal, bool)
        self.attention = nn.MultiheadAttention(size, n_heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(size, 2 * size), nn.ReLU(), nn.Linear(2 * size, size))
        self.norm_attention, self.norm_mlp = nn.LayerNorm(size), nn.LayerNorm(size)
        self.heads = Heads(size, n_outputs, halting_bias)

    def encode(self, x: Tensor | tuple[Tensor, Tensor]) -> tuple[tuple[Tensor, Tensor | None], Any]:
        """x: tokens [batch, tokens, size], or these and where they are padding, bool [batch, tokens], true at padding.

        The first state is the tokens, and beside them, if there is any, the padding: nobody reads it, whatever stands
        there, and it halts at once, with lambda_n = 1 and the same sure answer at every step. Leave it out of the loss:
        `mask=~padding`. A sample may be nothing but padding.
        """
        tokens, padding = without_padding("x", x, self.attention.embed_dim)
        return (tokens, padding), tokens if padding is None else (tokens, padding)

    def move(self, z: tuple[Tensor, Tensor | None], h: Any) -> Any:
        """Return the next states [batch, tokens, size], with the padding as in h."""
        tokens, padding = z
        old = hidden_state(h)
        new = self.layer(old, old if self.memory == "current" else tokens, padding)
        if self.training and self.update_dropout:
            new = torch.where(torch.rand_like(new[..., :1]) < self.update_dropout, old, new)
        return new if padding is None else (new, padding)

    def read(self, h: Any) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, tokens] or [batch, tokens, n_outputs], and a_n [batch, tokens]."""
        y_hat, halt_logit = self.heads(hidden_state(h))
        if isinstance(h, Tensor):
            return y_hat, halt_logit
        _, padding = h
        halt_logit = halt_logit.masked_fill(padding, HALTED)
        if self.heads.n_outputs == 1:
            return y_hat.masked_fill(padding, SURE), halt_logit
        first_class = torch.arange(self.heads.n_outputs, device=padding.device) == 0
        sure = torch.where(first_class, SURE, -SURE).to(y_hat)
        return torch.where(padding[..., None], sure, y_hat), halt_logit

    def layer(self, h: Tensor, memory: Tensor, padding: Tensor | None) -> Tensor:
        """Return H' of states h [batch, n, size] that ask a memory [batch, tokens, size], but not where padding is."""
        unread, later = padding, None
        if self.causal:
            itself = torch.eye(h.shape[1], dtype=torch.bool, device=h.device)
            later = torch.ones_like(itself).triu(1)
            if padding is not None:  # it reads itself, so that no softmax is over nothing
                hidden = (later | padding[:, None]) & ~itself  # [batch, tokens, tokens]
                unread, later = None, hidden.repeat_interleave(self.attention.num_heads, 0)
        elif padding is not None:
            unread = padding & ~padding.all(1, keepdim=True)
        if h.numel() and memory.numel():
            heard, _ = self.attention(h, memory, memory, unread, need_weights=False, attn_mask=later)
        else:
            heard = torch.zeros_like(h)
        if padding is not None:  # who has nothing to read hears nothing
            heard = heard.masked_fill(padding.all(1)[:, None, None], 0.0)
        new = self.norm_attention(h + heard)
        return self.norm_mlp(new + self.mlp(new))


def without_padding(name: str, x: Any, size: int) -> tuple[Tensor, Tensor | None]:
    """Return the tokens of x, 0 where they are padding, and where that is, for tokens or (tokens, padding).

    They must be 0, since attention multiplies what nobody reads by 0, and 0 times infinity is NaN.
    """
    parts = x if isinstance(x, tuple | list) else (x,)
    if len(parts) not in (1, 2):
        raise TypeError(f"{name} must be tokens, or a pair of tokens and padding; got {len(parts)} parts")
    tokens, padding = parts[0], parts[1] if len(parts) == 2 else None
    if not isinstance(tokens, Tensor) or tokens.ndim != 3 or tokens.shape[2] != size:
        came = list(tokens.shape) if isinstance(tokens, Tensor) else type(tokens).__name__
        raise ValueError(f"{name} must have shape [batch, tokens, size = {size}]; got {came}")
    if padding is None:
        return tokens, None
    check_mask("padding", padding, tokens.shape[:2])
    return tokens.masked_fill(padding[..., None], 0.0), padding
