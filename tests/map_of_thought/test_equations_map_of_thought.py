"""An assertion of lesson 07 notices if a sign in the code of an equation is wrong."""

from equations import check_wrong_signs

FAULTS = {
    1: [
        ("h = torch.tanh(self.from_h(h) + z)", "h = torch.tanh(self.from_h(h) - z)"),
        ("return h * is_open, is_open  # no", "return -h * is_open, is_open  # no"),
        ("return h * is_open, is_open  # no", "return h, is_open  # no"),
    ],
    2: [
        ("return ponder_loss(output.at(asked), y[asked])", "return ponder_loss(output.at(asked), 1 - y[asked])"),
        ("prior=0.8, beta=0.03)", "prior=0.8, beta=0.3)"),
        ("asked = y >= 0\n    return", "asked = y >= 1\n    return"),
    ],
}


def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(monkeypatch):
    check_wrong_signs("07_map_of_thought", FAULTS, monkeypatch)
