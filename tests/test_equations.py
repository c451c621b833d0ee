"""Every equation of the notebooks stands beside code, and an assertion notices if a sign in that code is wrong."""

import ast
import contextlib
import io
import re
from pathlib import Path

import IPython.display
import nbformat
import pytest
import torch

from ponder_utils import plots, widgets

ROOT = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = {path.stem: nbformat.read(path, as_version=4).cells for path in sorted(ROOT.glob("*.ipynb"))}

# (notebook, equation) -> faults (old, new) in the code between the equation and its first assertion
FAULTS: dict[tuple[str, int], list[tuple[str, str]]] = {
    ("01_act_background", 1): [("x == 1", "x == -1"), ("remainder(2)", "remainder(3)")],
    ("01_act_background", 2): [("@ W_h + b_h", "@ W_h - b_h"), ("(s @ W_h", "(-s @ W_h")],
    ("01_act_background", 3): [
        ("total >= 1 - Fraction(1, 10)", "total >= 1 + Fraction(1, 10)"),
        ("total + h_n >= 1 - epsilon", "total + h_n >= 1 + epsilon"),
        ("total + h_n >=", "total - h_n >="),
    ],
    ("01_act_background", 4): [
        ("remainder = 1 - total", "remainder = 1 + total"),
        ("[*weights, 1 - total]", "[*weights, 1 + total]"),
    ],
    ("01_act_background", 5): [
        ("(p_n * s_n for", "(-p_n * s_n for"),
        ("(p_n * model.output(s_n) for", "(-p_n * model.output(s_n) for"),
        ("if n == 0 else", "if n > 0 else"),
    ],
    ("01_act_background", 6): [("sum(N) + sum(R)", "sum(N) - sum(R)")],
    ("01_act_background", 7): [("+ 0.01 * P", "- 0.01 * P")],
    ("01_act_background", 8): [("len(p) + p[-1], h", "len(p) - p[-1], h")],
    ("01_act_background", 9): [("(-1 + h)", "(1 + h)"), ("(-1 + h)", "(-1 - h)")],
    ("02_pondernet_theory", 1): [
        ("survival *= 1 - lambda_n", "survival *= 1 + lambda_n"),
        ("return [*p, survival]", "return [*p, 1 - survival]"),
    ],
    ("02_pondernet_theory", 2): [
        ("logsigmoid(-a[:-1]).cumsum(0)])", "logsigmoid(a[:-1]).cumsum(0)])"),
        ("log_lambda = torch.cat([logsigmoid(a[:-1]), zero])", "log_lambda = torch.cat([logsigmoid(-a[:-1]), zero])"),
        ("return log_lambda + log_survival", "return log_lambda - log_survival"),
    ],
    ("02_pondernet_theory", 3): [
        ("math.prod(1 - lam for lam in lambdas[: n - 1])", "math.prod(1 + lam for lam in lambdas[: n - 1])"),
        ("lambdas[: n - 1]) for n in range(1, len", "lambdas[: n]) for n in range(1, len"),
    ],
    ("02_pondernet_theory", 4): [
        ("return -math.prod(", "return +math.prod("),
        ("lambdas[j : n - 1]", "lambdas[j : n + 1]"),
        ("lambdas[: j - 1]) * still", "lambdas[: j]) * still"),
    ],
    ("02_pondernet_theory", 5): [
        ("by_hand = [-p[j - 1] * (1 - ", "by_hand = [p[j - 1] * (1 - "),
        ("by_hand = [-p[j - 1] * (1 - ", "by_hand = [-p[j - 1] * (1 + "),
    ],
    ("02_pondernet_theory", 6): [
        ("return -(log_g - losses).logsumexp(0)", "return (log_g - losses).logsumexp(0)"),
        ("return -(log_g - losses).logsumexp(0)", "return -(log_g + losses).logsumexp(0)"),
        ("losses).sum(0) + beta * kl(log_p, log_g)", "losses).sum(0) - beta * kl(log_p, log_g)"),
        ("(log_p.exp() * (log_p - log_q)).sum(0)", "(log_p.exp() * (log_p + log_q)).sum(0)"),
    ],
    ("02_pondernet_theory", 7): [
        ("log_posterior = (log_g - losses).log_softmax(0)", "log_posterior = (log_g + losses).log_softmax(0)"),
        ("(many.exp() * (many - log_posterior", "(many.exp() * (many + log_posterior"),
    ],
    ("02_pondernet_theory", 8): [
        ("logits = (log_g - losses / beta)", "logits = (log_g + losses / beta)"),
        ("torch.testing.assert_close(least, -beta *", "torch.testing.assert_close(least, beta *"),
    ],
    ("02_pondernet_theory", 9): [
        ("return -(log_p - losses).logsumexp(0)", "return (log_p - losses).logsumexp(0)"),
        ("return -(log_p - losses).logsumexp(0)", "return -(log_p + losses).logsumexp(0)"),
    ],
    ("02_pondernet_theory", 10): [
        ("(f[:-1] - torch.stack(later))", "(f[:-1] + torch.stack(later))"),
        ("losses + 0.1 * (log_p - log_g)", "losses - 0.1 * (log_p - log_g)"),
        ("p_n[:-1] * (1 - lambda_n[:-1])", "p_n[:-1] * (1 + lambda_n[:-1])"),
    ],
    ("02_pondernet_theory", 11): [
        ("p_G = lambda_p * (1 - lambda_p) **", "p_G = lambda_p * (1 + lambda_p) **"),
        ("return p_G / (1 - lost)", "return p_G / (1 + lost)"),
        ("p_G[-1] += lost", "p_G[-1] -= lost"),
    ],
    ("02_pondernet_theory", 12): [
        ("return 1 / lambda_p - N * lost / (1 - lost)", "return 1 / lambda_p + N * lost / (1 - lost)"),
        ("return 1 / lambda_p - N * lost / (1 - lost)", "return 1 / lambda_p - N * lost / (1 + lost)"),
        ("return (1 - lost) / lambda_p", "return (1 + lost) / lambda_p"),
    ],
    ("02_pondernet_theory", 13): [
        ("if 1 - (1 - lambda_p) ** n > 0.95", "if 1 - (1 - lambda_p) ** (n + 1) > 0.95"),
        ("if 1 - (1 - lambda_p) ** n > 0.95", "if 1 - (1 - lambda_p) ** (n - 1) > 0.95"),
    ],
    ("02_pondernet_theory", 14): [
        ("kl(anything, repaired) - math.log(Z)", "kl(anything, repaired) + math.log(Z)"),
        ("Z * kl(repaired, anything) + Z * math.log(Z)", "Z * kl(repaired, anything) - Z * math.log(Z)"),
    ],
    ("02_pondernet_theory", 15): [
        ("brevity - entropy(anything)", "brevity + entropy(anything)"),
        ("math.log(1 / (1 - 0.1))", "math.log(1 - 0.1)"),
        ("+ math.log(Z / 0.1)", "- math.log(Z / 0.1)"),
    ],
    ("02_pondernet_theory", 16): [
        ("0.2 * math.log(0.2 / 0.35) + 0.1", "0.2 * math.log(0.2 / 0.35) - 0.1"),
        ("0.35 * math.log(0.35 / 0.2) + 0.25", "0.35 * math.log(0.35 / 0.2) - 0.25"),
    ],
    ("02_pondernet_theory", 17): [
        ("(log_g[:, None] - cases / beta).softmax(0)", "(log_g[:, None] + cases / beta).softmax(0)"),
        ("return beta * log_g.exp()[:, None] / (losses + mu)", "return beta * log_g.exp()[:, None] / (losses - mu)"),
    ],
    ("02_pondernet_theory", 18): [("** (-1 / (N - 1)) - 1)", "** (-1 / (N - 1)) + 1)")],
    ("02_pondernet_theory", 19): [
        ("return (p * losses).sum(0).mean()", "return -(p * losses).sum(0).mean()"),
        ("losses = losses.mean(1, keepdim=True)", "losses = -losses.mean(1, keepdim=True)"),
    ],
    ("02_pondernet_theory", 20): [
        ("per_sample).sum(0) + beta * kl", "per_sample).sum(0) - beta * kl"),
        ("kl(log_p, log_prior[:, None])", "kl(log_prior[:, None], log_p)"),
    ],
    ("02_pondernet_theory", 21): [
        ("(p * says_odd**2).sum() - mean**2", "(p * says_odd**2).sum() + mean**2"),
        ("(p * n**2).sum() - mean_n**2", "(p * n**2).sum() + mean_n**2"),
        ("mean, mean_n = (p * says_odd).sum()", "mean, mean_n = -(p * says_odd).sum()"),
    ],
    ("02_pondernet_theory", 22): [("math.log(4) - entropy", "math.log(4) + entropy")],
    ("03_parity", 1): [("x == 1", "x == -1"), ("remainder(2)", "remainder(3)")],
    ("03_parity", 2): [("*= 1 - lambda_n", "*= 1 + lambda_n"), ("still_thinking * lambda_n", "lambda_n")],
    ("03_parity", 3): [
        ("logsigmoid(-a)", "logsigmoid(a)"),
        ("= nn.functional.logsigmoid(a)", "= nn.functional.logsigmoid(-a)"),
        ("log_lambda + log_survival", "log_lambda - log_survival"),
        ("torch.zeros_like(a[:1])])  # the last", "log_lambda[-1:]])  # the last"),
    ],
    ("03_parity", 4): [
        ("survival = (1 - lambda_p)", "survival = (1 + lambda_p)"),
        ("(1 - (1 - lambda_p) ** N)", "(1 + (1 - lambda_p) ** N)"),
        ("lambda_p * survival", "survival"),
    ],
    ("03_parity", 5): [
        ("log_p - log_prior[:, None]", "log_p + log_prior[:, None]"),
        ("reconstruction + beta * divergence", "reconstruction - beta * divergence"),
        ("(p * cross_entropy", "(log_p * cross_entropy"),
    ],
    ("04_mnist_rotation", 1): [("c * u - s * v", "c * u + s * v"), ("s * u + c * v", "s * u - c * v")],
    ("04_mnist_rotation", 2): [
        ("torch.arange(1, len(p) + 1, device", "torch.arange(-1, len(p) - 1, device"),
        ("(1 - fast.halt_logits[:-1].sigmoid())", "(1 + fast.halt_logits[:-1].sigmoid())"),
    ],
    ("04_mnist_rotation", 3): [
        ("return (p * losses).sum(0).mean()", "return -(p * losses).sum(0).mean()"),
        ("return (p * losses[:, None])", "return -(p * losses[:, None])"),
        ("(p * losses[:, None]).sum(0).mean()", "(p * losses[:, None]).mean()"),
    ],
    ("04_mnist_rotation", 4): [
        ("h = h + torch.relu(", "h = h - torch.relu("),
        ("padding=1) + from_x)", "padding=1) - from_x)"),
        ("return h[:, :, row, column] + (heard", "return h[:, :, row, column] - (heard"),
    ],
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


def source(cell):
    """As it is run here: with the smallest budget, on data that is always there, and nothing installed."""
    if cell.cell_type != "code" or "google.colab" in cell.source:
        return "pass"
    code = cell.source
    for name, value in {"BUDGET": "smoke", "DATASET": "digits"}.items():
        code = re.sub(rf'^{name}: str = ".*?"', f'{name}: str = "{value}"', code, flags=re.M)
    return code


def run(cells, names):
    for cell in cells:
        names["In"] = [*names["In"], source(cell)]
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(names["In"][-1], "<cell>", "exec"), names)


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
    monkeypatch.chdir(ROOT)
    for module in (IPython.display, plots, widgets):
        monkeypatch.setattr(module, "display", lambda *_, **__: None)

    plans, all_asserted = [], assertions(cells)  # (cell of the fault, cell of the assertion, label, old, new)
    for label, i in equations(cells):
        asserted = [j for j in all_asserted[label] if j > i]
        for old, new in FAULTS[stem, label]:
            everywhere = [j for j in range(max(asserted) + 1) for _ in range(source(cells[j]).count(old))]
            places = [j for j in everywhere if j > i] or everywhere  # a function may stand before its equation
            assert len(places) == 1, f"({label}): {old!r} should occur once in its code, but does in cells {places}"
            plans.append((places[0], min(j for j in asserted if j >= places[0]), label, old, new))

    names, done, unnoticed = {"__name__": "__main__", "In": [""]}, 0, []
    for first, last, label, old, new in sorted(plans):
        run(cells[done:first], names)
        done = first
        faulty = nbformat.v4.new_code_cell(source(cells[first]).replace(old, new))
        with torch.random.fork_rng(), contextlib.suppress(AssertionError):
            run([faulty, *cells[first + 1 : last + 1]], dict(names))
            unnoticed.append(f"({label}): {new!r} in place of {old!r}")
    assert not unnoticed
    run(cells[done : 1 + max((last for _, last, *_ in plans), default=0)], names)
