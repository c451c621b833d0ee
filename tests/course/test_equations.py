"""Every equation of a lesson stands beside code; an assertion of its notebook notices a wrong operator in that code."""

import pytest
from equations import Notebook, labels_in, mutants, run
from running import NOTEBOOKS, namespace, source

# what stands in the code, and a mutant that no assertion can notice
EQUIVALENT = {
    "01_act_background": {("x == 1", "x != 1")},  # the number of elements is even
    "02_pondernet_theory": {
        ("mean_loss + 1e-12", "mean_loss - 1e-12"),  # a tolerance
        ("bound + 1e-12", "bound - 1e-12"),  # another one
        ("beta - losses.min()", "beta + losses.min()"),  # a wider interval, with the same root
    },
    "03_parity": {("x == 1", "x != 1")},  # the number of elements is even
    "04_mnist_rotation": {  # where all losses are equal, the gradient of each part is 0 at the prior
        (
            "(log_p.exp() * losses).sum(0) + 0.01 * pu.kl_divergence(log_p, log_prior.to(log_p))",
            "(log_p.exp() * losses).sum(0) - 0.01 * pu.kl_divergence(log_p, log_prior.to(log_p))",
        ),
        ("log_p.exp() * losses", "log_p.exp() / losses"),
    },
    "05_light_cone": {("N + 1", "N - 1")},  # the last of 200 steps are below the tolerance
    "07_map_of_thought": {("y_hat * (2 * targets - 1)", "y_hat / (2 * targets - 1)")},  # +1 or -1
    "10_sudoku": {  # noise, in training alone
        ("self.noise * torch.randn_like(h)", "self.noise / torch.randn_like(h)"),
        ("h + self.noise * torch.randn_like(h)", "h - self.noise * torch.randn_like(h)"),
    },
}


@pytest.mark.parametrize("stem", NOTEBOOKS)
def test_equations_are_numbered_in_order_and_each_is_asserted_in_later_code(stem):
    notebook = Notebook(stem)
    labels = [*notebook.equations]
    assert labels == list(range(1, len(labels) + 1))
    asserted = {label: s.cell for s in notebook.statements if s.asserts for label in s.labels}
    for label, cell in notebook.equations.items():
        assert asserted[label] > cell
    assert {label for cell in NOTEBOOKS[stem] for label in labels_in(source(cell))} == set(labels)


def surviving(stem, every, monkeypatch):
    """The mutants that no assertion of the notebook notices, of one in `every`."""
    notebook, imported = Notebook(stem), namespace(monkeypatch)
    run([statement.node for statement in notebook.statements if statement.is_import], imported)

    def check(place, mutant=None):
        """Run what the assertion needs, and the assertion, with a mutant in place of the statement at its place."""
        nodes = {i: notebook.statements[i].node for i in needed[place]} | (mutant or {})
        run([node for i, node in nodes.items() if not notebook.statements[i].is_import], dict(imported))

    code = notebook.of_equations()
    needed = {place: notebook.needed_by(place) for places in code.values() for place in places}
    for place in needed:
        check(place)
    found = set()
    cases = [(i, *mutant) for i in code for mutant in mutants(notebook.statements[i].node)]
    for i, old, new, node in cases[::every]:
        for place in code[i]:
            try:
                check(place, {i: node})
            except Exception:
                break
        else:
            found.add((old, new))
    return found


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("stem", NOTEBOOKS)
def test_an_assertion_notices_a_wrong_operator(stem, every, monkeypatch):
    """Of one mutant in `every`; the slow test takes all, so that a listed one is noticed by no assertion."""
    listed = EQUIVALENT.get(stem, set())
    found = surviving(stem, every, monkeypatch)
    assert found == listed if every == 1 else found <= listed
