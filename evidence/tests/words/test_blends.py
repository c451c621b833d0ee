"""How much a mean of names differs from one name, against a walk that is taken step by step."""

import torch

from ponder_course.alone_and_together.experiment import chains
from ponder_course.words.lesson import token
from ponder_evidence.words.blends import largest_weights
from ponder_evidence.words.experiment import MeanWalker


@torch.no_grad()
def test_the_largest_weights_are_those_of_all_means_before_stop():
    torch.manual_seed(0)
    walker, x = MeanWalker("mean", 6, 16).eval(), chains(3, 6, torch.Generator().manual_seed(1))
    walker.step.heads.weight *= 5  # so that some walks stop soon
    by_hand, stopped = [], 0
    for parents in x:
        for node in range(6):
            thought = token(walker.names.addresses[[node]])
            for _ in range(9):
                state = walker.step.layer(thought, walker.names(parents[None]))
                logits = walker.step.heads(state)[0][0, 0]
                if logits.argmax() == 6:
                    stopped += 1
                    break
                weights = logits[:-1].softmax(0)
                by_hand.append(weights.max())
                thought = token(weights[None] @ walker.names.addresses)
    found = largest_weights(walker, x, 9)
    assert 0 < stopped < 18
    torch.testing.assert_close(found.sort().values, torch.stack(by_hand).sort().values)
