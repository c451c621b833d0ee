"""An assertion of lesson 04 notices if a sign in the code of an equation is wrong."""

from equations import check_wrong_signs

FAULTS = {
    1: [
        ("losses = torch.full((20, 1), 0.3)", "losses = torch.linspace(0.3, 0.2, 20)[:, None]"),
        ("log_prior.exp() / left", "log_prior.exp() * left"),
    ],
    2: [
        ("h = h + torch.relu(", "h = h - torch.relu("),
        ("padding=1) + from_x)", "padding=1) - from_x)"),
    ],
    3: [("c * u - s * v", "c * u + s * v"), ("s * u + c * v", "s * u - c * v")],
}


def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(monkeypatch):
    check_wrong_signs("04_mnist_rotation", FAULTS, monkeypatch)
