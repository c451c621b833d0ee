"""The exercises of problem sheets: what is written is run, and a plausible mistake is named."""

import pytest
import torch
from sheets import solution
from torch import nn

import ponder_utils as pu
from ponder_course.act_background.sheet import check_train
from ponder_course.alone_and_together.sheet import check_look_up
from ponder_course.common.notebook import attempt
from ponder_course.light_cone.sheet import check_left_step
from ponder_course.map_of_thought.sheet import check_maze_step
from ponder_course.pondernet_theory.sheet import check_ponder_loss
from ponder_course.price_of_a_word.sheet import check_loss
from ponder_course.words.sheet import check_write


def never_to_zero(model, batches, loss_of):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for x, y in batches:
        loss_of(model(x), y).backward()
        optimizer.step()


def no_step(model, batches, loss_of):
    for x, y in batches:
        model.zero_grad()
        loss_of(model(x), y).backward()


def a_new_optimiser_each_time(model, batches, loss_of):
    for x, y in batches:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
        model.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()


def the_first_batch_alone(model, batches, loss_of):
    solution("01_act_background")["train"](model, list(batches)[:1], loss_of)


right_loss = solution("02_pondernet_theory")["ponder_loss"]


def averaged_first(y_hat, a, y, log_prior, beta):
    log_p = pu.halting_log_probs(a)
    losses = nn.functional.binary_cross_entropy_with_logits(y_hat, y.expand_as(y_hat), reduction="none")
    divergence = pu.kl_divergence(log_p, log_prior)
    return ((log_p.exp() * losses.mean(1, keepdim=True)).sum(0) + beta * divergence).mean()


def prior_and_halting_exchanged(y_hat, a, y, log_prior, beta):
    log_p = pu.halting_log_probs(a)
    reversed_kl = (log_prior.exp()[:, None] * (log_prior[:, None] - log_p)).sum(0).mean()
    return right_loss(y_hat, a, y, log_prior, 0) + beta * reversed_kl


def products_of_probabilities(y_hat, a, y, log_prior, beta):
    lambda_n = torch.cat([a[:-1].sigmoid(), torch.ones_like(a[:1])])
    p = lambda_n * torch.cat([torch.ones_like(a[:1]), (1 - lambda_n[:-1]).cumprod(0)])
    losses = nn.functional.binary_cross_entropy_with_logits(y_hat, y.expand_as(y_hat), reduction="none")
    return (p * (losses + beta * (p.log() - log_prior[:, None]))).sum(0).mean()


LeftStep = solution("05_light_cone")["LeftStep"]


class BothSides(LeftStep):
    def __init__(self, channels):
        super().__init__(channels)
        self.from_h = nn.Conv1d(channels, channels, 4)

    def move(self, z, h):
        return torch.tanh(self.from_h(nn.functional.pad(h, (1, 2))) + z)


class Deaf(LeftStep):
    def move(self, z, h):
        return torch.tanh(self.from_h(nn.functional.pad(h, (0, 1)) * 0) + z)


class MeanVote(LeftStep):
    def read(self, h):
        y_hat, votes = self.heads(h).unbind(1)
        return y_hat, votes.mean(1)


class VotesOfPlaces(LeftStep):
    def read(self, h):
        return self.heads(h).unbind(1)


RoundWalls = solution("07_map_of_thought")["RoundWalls"]


class ThroughWalls(RoundWalls):
    def move(self, z, state):
        return torch.tanh(self.from_h(state[0]) + z), state[1]


class TwoMoves(RoundWalls):
    def move(self, z, state):
        return super().move(z, super().move(z, state))


class Alone(RoundWalls):
    def move(self, z, state):
        return torch.tanh(state[0] + z) * state[1], state[1]


class OneHalt(RoundWalls):
    def read(self, state):
        y_hat, a = super().read(state)
        return y_hat, a.amin((1, 2))


LookUp = solution("08_alone_and_together")["LookUp"]


class MeanOfAll(LookUp):
    def forward(self, h, others):
        return self.value(others).mean(1, keepdim=True).expand_as(h)


class SoftmaxOverWhoAsks(LookUp):
    def forward(self, h, others):
        scores = self.query(h) @ self.key(others).transpose(1, 2)
        return scores.softmax(1) @ self.value(others)


class NoSoftmax(LookUp):
    def forward(self, h, others):
        return self.query(h) @ self.key(others).transpose(1, 2) @ self.value(others)


class ValuesHeardByNobody(LookUp):
    def forward(self, h, others):
        return super().forward(h, others).detach() * 1e-3


def own_words_in_training(read, asked, n_steps, right):
    return solution("12_words")["write"](read, asked, n_steps, None)


def asks_the_first_again(read, asked, n_steps, right):
    return torch.stack([read(asked) for _ in range(n_steps)], dim=1)


def one_word(read, asked, n_steps, right):
    return read(asked)[:, None]


WRONG = [
    (check_loss, lambda rewards, log_p: -(rewards * log_p).mean(), "are pushed by"),
    (check_loss, lambda rewards, log_p: ((rewards - rewards.mean(1, keepdim=True)) * log_p).mean(), "are pushed by"),
    (check_loss, lambda rewards, log_p: -((rewards - rewards.mean()) * log_p).mean(), "a mean of its own"),
    (check_loss, lambda rewards, log_p: -(rewards - rewards.mean(1, keepdim=True)).mean(), "no gradient"),
    (check_loss, lambda rewards, log_p: -((rewards - rewards.mean(1, keepdim=True)) * log_p).mean(1), "one number"),
    (check_train, never_to_zero, "set them to zero"),
    (check_train, no_step, "the optimiser took no step"),
    (check_train, a_new_optimiser_each_time, "is there one optimiser"),
    (check_train, the_first_batch_alone, "3 batches came, but 1"),
    (check_ponder_loss, lambda *given: right_loss(*given)[None], "one number"),
    (check_ponder_loss, lambda *given: right_loss(*given) * len(given[2]), "the mean stays as it was"),
    (check_ponder_loss, lambda *given: right_loss(*given[:-1], 0), "would be best"),
    (check_ponder_loss, averaged_first, "averaged over the batch"),
    (check_ponder_loss, prior_and_halting_exchanged, "would be best"),
    (check_ponder_loss, products_of_probabilities, "not finite"),
    (check_left_step, BothSides, "when the bit of place 3 flips"),
    (check_left_step, Deaf, "when the bit of place 3 flips"),
    (check_left_step, MeanVote, "least vote"),
    (check_left_step, VotesOfPlaces, "the halting logits should be [20]"),
    (check_maze_step, ThroughWalls, "through walls"),
    (check_maze_step, TwoMoves, "too fast"),
    (check_maze_step, Alone, "does not feel a star"),
    (check_maze_step, OneHalt, "the halting logits should be"),
    (check_look_up, MeanOfAll, "all nodes hear the same"),
    (check_look_up, SoftmaxOverWhoAsks, "softmax over the others"),
    (check_look_up, NoSoftmax, "do the weights sum to 1"),
    (check_look_up, ValuesHeardByNobody, "do not learn to find their roots"),
    (check_write, own_words_in_training, "where words are given"),
    (check_write, asks_the_first_again, "should write 3 2 1"),
    (check_write, one_word, "three steps"),
]


@pytest.mark.parametrize(("check", "answer", "message"), WRONG)
def test_a_mistake_is_named(check, answer, message, capsys):
    assert not attempt(check, answer)
    assert message in capsys.readouterr().out
