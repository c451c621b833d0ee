"""The definitions, written the slow way: one sample, one step, one Python float at a time, straight from the paper."""

import math
from collections import deque
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


def geometric(lambda_p, max_steps):
    """lambda_p (1 - lambda_p)^(n - 1), cut off and renormalised, in exact arithmetic."""
    exact = Fraction(lambda_p)
    g = [exact * (1 - exact) ** n for n in range(max_steps)]
    return [float(x / sum(g)) for x in g]


def kl(p, q):
    return sum(a * math.log(a / b) if b > 0 else math.inf for a, b in zip(p, q, strict=True) if a > 0)


def quantile_step(p, q):
    """First step whose CDF reaches q."""
    return next(n for n in range(1, len(p) + 1) if n == len(p) or math.fsum(p[:n]) >= q)


def threshold_step(logits, q):
    """First step with lambda_n >= q, or the last one."""
    halt, _ = lambdas(logits)
    return next((n for n, lambda_n in enumerate(halt[:-1], start=1) if lambda_n >= q), len(logits))


def most_probable_step(p):
    return p.index(max(p)) + 1


def sample_step(p, v):
    """First step after which at most v is left."""
    return next(n for n in range(1, len(p) + 1) if n == len(p) or math.fsum(p[n:]) <= v)


def first_step(answers, stops):
    """First step n at which stops(the answers of steps 1 to n) holds, or the last one.

    An answer is a list of places, and a place a list of the probabilities of its classes.
    """
    return next((n for n in range(1, len(answers)) if stops(answers[:n])), len(answers))


def confident(q):
    return lambda answers: all(max(place) >= q for place in answers[-1])


def of_low_entropy(tolerance):
    return lambda answers: all(-sum(p * math.log(p) for p in place if p > 0) <= tolerance for place in answers[-1])


def unchanged_for(t):
    def stops(answers):
        likeliest = [[place.index(max(place)) for place in places] for places in answers]
        return len(answers) > t and all(places == likeliest[-1] for places in likeliest[-t - 1 :])

    return stops


def settled_to(tolerance):
    def stops(answers):
        if len(answers) < 2:
            return False
        return all(kl(now, before) <= tolerance for now, before in zip(answers[-1], answers[-2], strict=True))

    return stops


def average(weights, values):
    """Of numbers, vectors, or states that are a tuple of vectors."""
    if isinstance(values[0], tuple):
        return tuple(average(weights, part) for part in zip(*values, strict=True))
    return sum(w * value for w, value in zip(weights, values, strict=True))


def act(cell, answer, halting_logit, xs, epsilon, max_steps, state=None):
    """Adaptive Computation Time (Graves 2016, Eqs. 4-9) for one sample: [(y_t, N(t), R(t), [h_1, ...])], last state."""
    outputs = []
    for x in xs:
        states, h = [], []
        while not h or (sum(h) < 1 - epsilon and len(h) < max_steps):
            state = cell([*x, 0.0 if h else 1.0], state)
            states.append(state)
            h.append(1 / (1 + math.exp(-halting_logit(state))))
        remainder = 1 - sum(h[:-1])
        p = [*h[:-1], remainder]
        outputs.append((average(p, [answer(s) for s in states]), len(h), remainder, h))
        state = average(p, states)
    return outputs, state


def search(is_open, sources):
    """Steps to each place of a maze that can be reached, breadth first."""
    height, width = is_open.shape
    found = {(r, c): 0 for r in range(height) for c in range(width) if is_open[r, c] and sources[r, c]}
    waiting = deque(found)
    while waiting:
        r, c = waiting.popleft()
        for near in [(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]:
            inside = 0 <= near[0] < height and 0 <= near[1] < width
            if inside and is_open[near] and near not in found:
                found[near] = found[r, c] + 1
                waiting.append(near)
    return found
