"""An assertion of lesson 05 notices if a sign in the code of an equation is wrong."""

from equations import check_wrong_signs

FAULTS = {
    1: [
        ("torch.tanh(sum(heard) + b", "torch.tanh(sum(heard) - b"),
        (
            "left, right = pad(h, (1, 0))[..., :-1], pad(h, (0, 1))",
            "right, left = pad(h, (1, 0))[..., :-1], pad(h, (0, 1))",
        ),
        ("b[:, None] + z", "b[:, None] - z"),
    ],
    2: [
        ("p = (1 - lambda_p) ** n", "p = (1 + lambda_p) ** n"),
        ("n = torch.arange(L, N + 1, dtype", "n = torch.arange(L + 1, N + 1, dtype"),
    ],
    3: [
        ("torch.full((9, 1), 0.1).logit())[-1]", "torch.full((9, 1), 0.1).logit())[-2]"),
        ("(1 - 0.1) ** 8", "(1 + 0.1) ** 8"),
    ],
}


def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(monkeypatch):
    check_wrong_signs("05_light_cone", FAULTS, monkeypatch)
