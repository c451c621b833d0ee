"""The definitions, written the slow way: one sample, one step, one Python float at a time, straight from the paper."""

import math


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
    g = [lambda_p * (1 - lambda_p) ** n for n in range(max_steps)]
    if repair == "renormalise":
        return [x / sum(g) for x in g]
    g[-1] = 1 - sum(g[:-1])
    return g


def kl(p, q):
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def quantile_step(p, q):
    """First step whose CDF reaches q."""
    return next(n for n in range(1, len(p) + 1) if n == len(p) or math.fsum(p[:n]) >= q)


def most_probable_step(p):
    return p.index(max(p)) + 1
