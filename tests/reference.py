"""The definitions, written the slow way: one sample, one step, one Python float at a time, straight from the paper."""

import math
from fractions import Fraction


def lambdas(logits):
    """lambda_n and 1 - lambda_n, each to full relative precision."""
    halt, go_on = [], []
    for a in logits:
        e = math.exp(-abs(a))
        large, small = 1 / (1 + e), e / (1 + e)
        halt.append(large if a >= 0 else small)
        go_on.append(small if a >= 0 else large)
    return halt, go_on


def halting(logits):
    """p_n = lambda_n prod_{j<n} (1 - lambda_j), the rest on the last step."""
    halt, go_on = lambdas(logits)
    p, survival = [], 1.0
    for n in range(len(logits)):
        p.append(survival if n == len(logits) - 1 else survival * halt[n])
        survival *= go_on[n]
    return p


def geometric(lambda_p, max_steps, repair):
    """In exact arithmetic: near lambda_p = 1 the remainder is a difference of numbers that are almost equal."""
    exact = Fraction(lambda_p)
    g = [exact * (1 - exact) ** n for n in range(max_steps)]
    if repair == "renormalise":
        return [float(x / sum(g)) for x in g]
    g[-1] = 1 - sum(g[:-1])
    return [float(x) for x in g]


def kl(p, q):
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def quantile_step(p, q):
    """First step whose CDF reaches q."""
    return next(n for n in range(1, len(p) + 1) if n == len(p) or math.fsum(p[:n]) >= q)


def threshold_step(logits, q):
    """First step with lambda_n >= q, or the last one."""
    halt, _ = lambdas(logits)
    return next((n for n, lambda_n in enumerate(halt[:-1], start=1) if lambda_n >= q), len(logits))


def most_probable_step(p):
    return p.index(max(p)) + 1


def average(weights, values):
    """Of numbers, vectors, or states that are a tuple of vectors."""
    if isinstance(values[0], tuple):
        return tuple(average(weights, part) for part in zip(*values, strict=True))
    return sum(w * value for w, value in zip(weights, values, strict=True))


def act(cell, answer, halting_logit, xs, epsilon, max_updates, state=None):
    """Adaptive Computation Time (Graves 2016, Eqs. 4-9) for one sample: [(y_t, N(t), R(t), [h_1, ...])], last state."""
    told = []
    for x in xs:
        states, h = [], []
        while not h or (sum(h) < 1 - epsilon and len(h) < max_updates):
            state = cell([*x, 0.0 if h else 1.0], state)
            states.append(state)
            h.append(1 / (1 + math.exp(-halting_logit(state))))
        remainder = 1 - sum(h[:-1])
        p = [*h[:-1], remainder]
        told.append((average(p, [answer(s) for s in states]), len(h), remainder, h))
        state = average(p, states)
    return told, state
