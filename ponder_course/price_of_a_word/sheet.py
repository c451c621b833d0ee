"""What a problem sheet of lesson 14 asks to be written, and is run."""

from typing import Any

import torch

from ponder_course.price_of_a_word.lesson import write

CHAIN = torch.tensor([0, 0, 1, 2])  # the parent of each node: three arrows lead from node 3 to the root


def gradient_of(loss: Any, rewards: list[list[float]]) -> list[list[float]]:
    """Return what a loss asks of each chain: its derivative by log p, downwards, times the number of chains."""
    log_p = torch.full((len(rewards), len(rewards[0])), -1.0, requires_grad=True)
    value = loss(torch.tensor(rewards), log_p)
    assert value.shape == (), f"a loss is one number: not {[*value.shape]}"
    assert value.requires_grad, "no gradient reaches log_p"
    value.backward()
    assert log_p.grad is not None
    return (-log_p.grad * log_p.numel()).tolist()


def check_loss(loss: Any) -> str:
    """By hand, then a table of a chain of four nodes, which writes each word twice on average, learns by it."""
    pushed = [[round(push, 4) + 0.0 for push in row] for row in gradient_of(loss, [[0.6, 0.4, 0.2, -0.4]])]
    assert pushed == [[0.4, 0.2, 0.0, -0.6]], f"the four chains of the lesson are pushed by 0.4, 0.2, 0, -0.6: {pushed}"
    pushed = [[round(push, 4) + 0.0 for push in row] for row in gradient_of(loss, [[1.0, 0.0], [3.0, 3.0]])]
    assert pushed == [[0.5, -0.5], [0.0, 0.0]], f"each question has a mean of its own: {pushed}"
    start = torch.full((4, 5), 1e-6)  # short cuts, such as the root at once, are never tried
    for word, parent in enumerate(CHAIN.tolist()):
        start[word, word] = 0.5
        start[word, parent if parent != word else 4] = 0.5
    logits = start.log().requires_grad_()
    optimizer, generator = torch.optim.Adam([logits], lr=0.05), torch.Generator().manual_seed(0)
    for _ in range(300):
        last, n_words, stopped, log_p = write(
            logits.log_softmax(1).expand(4, -1, -1), torch.arange(4), 8, generator, N=20
        )
        optimizer.zero_grad()
        loss(((last == 0) & stopped).float() - 0.05 * n_words, log_p).backward()
        optimizer.step()
    with torch.no_grad():
        last, n_words, stopped, _ = write(logits.log_softmax(1)[None], torch.tensor([3]), 500, generator, N=20)
    words, right = n_words.float().mean().item(), ((last == 0) & stopped).float().mean().item()
    learnt = f"where three words are needed, {words:.1f} are written, and {right:.0%} of answers are right"
    assert right > 0.9, f"it does not learn: {learnt}"
    assert words < 3.3, f"it goes on to dither: {learnt}"
    return f"Rewarded by your loss, {learnt}."
