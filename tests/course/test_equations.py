"""Every equation of the notebooks stands beside code, and an assertion notices if a sign in that code is wrong."""

import ast
import contextlib
import re

import nbformat
import pytest
import torch
from running import NOTEBOOKS, namespace, run, source

# (notebook, equation) -> faults (old, new) in the code between the equation and its first assertion
FAULTS: dict[tuple[str, int], list[tuple[str, str]]] = {
    ("01_act_background", 1): [("x == 1", "x == -1"), ("remainder(2)", "remainder(3)")],
    ("01_act_background", 2): [("@ W_h + b_h", "@ W_h - b_h"), ("(s @ W_h", "(-s @ W_h")],
    ("01_act_background", 3): [
        ("total >= 1 - Fraction(1, 10)", "total >= 1 + Fraction(1, 10)"),
        (
            "total + lambda_n >= 1 - epsilon:\n            break",
            "total + lambda_n >= 1 + epsilon:\n            break",
        ),
        ("total = total + lambda_n", "total = total - lambda_n"),
    ],
    ("01_act_background", 4): [
        ("remainder = 1 - total", "remainder = 1 + total"),
        ("return [*weights, 1 - total]\n\n\ndrawn", "return [*weights, 1 + total]\n\n\ndrawn"),
    ],
    ("01_act_background", 5): [
        ("average + p_n[:, None] * s", "average - p_n[:, None] * s"),
        ("R + last * left", "R - last * left"),
        ("left = left - lambda_n", "left = left + lambda_n"),
        ("going = going - last", "going = going + last"),
        ("float(n == 1))", "float(n != 1))"),
    ],
    ("01_act_background", 6): [
        ("answer + tau * (N + R)", "answer - tau * (N + R)"),
        ("(N + R).mean()", "(N - R).mean()"),
    ],
    ("01_act_background", 7): [("len(p_slid) + p_slid[-1], slid", "len(p_slid) - p_slid[-1], slid")],
    ("01_act_background", 8): [("(-1 + lambda_m)", "(1 + lambda_m)"), ("(-1 + lambda_m)", "(-1 - lambda_m)")],
    ("02_pondernet_theory", 1): [
        ("survival *= 1 - lambda_n", "survival *= 1 + lambda_n"),
        ("return [*p, survival]", "return [*p, 1 - survival]"),
    ],
    ("02_pondernet_theory", 2): [
        ("expected + beta_3 * divergence", "expected - beta_3 * divergence"),
        ("losses).sum(0) + beta * kl(log_p, log_g)", "losses).sum(0) - beta * kl(log_p, log_g)"),
        ("beta * kl(log_p, log_g)", "beta * kl(log_g, log_p)"),
        ("(log_p.exp() * (log_p - log_q)).sum(0)", "(log_p.exp() * (log_p + log_q)).sum(0)"),
    ],
    ("02_pondernet_theory", 3): [
        ("logsigmoid(-a[:-1]).cumsum(0)])", "logsigmoid(a[:-1]).cumsum(0)])"),
        ("log_lambda = torch.cat([logsigmoid(a[:-1]), zero])", "log_lambda = torch.cat([logsigmoid(-a[:-1]), zero])"),
        ("return log_lambda + log_survival", "return log_lambda - log_survival"),
    ],
    ("02_pondernet_theory", 4): [
        ("* (f[j] - later)", "* (f[j] + later)"),
        ("(1 - a_3[j].sigmoid())", "(1 + a_3[j].sigmoid())"),
        ("0.1 * (p_3.log() - prior_3)", "0.1 * (p_3.log() + prior_3)"),
    ],
    ("02_pondernet_theory", 5): [("(log_g - losses / beta).softmax(0)", "(log_g + losses / beta).softmax(0)")],
    ("02_pondernet_theory", 6): [
        ("return (p * losses).sum(0).mean()", "return -(p * losses).sum(0).mean()"),
        ("losses = losses.mean(1, keepdim=True)", "losses = -losses.mean(1, keepdim=True)"),
    ],
    ("02_pondernet_theory", 7): [
        ("(f_n * log_p.gather(0, n)).sum()", "(-f_n * log_p.gather(0, n)).sum()"),
        ("beta_12 * (log_p - prior_12)).detach()", "beta_12 * (log_p + prior_12)).detach()"),
        ("torch.multinomial(log_p.detach().exp().T, 1)", "torch.multinomial(log_p.detach().exp().T * 0 + 1, 1)"),
        ("f_n - (log_p.detach().exp() * f).sum(0)", "f_n * (log_p.detach().exp() * f).sum(0)"),
    ],
    ("02_pondernet_theory", 8): [
        ("return beta * log_g.exp() / (losses + mu)", "return beta * log_g.exp() / (losses - mu)"),
        ("high = -losses.min(), beta - losses", "high = losses.min(), beta + losses"),
    ],
    ("02_pondernet_theory", 9): [
        ("prior_8[3:].exp().sum() - (1 - 1e-6)", "prior_8[3:].exp().sum() + (1 - 1e-6)"),
    ],
    ("02_pondernet_theory", 10): [
        ("cut_off / (1 - remains)", "cut_off / (1 + remains)"),
        ("cut_off + to_the_last", "cut_off - to_the_last"),
    ],
    ("02_pondernet_theory", 11): [
        ("each, log_g[:, None], beta)", "each, log_g[:, None], -beta)"),
        ("ponder_loss(log_halting(a), each", "ponder_loss(log_halting(-a), each"),
    ],
    ("02_pondernet_theory", 12): [
        ("return -(log_w - losses).logsumexp(0)", "return (log_w - losses).logsumexp(0)"),
        ("return -(log_w - losses).logsumexp(0)", "return -(log_w + losses).logsumexp(0)"),
        ("path = (log_g - t * column)", "path = (log_g + t * column)"),
    ],
    ("02_pondernet_theory", 13): [("(path.exp() * column).sum(0)", "-(path.exp() * column).sum(0)")],
    ("03_parity", 1): [("x == 1", "x == -1"), ("remainder(2)", "remainder(3)")],
    ("03_parity", 2): [
        ("(log_p - log_prior)", "(log_p + log_prior)"),
        ("(log_prior - log_p)", "(log_prior + log_p)"),
        ("reconstruction + beta * divergence", "reconstruction - beta * divergence"),
        ("(log_p.exp() * losses)", "(log_p * losses)"),
    ],
    ("04_mnist_rotation", 1): [
        ("losses = torch.full((20, 1), 0.3)", "losses = torch.linspace(0.3, 0.2, 20)[:, None]"),
        ("log_prior.exp().flip(0).cumsum(0).flip(0)", "log_prior.exp().cumsum(0)"),
    ],
    ("04_mnist_rotation", 2): [
        ("h = h + torch.relu(", "h = h - torch.relu("),
        ("padding=1) + from_x)", "padding=1) - from_x)"),
    ],
    ("04_mnist_rotation", 3): [("c * u - s * v", "c * u + s * v"), ("s * u + c * v", "s * u - c * v")],
    ("05_light_cone", 1): [
        ("torch.tanh(sum(heard) + b", "torch.tanh(sum(heard) - b"),
        (
            "left, right = pad(h, (1, 0))[..., :-1], pad(h, (0, 1))",
            "right, left = pad(h, (1, 0))[..., :-1], pad(h, (0, 1))",
        ),
        ("b[:, None] + z", "b[:, None] - z"),
    ],
    ("05_light_cone", 2): [
        ("p = (1 - lambda_p) ** n", "p = (1 + lambda_p) ** n"),
        ("n = torch.arange(L, N + 1, dtype", "n = torch.arange(L + 1, N + 1, dtype"),
    ],
    ("05_light_cone", 3): [
        ("torch.full((9, 1), 0.1).logit())[-1]", "torch.full((9, 1), 0.1).logit())[-2]"),
        ("(1 - 0.1) ** 8", "(1 + 0.1) ** 8"),
    ],
    ("06_ways_to_stop", 1): [
        ("(1 - price * need) - (accuracy", "(1 + price * need) - (accuracy"),
        ("(accuracy - price * steps)", "(accuracy + price * steps)"),
        ("need) - (accuracy", "need) + (accuracy"),
    ],
    ("07_map_of_thought", 1): [
        ("h = torch.tanh(self.from_h(h) + from_x)", "h = torch.tanh(self.from_h(h) - from_x)"),
        ("h = h * is_open  # no", "h = -h * is_open  # no"),
        ("h = h * is_open  # no", "pass  # no"),
    ],
    ("07_map_of_thought", 2): [
        ("return ponder_loss(output.at(asked), y[asked])", "return ponder_loss(output.at(asked), 1 - y[asked])"),
        ("prior=0.8, beta=0.03)", "prior=0.8, beta=0.3)"),
        ("asked = y >= 0\n    return", "asked = y >= 1\n    return"),
    ],
    ("08_alone_and_together", 1): [
        ('"start": lambda n: n + 1', '"start": lambda n: n + 2'),
        ('"now": lambda n: 2**n', '"now": lambda n: 2**n + 1'),
        ("if K(n) >= d + 1)", "if K(n) >= d)"),
    ],
    ("08_alone_and_together", 2): [
        ("new = self.norm_attention(h + heard)", "new = self.norm_attention(h - heard)"),
        ("new = self.norm_mlp(new + self.mlp(new))", "new = self.norm_mlp(new - self.mlp(new))"),
        ("others = h if self.reads", "others = tokens if self.reads"),
        ("(h @ q.T @ (read @ k.T).mT / 16**0.5)", "(h @ q.T @ (read @ k.T).mT / 16)"),
        ("ours.norm_attention(h + weights", "ours.norm_attention(h - weights"),
        ("ours.norm_mlp(A + ours.mlp(A))", "ours.norm_mlp(h + ours.mlp(A))"),
    ],
    ("09_adding_a_column", 1): [
        ("[around[:, :-2], h, around[:, 2:]], 2)) + z)", "[around[:, :-2], h, around[:, 2:]], 2)) - z)"),
        ("[around[:, :-2], h, around[:, 2:]], 2)", "[around[:, 2:], h, around[:, :-2]], 2)"),
        ("h = torch.tanh(self.from_h(", "h = torch.sin(self.from_h("),
    ],
}


def equations(cells):
    """[(label, index of its cell)] in the order of the prose."""
    prose = [(i, cell.source) for i, cell in enumerate(cells) if cell.cell_type == "markdown"]
    return [(int(label), i) for i, source in prose for label in re.findall(r"\\tag\{(\d+)\}", source)]


def labels_in(code):
    """Of the lines that end with `# (k)` or `# (k), (j)`."""
    ends = re.findall(r"# ((?:\(\d+\)(?:, )?)+)$", code, re.M)
    return [int(label) for label in re.findall(r"\d+", " ".join(ends))]


def assertions(cells):
    """{label: indices of the code cells that have an assertion with its comment}."""
    found = {}
    for i, cell in enumerate(cells):
        code = source(cell)
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, (ast.Assert, ast.Expr)) and re.match(r"assert |.*assert_close\(", ast.unparse(node)):
                lines = code.splitlines()[node.lineno - 1 : node.end_lineno]
                for label in labels_in("\n".join(lines)):
                    found.setdefault(label, []).append(i)
    return found


notebooks = pytest.mark.parametrize(("stem", "cells"), NOTEBOOKS.items(), ids=NOTEBOOKS)


@notebooks
def test_equations_are_numbered_in_order_and_each_is_asserted_in_later_code(stem, cells):
    labels = [label for label, _ in equations(cells)]
    assert labels == list(range(1, len(labels) + 1))
    asserted = assertions(cells)
    for label, i in equations(cells):
        assert max(asserted.get(label, [-1])) > i, f"no assertion of ({label}) after it"
    assert {label for cell in cells for label in labels_in(source(cell))} <= set(labels)


@notebooks
def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(stem, cells, monkeypatch):
    assert {label for name, label in FAULTS if name == stem} == {label for label, _ in equations(cells)}
    names = namespace(monkeypatch)
    plans, all_asserted = [], assertions(cells)  # (cell of the fault, cell of the assertion, label, old, new)
    for label, i in equations(cells):
        asserted = [j for j in all_asserted[label] if j > i]
        for old, new in FAULTS[stem, label]:
            everywhere = [j for j in range(max(asserted) + 1) for _ in range(source(cells[j]).count(old))]
            places = [j for j in everywhere if j > i] or everywhere  # a function may stand before its equation
            assert len(places) == 1, f"({label}): {old!r} should occur once in its code, but does in cells {places}"
            plans.append((places[0], min(j for j in asserted if j >= places[0]), label, old, new))

    done, unnoticed = 0, []
    for first, last, label, old, new in sorted(plans):
        run(cells[done:first], names)
        done = first
        faulty = nbformat.v4.new_code_cell(source(cells[first]).replace(old, new))
        with torch.random.fork_rng(), contextlib.suppress(AssertionError):
            run([faulty, *cells[first + 1 : last + 1]], dict(names))
            unnoticed.append(f"({label}): {new!r} in place of {old!r}")
    assert not unnoticed
    run(cells[done : 1 + max((last for _, last, *_ in plans), default=0)], names)
