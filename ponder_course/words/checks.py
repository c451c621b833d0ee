"""The checks of lesson 12's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

import math

from ponder_course.common.notebook import check_on

# By words: a step and a token for each arrow, and for STOP. Together, all nodes are computed at every step.
COSTS = []
for depth, n_nodes in ((0, 8), (1, 8), (3, 8), (4, 8), (7, 8), (31, 32), (15, 64), (1000, 2000)):
    loops = max(1, math.ceil(math.log2(depth + 1)))
    COSTS.append((depth, n_nodes, ((depth + 1, depth + 1), (loops, loops * n_nodes))))
check_cost = check_on(*COSTS)
