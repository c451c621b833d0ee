"""Real text, characters of Python's documentation: does the surprise of a character tell how many layers it needs?

Python itself ships it (`pydoc_data.topics`, PSF licence); another version of Python has another text.
"""

import math
from collections.abc import Callable
from functools import partial
from pydoc_data.topics import topics
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import Categorical
from torch.nn.functional import cross_entropy, mse_loss, pad

import ponder_utils as pu
from ponder_course.common.measures import at_step, mean
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.who_leaves_early.lesson import CausalStep
from ponder_evidence.runs import grid

EXITS, SIZE, WINDOW = 4, 96, 64  # layers, each with an exit; numbers of a state; characters of a text
DEPTHS = (2, 3)  # mean numbers of layers at which rules are compared
Rule = Callable[[float], Tensor]  # threshold -> exits [texts, characters], 1 to EXITS; a larger one, later exits


class Stack(nn.Module):
    """Causal layers, each with an answer, the next character, and a head that foresees the next layer's gain."""

    def __init__(self, alphabet: int) -> None:
        super().__init__()
        self.alphabet = alphabet
        self.own, self.before, self.place = (nn.Embedding(n, SIZE) for n in (alphabet, alphabet + 1, WINDOW))
        for embedding in (self.own, self.before, self.place):
            nn.init.normal_(embedding.weight, std=0.5)
        self.layers: Any = nn.ModuleList([CausalStep(SIZE, alphabet) for _ in range(EXITS)])

    def forward(self, x: Tensor, exits: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x, and exits in earnest or None, [texts, characters] -> logits [EXITS, ..., alphabet], gains foreseen."""
        before = pad(x[:, :-1], (1, 0), value=self.alphabet)
        h = shown = self.own(x) + self.before(before) + self.place.weight
        logits, gains = [], []
        for n, layer in enumerate(self.layers, 1):
            h = layer.layer(h, shown)
            shown = h if exits is None else torch.where((exits >= n)[..., None], h, shown)
            logits.append(layer.read(h)[0])
            gains.append(layer.read(h.detach())[1])  # foreseeing changes no state
        return torch.stack(logits), torch.stack(gains)


def bits_of(logits: Tensor, y: Tensor) -> Tensor:
    """Return -log2 p of the next characters y [texts, characters] at each exit: [EXITS, texts, characters]."""
    y = y.expand(logits.shape[:-1])
    return cross_entropy(logits.flatten(0, 2), y.flatten(), reduction="none").view(y.shape) / math.log(2)


def loss_of_text(output: tuple[Tensor, Tensor], y: Tensor) -> dict[str, Tensor]:
    """Return the mean bits of all exits, and how far the heads are from what the next layer gains."""
    logits, gains = output
    bits = bits_of(logits, y)
    return {"total": bits.mean() + mse_loss(gains[:-1], (bits[:-1] - bits[1:]).detach())}


def documentation() -> tuple[Tensor, Tensor, int]:
    """Return the characters of the training, the windows of the test [texts, WINDOW + 1], and the size of the alphabet.

    The test is in the last tenth. No window of it has its middle half in the training: topics repeat each other.
    """
    text = "\n".join(topics[name] for name in sorted(topics))
    alphabet = sorted(set(text))
    number = {character: i for i, character in enumerate(alphabet)}
    characters = torch.tensor([number[character] for character in text])
    cut = len(text) * 9 // 10
    starts = range(cut, len(text) - WINDOW, WINDOW + 1)
    unseen = [start for start in starts if text[start + 16 : start + 48] not in text[:cut]]
    return characters[:cut], characters[torch.tensor(unseen)[:, None] + torch.arange(WINDOW + 1)], len(alphabet)


def first_over(scores: Tensor, threshold: float) -> Tensor:
    """Return the first exit whose score [EXITS, texts, characters] is the threshold or more, or else the last."""
    ready = scores >= threshold
    ready[-1] = True
    return ready.int().argmax(0) + 1


def rules_of(logits: Tensor, gains: Tensor, bits: Tensor) -> dict[str, Rule]:
    """Return the rules by name. "hindsight" alone knows the bits [EXITS, texts, characters]; the others must not."""
    log_probs = logits.log_softmax(-1)
    moved = torch.full_like(bits, math.inf)  # nats of KL since the exit before
    moved[1:] = (log_probs[1:].exp() * log_probs.diff(dim=0)).sum(-1)
    layers = torch.arange(EXITS)[:, None, None]
    return {
        "certain": partial(first_over, log_probs.amax(-1).exp()),
        "entropy": partial(first_over, (log_probs.exp() * log_probs).sum(-1)),
        "settled": partial(first_over, -moved),
        "head": partial(first_over, -gains),
        "random": partial(first_over, torch.rand(bits.shape, generator=torch.Generator().manual_seed(13))),
        "hindsight": lambda bonus: (bits - bonus * layers).argmin(0) + 1,
    }


def at_depth(rule: Rule, depth: float) -> Tensor:
    """Return the exits whose mean is the depth, by bisection of the threshold."""
    low, high = -30.0, 30.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if rule(middle).double().mean() < depth else (low, middle)
    return rule(high)


@torch.no_grad()
def measure(stack: Stack, windows: Tensor) -> Row:
    """Return bits a character of the windows: "by_exit"; "free", the best exit of each in hindsight; and by rule.

    "gain_by_fifth": bits that layers 2 to 4 gain, by fifths of the entropy at exit 1, from the surest. "depth 2" and
    "depth 3": {rule: "bits" on paper and "earnest" at the same exits, mean "depth", how many bits "more" than "certain"
    on paper, and the standard "error" of that over texts}. "same": one exit for all. "dealt": the exits of "certain",
    dealt to characters at random.
    """
    x, y = windows[:, :-1], windows[:, 1:]
    logits, gains = stack(x)
    bits = bits_of(logits, y)
    by_entropy = Categorical(logits=logits[0]).entropy().flatten().argsort()
    fifths = (bits[0] - bits[-1]).flatten()[by_entropy].tensor_split(5)
    measures: Row = {"characters": y.numel(), "by_exit": bits.mean((1, 2)).tolist(), "free": bits.amin(0).mean().item()}
    measures["gain_by_fifth"] = [fifth.mean().item() for fifth in fifths]
    for depth in DEPTHS:
        exits = {name: at_depth(rule, depth) for name, rule in rules_of(logits, gains, bits).items()}
        exits["same"] = torch.full_like(y, depth)
        dealt = torch.randperm(y.numel(), generator=torch.Generator().manual_seed(13))
        exits["dealt"] = exits["certain"].flatten()[dealt].view(y.shape)
        measures[f"depth {depth}"] = of_rules = {}
        for name, leaves in exits.items():
            on_paper, in_earnest = at_step(bits, leaves), at_step(bits_of(stack(x, leaves)[0], y), leaves)
            more = (on_paper - at_step(bits, exits["certain"])).mean(1)
            of_rules[name] = {
                "bits": mean(on_paper),
                "earnest": mean(in_earnest),
                "depth": mean(leaves),
                "more": mean(more),
                "error": more.std().item() / len(more) ** 0.5,
            }
    return measures


def run(seed: int, updates: int = 1500, n_texts: int | None = None) -> Row:
    """Train a stack on the documentation, and measure it on the first texts that were held out, None for all."""
    characters, windows, alphabet = documentation()

    def texts(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        starts = torch.randint(len(characters) - WINDOW, (16, 1), generator=generator)
        drawn = characters[starts + torch.arange(WINDOW + 1)]
        return drawn[:, :-1], drawn[:, 1:]

    torch.manual_seed(seed)
    stack = Stack(alphabet)
    schedule = pu.cool_down(updates)
    pu.train(stack, loss_of_text, texts, updates, lr=3e-3, schedule=schedule, clip=1.0, seed=seed, progress=False)
    return rounded(measure(stack.eval(), windows[:n_texts]))


EXPERIMENTS = {"real text": grid("13_real_text", run, seeded([{}], range(1, 4)), {"updates": 2, "n_texts": 20})}
