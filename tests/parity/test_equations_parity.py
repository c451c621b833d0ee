"""An assertion of lesson 03 notices if a sign in the code of an equation is wrong."""

from equations import check_wrong_signs

FAULTS = {
    1: [("x == 1", "x == -1"), ("remainder(2)", "remainder(3)")],
    2: [
        ("(log_p - log_prior)", "(log_p + log_prior)"),
        ("(log_prior - log_p)", "(log_prior + log_p)"),
        ("reconstruction + beta * divergence", "reconstruction - beta * divergence"),
        ("(log_p.exp() * losses)", "(log_p * losses)"),
    ],
}


def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(monkeypatch):
    check_wrong_signs("03_parity", FAULTS, monkeypatch)
