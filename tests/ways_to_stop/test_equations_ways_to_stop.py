"""An assertion of lesson 06 notices if a sign in the code of an equation is wrong."""

from equations import check_wrong_signs

FAULTS = {
    1: [
        ("(1 - price * need) - (accuracy", "(1 + price * need) - (accuracy"),
        ("(accuracy - price * steps)", "(accuracy + price * steps)"),
        ("need) - (accuracy", "need) + (accuracy"),
    ],
}


def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(monkeypatch):
    check_wrong_signs("06_ways_to_stop", FAULTS, monkeypatch)
