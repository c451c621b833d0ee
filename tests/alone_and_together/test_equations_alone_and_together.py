"""An assertion of lesson 08 notices if a sign in the code of an equation is wrong."""

from equations import check_wrong_signs

FAULTS = {
    1: [
        ('"initial": lambda n: n + 1', '"initial": lambda n: n + 2'),
        ('"current": lambda n: 2**n', '"current": lambda n: 2**n + 1'),
        ("if K(n) >= d + 1)", "if K(n) >= d)"),
    ],
    2: [
        ("new = self.norm_attention(h + heard)", "new = self.norm_attention(h - heard)"),
        ("new = self.norm_mlp(new + self.mlp(new))", "new = self.norm_mlp(new - self.mlp(new))"),
        ("others = h if self.memory", "others = tokens if self.memory"),
        ("(h @ q.T @ (read @ k.T).mT / 16**0.5)", "(h @ q.T @ (read @ k.T).mT / 16)"),
        ("ours.norm_attention(h + weights", "ours.norm_attention(h - weights"),
        ("ours.norm_mlp(A + ours.mlp(A))", "ours.norm_mlp(h + ours.mlp(A))"),
    ],
}


def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(monkeypatch):
    check_wrong_signs("08_alone_and_together", FAULTS, monkeypatch)
