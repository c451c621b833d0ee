"""An assertion of lesson 09 notices if a sign in the code of an equation is wrong."""

from equations import check_wrong_signs

FAULTS = {
    1: [
        ("[around[:, :-2], h, around[:, 2:]], 2)) + z)", "[around[:, :-2], h, around[:, 2:]], 2)) - z)"),
        ("[around[:, :-2], h, around[:, 2:]], 2)", "[around[:, 2:], h, around[:, :-2]], 2)"),
        ("h = torch.tanh(self.from_h(", "h = torch.sin(self.from_h("),
    ],
}


def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(monkeypatch):
    check_wrong_signs("09_adding_a_column", FAULTS, monkeypatch)
