"""Characters of Python's own documentation, read by an LSTM with ACT (ACT, Sec. 3.5): where does it pause?"""

from functools import cache
from math import log
from pydoc_data import topics

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from ponder_course.common.measures import correlation, mean
from ponder_course.common.runs import rounded
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_evidence.adding_a_column.act_tasks import lstm_with_act
from ponder_utils.losses import ACTLoss

ALPHABET = "\n" + "".join(map(chr, range(32, 127)))  # whatever else stands there is read as "?"
WINDOW, BATCH_SIZE, HIDDEN = 40, 32, 96
SENTENCE = "typesmapping"  # the topic whose beginning is traced: a test text
AFTER = {"letter": "abcdefghijklmnopqrstuvwxyz", "space": " \n", "comma": ",", "full stop": ".", "bracket": "(["}


@cache
def codes() -> tuple[Tensor, Tensor, Tensor]:
    """Return the characters to learn from, and to test on, and those of the traced sentences: int64 [n] each.

    Every tenth topic, and the one that is traced, is for the test.
    """
    names = sorted(topics.topics)
    for_test = [name for n, name in enumerate(names) if n % 10 == 0 or name == SENTENCE]
    texts = [topics.topics[name] for name in names if name not in for_test], [topics.topics[name] for name in for_test]
    paragraph = " ".join(topics.topics[SENTENCE].split("\n\n")[1].replace("*", "").split())
    sentences = ". ".join(paragraph.split(". ")[:2]) + "."
    return encode("\n".join(texts[0])), encode("\n".join(texts[1])), encode(sentences)


def encode(text: str) -> Tensor:
    """Return the number of each character: int64 [n]."""
    number = {character: n for n, character in enumerate(ALPHABET)}
    return torch.tensor([number.get(character, number["?"]) for character in text])


def windows(text: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
    """Return x [WINDOW, batch, characters] and the next characters y [WINDOW, batch], from these places on."""
    places = torch.arange(WINDOW + 1)[:, None] + starts
    return one_hot(text[places[:-1]], len(ALPHABET)).float(), text[places[1:]]


def criterion(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return the loss of each answer: [n, characters] and [n] -> [n]."""
    return cross_entropy(y_hat, y, reduction="none")


def run(seed: int, tau: float | None, updates: int = 400) -> Row:
    """Train on windows, each from a state of zeros, and read the test's. tau: time penalty; None: always one step.

    bits: per character, of the test. mean_steps. For what it has just read, as in AFTER: steps and entropy, in bits,
    of what it expects next. follows: correlation of steps and entropy. trace: what it reads, steps, entropy.
    """
    torch.manual_seed(seed)
    text, test, trace = codes()
    model = lstm_with_act(len(ALPHABET), HIDDEN, len(ALPHABET), 8 if tau is not None else 1, 1.0)
    generator = torch.Generator().manual_seed(seed)

    def batch(_: torch.Generator) -> tuple[Tensor, Tensor]:
        return windows(text, torch.randint(len(text) - WINDOW, (BATCH_SIZE,), generator=generator))

    fit(model, ACTLoss(criterion, tau or 0.0), batch, updates, lr=4e-3)
    return rounded(measure(model, test, trace))


@torch.no_grad()
def measure(model: nn.Module, test: Tensor, trace: Tensor) -> Row:
    """Return what `run` says."""
    x, y = windows(test, torch.arange(0, len(test) - WINDOW - 1, WINDOW))
    output = model(x)
    late = slice(WINDOW // 4, None)  # it has read something
    read, steps, entropy = x.argmax(2)[late], output.steps[late].float(), entropies(output.y_hat)[late]
    after = {}
    for name, characters in AFTER.items():
        where = torch.isin(read, torch.tensor([ALPHABET.index(c) for c in characters]))
        after[name] = {"steps": mean(steps[where]), "entropy": mean(entropy[where])}
    one = model(one_hot(trace, len(ALPHABET)).float()[:, None])
    return {
        "bits": cross_entropy(output.y_hat[late].flatten(0, 1), y[late].flatten()).item() / log(2),
        "mean_steps": mean(steps),
        "after": after,
        "follows": correlation(steps, entropy),
        "trace": {
            "read": "".join(ALPHABET[code] for code in trace.tolist()),
            "steps": one.steps[:, 0].tolist(),
            "entropy": entropies(one.y_hat)[:, 0].tolist(),
        },
    }


def entropies(y_hat: Tensor) -> Tensor:
    """Return the entropy of the answers y_hat [..., classes], in bits: [...]."""
    log_p = y_hat.log_softmax(-1)
    return -(log_p.exp() * log_p).sum(-1) / log(2)
