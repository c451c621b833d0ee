"""Pentominoes cover their board, and a step hears no more than its groups where they differ in size."""

import torch

from ponder_course.sudoku import covers
from ponder_course.sudoku.cover import groups_of


def test_pentominoes_cover_each_cell_of_their_board_once():
    groups, asked = covers.pentominoes()
    assert asked == 12
    assert sum(map(len, groups[:12])) == 2056  # placements of the twelve on a board of 6 x 10
    assert all(sum(n in cell for cell in groups[12:]) == 5 for n in (0, 500, 2055))
    on = covers.solution(groups, seed=3)
    pieces = covers.tiled(groups, asked, {n: k + 1 for k, group in enumerate(groups[:12]) for n in on & set(group)})
    assert sorted(pieces) == [k for k in range(1, 13) for _ in range(5)]


def test_where_groups_differ_in_size_a_place_hears_the_others_of_each_of_its_groups_and_no_more():
    groups = [[0, 1, 2], [2, 3], [4], [1, 3, 4, 0]]
    torch.manual_seed(0)
    step = covers.UnevenStep(groups_of(groups, 2), 3).double()
    h = 2 * torch.rand(1, 5, 3, dtype=torch.float64) - 1
    messages = step.message(h)
    for place in range(5):
        sent = []
        for group in [group for group in groups if place in group]:
            rest = [other for other in group if other != place]
            heard = h[0, rest].amax(0) if rest else torch.full((3,), -1.0, dtype=torch.float64)
            sent.append(torch.relu(step.own(h[0, place]) + step.heard(heard)))
        torch.testing.assert_close(messages[0, place], torch.stack(sent).amax(0))
    y_hat, a = step.read(h)
    logits, votes = step.heads(h)[0].T
    torch.testing.assert_close(y_hat[0, 1], torch.cat([logits[[2, 3]], logits.new_tensor([-30.0, -30.0])]))
    torch.testing.assert_close(a[0, 1], votes[[2, 3]].amax())
