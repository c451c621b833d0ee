"""The checks of lesson 14's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

import torch

from ponder_course.common.notebook import check_on
from ponder_course.price_of_a_word.task import cliff

# Depths of the nodes that may be asked, and the price from which on shorter chains pay.
DEPTHS = ((0, 1, 2, 2), (0, 1), (0, 1, 2, 3, 4), (0, 0, 0, 1, 1, 5), (0, *range(1, 16)))
check_law = check_on(*[(list(depths), round(cliff(torch.tensor(depths)), 6)) for depths in DEPTHS])
