"""What is measured of networks that ask for the root of every node, on forests and on chains."""

from statistics import median
from typing import Any

import torch
from torch import Tensor

from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.measures import at_step, by_group, halting_report, mean
from ponder_course.common.store import Row
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps
from ponder_utils.steps import EncodedStep

N_NODES, MAX_DEPTH = 32, 8
CERTAIN = (0.8, 0.9, 0.99, 0.999)
FELT = 0.1  # the change of a probability that counts as one


def chains(n_chains: int, n_nodes: int, generator: torch.Generator | None = None) -> Tensor:
    """Draw forests that are one chain, as `ForestTask` has them: parents, int64 [n_chains, n_nodes]."""
    upwards = torch.rand(n_chains, n_nodes, generator=generator).argsort(1)  # the root first
    above = torch.cat([upwards[:, :1], upwards[:, :-1]], dim=1)
    return torch.empty_like(upwards).scatter_(1, upwards, above)


def ancestors(x: Tensor, deepest: int) -> Tensor:
    """Return who stands 0, 1, ..., deepest arrows above each node, at the end its root: [deepest + 1, batch, nodes]."""
    above = [torch.arange(x.shape[1]).expand_as(x)]
    for _ in range(deepest):
        above.append(x.gather(1, above[-1]))
    return torch.stack(above)


@torch.no_grad()
def attention_by_step(step: EncodedStep, x: Tensor, n_steps: int) -> Tensor:
    """Return the weights with which each node reads each other, averaged over heads: [n_steps, batch, nodes, nodes]."""
    layer: Any = step.step
    start, h = step.encode(x)
    weights = []
    for _ in range(n_steps):
        others = h if layer.memory == "current" else start
        weights.append(layer.attention(h, others, others)[1])
        _, h, _ = step(start, h)
    return torch.stack(weights)


@torch.no_grad()
def first_sensitive_step(step: EncodedStep, x: Tensor, N: int) -> list[float]:
    """Return the step at which the last node of a chain feels that the k-th above it points at itself instead.

    From the step on at which one of its answer's probabilities, or lambda_n, differs by FELT; the median over chains x
    [chains, nodes], for each k but the root's; N + 1 where nothing is felt.
    """
    n_chains, n_nodes = x.shape
    last = ForestTask.depths(x).argmax(1)
    above = ancestors(x, n_nodes - 1)[:, torch.arange(n_chains), last]  # [nodes, chains]
    model = PonderNet(step, N).eval()

    def at_the_end(x: Tensor) -> Tensor:
        output, each, node = model(x), torch.arange(len(x)), last.repeat(len(x) // n_chains)
        y_hat, halt_logits = output.y_hat[:, each, node], output.halt_logits[:, each, node]
        return torch.cat([y_hat.softmax(-1), halt_logits.sigmoid()[..., None]], dim=-1)

    cuts = torch.cat([x.scatter(1, above[k][:, None], above[k][:, None]) for k in range(n_nodes - 1)])
    after = at_the_end(cuts).unflatten(1, (n_nodes - 1, n_chains))  # [N, k, chains, probabilities]
    differs = ((after - at_the_end(x)[:, None]).abs() >= FELT).any(3)
    first = torch.where(differs.any(0), differs.int().argmax(0) + 1, N + 1)
    return [median(of_k) for of_k in first.tolist()]


def by_depth(right: Tensor, steps: Tensor, needed: Tensor, depth: Tensor) -> dict[int, Row]:
    """Return, by depth, how many nodes there are; the fraction right when halted, and at each step, [N]; mean steps;
    and the fraction that halts before it can know. right: [N, forests, nodes], the others [forests, nodes].
    """
    groups = by_group(depth, "nodes", right=at_step(right, steps), steps=steps, early=steps < needed)
    for d, row in groups.items():
        row["by_step"] = right[:, depth == d].double().mean(1).tolist()
    return groups


@torch.no_grad()
def measure(model: PonderNet, x: Tensor, N: int, q: float = 0.5) -> Row:
    """Return how right nodes of forests x are, and in how many steps, if each halts at lambda_n >= q.

    "nodes" and "forests": the fraction of them that is right when halted, "forests_by_step" if all stop at step n, [N].
    Of all nodes what `halting_report` says; and "by_depth". "certainty": {q: [right, steps, and the fraction right by
    depth]} if each halts when its answer has this probability.
    """
    memory = model.step.step.memory
    y, depth, needed = ForestTask.answers(x), ForestTask.depths(x), ForestTask.needed_steps(x, memory)
    output = model.eval()(x, max_steps=N)
    right = output.y_hat.argmax(-1) == y
    steps = halting_steps(output, "threshold", q=q)
    halted, certainty = at_step(right, steps), {}
    for value in CERTAIN:
        stop = halting_steps(output, "confidence", q=value, classes=True)
        good = at_step(right, stop)
        certainty[value] = [mean(good), mean(stop), [row["right"] for row in by_group(depth, right=good).values()]]
    return {
        "nodes": mean(halted),
        "forests": mean(halted.all(1)),
        "forests_by_step": right.all(2).double().mean(1).tolist(),
        **halting_report(steps, needed),
        "by_depth": by_depth(right, steps, needed, depth),
        "certainty": certainty,
    }


def has_learnt(row: Row, deepest: int = MAX_DEPTH) -> bool:
    """Return whether a network that was measured is right on 99 % of the nodes of each depth that it was trained on."""
    return all(part["right"] >= 0.99 for depth, part in row["by_depth"].items() if int(depth) <= deepest)


def test_inputs(n_nodes: int) -> Tensor:
    """Return 300 forests and 100 chains, so that there are nodes of every depth: parents [400, n_nodes]."""
    generator = torch.Generator().manual_seed(100)
    forests, _ = ForestTask(n_nodes).batch(300, generator)
    return torch.cat([forests, chains(100, n_nodes, generator)])
