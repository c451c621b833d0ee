"""An assertion of lesson 01 notices if a sign in the code of an equation is wrong."""

from equations import check_wrong_signs

FAULTS = {
    1: [("x == 1", "x == -1"), ("remainder(2)", "remainder(3)")],
    2: [("@ W_h + b_h", "@ W_h - b_h"), ("(s @ W_h", "(-s @ W_h")],
    3: [("total >= 1 - Fraction(1, 10)", "total >= 1 + Fraction(1, 10)")],
    4: [("remainder = 1 - total", "remainder = 1 + total")],
    5: [
        ("average + p_n[:, None] * s", "average - p_n[:, None] * s"),
        ("R + last * left", "R - last * left"),
        ("left = left - lambda_n", "left = left + lambda_n"),
        ("going = going - last", "going = going + last"),
        ("float(n == 1))", "float(n != 1))"),
    ],
    6: [
        ("answer + tau * (N + R)", "answer - tau * (N + R)"),
        ("(N + R).mean()", "(N - R).mean()"),
    ],
    7: [("len(p_slid) + p_slid[-1], slid", "len(p_slid) - p_slid[-1], slid")],
    8: [("(-1 + lambda_m)", "(1 + lambda_m)"), ("(-1 + lambda_m)", "(-1 - lambda_m)")],
}


def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(monkeypatch):
    check_wrong_signs("01_act_background", FAULTS, monkeypatch)
