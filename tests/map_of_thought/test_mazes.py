"""Mazes against a search that a student would write; lesson 07's step, loss and halting against their equations."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import search
from torch import nn

from ponder_course.map_of_thought.lesson import MazeStep, halt, loss_of_places
from ponder_course.map_of_thought.task import MazeTask
from ponder_utils import PonderNet, PonderOutput, geometric_log_prior, halting_log_probs


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 4))
def test_mazes_are_trees_whose_targets_and_needs_are_those_of_a_search(seed, n_cells, max_stars):
    x, y = MazeTask(n_cells, max_stars).batch(2, torch.Generator().manual_seed(seed))
    need = MazeTask.needed_steps(x)
    side = 2 * n_cells - 1
    assert x.shape == (2, 3, side, side)
    assert y.shape == need.shape == (2, side, side)
    for maze, target, steps in zip(x, y, need, strict=True):
        is_open, stars = maze[0], maze[1:].sum(0)
        assert (is_open[::2, ::2] == 1).all()
        assert is_open[1::2, 1::2].sum() == 0
        assert is_open.sum() == 2 * n_cells**2 - 1  # cells, and one passage fewer: with all reached, a tree
        assert len(search(is_open, stars)) == is_open.sum()
        assert 1 <= stars.sum() == stars[::2, ::2].sum() <= max_stars
        assert stars.max() == 1
        first, second = search(maze[0], maze[1]), search(maze[0], maze[2])
        for place in torch.cartesian_prod(torch.arange(side), torch.arange(side)).tolist():
            to_first, to_second = (found.get(tuple(place), 10**6) for found in (first, second))
            wanted = -1 if to_first == to_second else int(to_second < to_first)
            assert target[tuple(place)] == wanted
            nearest = min(to_first, to_second)
            assert steps[tuple(place)] == (nearest + 1 if nearest < 10**6 else side**2 + 1)


def test_loops_are_open_passages_that_are_no_part_of_the_tree():
    trees, _ = MazeTask(5).batch(200, torch.Generator().manual_seed(3))
    all_open, _ = MazeTask(5, loops=1).batch(2, torch.Generator().manual_seed(3))
    half, _ = MazeTask(5, loops=0.5).batch(200, torch.Generator().manual_seed(3))
    assert (trees[:, 0].flatten(1).sum(1) == 25 + 24).all()
    assert (all_open[:, 0].flatten(1).sum(1) == 25 + 40).all()
    assert abs(half[:, 0].flatten(1).sum(1).mean() - (25 + 24 + 16 / 2)) < 0.5


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([0.0, 0.4]))
def test_no_answer_and_no_halting_outruns_the_news(seed, n_cells, loops):
    x, _ = MazeTask(n_cells, loops=loops).batch(4, torch.Generator().manual_seed(seed))
    torch.manual_seed(seed)
    model = PonderNet(MazeStep(6).eval(), 12)
    turned = x.clone()
    turned[:, 1:] = x[:, 1:].flip(1)  # every star changes its colour
    with torch.no_grad():
        a, b = model(x), model(turned)
    differs = (a.y_hat != b.y_hat) | (a.halt_logits != b.halt_logits)
    heard = torch.arange(1, 13)[:, None, None, None] >= MazeTask.needed_steps(x)
    assert not differs[~heard].any()
    assert differs[heard & (x[:, 0] > 0)].any()


def test_a_step_is_its_equation_at_every_place():
    x, _ = MazeTask(3).batch(2, torch.Generator().manual_seed(0))
    step, h = MazeStep(4).double().eval(), torch.rand(2, 4, 5, 5, dtype=torch.float64)
    z, (_, is_open) = step.encode(x.double())
    heard = nn.functional.unfold(h, 3, padding=1)  # by each place: [mazes, 9 * channels, places]
    total = step.from_h.weight.flatten(1) @ heard + step.from_h.bias[:, None]
    wanted = torch.tanh(total.view_as(h) + z) * is_open
    torch.testing.assert_close(step.move(z, (h, is_open))[0], wanted)
    assert torch.equal(step.read((h, is_open))[1] == 30, x[:, 0] == 0)


def test_the_loss_is_the_mean_over_places_that_are_asked():
    a, y_hat = torch.randn(2, 4, 2, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    output = PonderOutput(y_hat, a, halting_log_probs(a))
    y = torch.tensor([[[0, 1, -1], [1, 1, 0], [-1, 0, 1]], [[-1, -1, -1], [1, 0, 0], [1, 1, -1]]]).double()
    log_g = geometric_log_prior(0.8, 4)[:, None, None, None]
    right_with = (y_hat * (2 * y - 1)).sigmoid()
    terms = output.log_p.exp() * (-right_with.log() + 0.03 * (output.log_p - log_g))
    torch.testing.assert_close(loss_of_places(output, y).total, terms.sum(0)[y >= 0].mean())


def test_places_halt_where_the_packages_rule_says():
    torch.manual_seed(0)
    model = PonderNet(MazeStep(6).eval(), 12)
    with torch.no_grad():  # so that places halt at all kinds of steps
        for weight in model.step.parameters():
            weight.mul_(3)
        model.step.heads.bias[1] -= 3
    x, _ = MazeTask(4).batch(6, torch.Generator().manual_seed(1))
    y_hat, steps = halt(model, x, 12)
    wanted = model.predict(x, "threshold", q=0.5)
    assert torch.equal(steps, wanted.steps)
    assert len(steps.unique()) > 3
    torch.testing.assert_close(y_hat, wanted.y_hat)
