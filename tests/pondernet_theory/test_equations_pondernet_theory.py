"""An assertion of lesson 02 notices if a sign in the code of an equation is wrong."""

from equations import check_wrong_signs

FAULTS = {
    1: [
        ("survival *= 1 - lambda_n", "survival *= 1 + lambda_n"),
        ("return [*p, survival]", "return [*p, 1 - survival]"),
    ],
    2: [
        ("expected + beta_3 * divergence", "expected - beta_3 * divergence"),
        ("losses).sum(0) + beta * kl(log_p, log_g)", "losses).sum(0) - beta * kl(log_p, log_g)"),
        ("beta * kl(log_p, log_g)", "beta * kl(log_g, log_p)"),
        ("(log_p.exp() * (log_p - log_q)).sum(0)", "(log_p.exp() * (log_p + log_q)).sum(0)"),
    ],
    3: [
        ("logsigmoid(-a[:-1]).cumsum(0)])", "logsigmoid(a[:-1]).cumsum(0)])"),
        ("log_lambda = torch.cat([logsigmoid(a[:-1]), zero])", "log_lambda = torch.cat([logsigmoid(-a[:-1]), zero])"),
        ("return log_lambda + log_survival", "return log_lambda - log_survival"),
    ],
    4: [
        ("* (f[j] - later)", "* (f[j] + later)"),
        ("(1 - a_3[j].sigmoid())", "(1 + a_3[j].sigmoid())"),
        ("0.1 * (p_3.log() - prior_3)", "0.1 * (p_3.log() + prior_3)"),
    ],
    5: [("(log_g - losses / beta).softmax(0)", "(log_g + losses / beta).softmax(0)")],
    6: [
        ("return (p * losses).sum(0).mean()", "return -(p * losses).sum(0).mean()"),
        ("losses = losses.mean(1, keepdim=True)", "losses = -losses.mean(1, keepdim=True)"),
    ],
    7: [
        ("(f_n * log_p.gather(0, n)).sum()", "(-f_n * log_p.gather(0, n)).sum()"),
        ("beta_12 * (log_p - prior_12)).detach()", "beta_12 * (log_p + prior_12)).detach()"),
        ("torch.multinomial(log_p.detach().exp().T, 1)", "torch.multinomial(log_p.detach().exp().T * 0 + 1, 1)"),
        ("f_n - (log_p.detach().exp() * f).sum(0)", "f_n * (log_p.detach().exp() * f).sum(0)"),
    ],
    8: [
        ("return beta * log_g.exp() / (losses + mu)", "return beta * log_g.exp() / (losses - mu)"),
        ("high = -losses.min(), beta - losses", "high = losses.min(), beta + losses"),
    ],
    9: [
        ("prior_8[3:].exp().sum() - (1 - 1e-6)", "prior_8[3:].exp().sum() + (1 - 1e-6)"),
    ],
    10: [
        ("cut_off / (1 - remains)", "cut_off / (1 + remains)"),
        ("cut_off + to_the_last", "cut_off - to_the_last"),
    ],
    11: [
        ("each, log_g[:, None], beta)", "each, log_g[:, None], -beta)"),
        ("ponder_loss(log_halting(a), each", "ponder_loss(log_halting(-a), each"),
    ],
    12: [
        ("return -(log_w - losses).logsumexp(0)", "return (log_w - losses).logsumexp(0)"),
        ("return -(log_w - losses).logsumexp(0)", "return -(log_w + losses).logsumexp(0)"),
        ("path = (log_g - t * column)", "path = (log_g + t * column)"),
    ],
    13: [("(path.exp() * column).sum(0)", "-(path.exp() * column).sum(0)")],
}


def test_a_wrong_sign_in_an_equations_code_fails_its_assertion(monkeypatch):
    check_wrong_signs("02_pondernet_theory", FAULTS, monkeypatch)
