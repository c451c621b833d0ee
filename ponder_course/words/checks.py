"""The checks of lesson 12's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

import math

from ponder_course.common.notebook import check_on

# By words: a step and a token for each arrow, and for STOP. Together, all nodes are computed at every step.
COSTS = []
for depth, n_nodes in ((0, 8), (1, 8), (3, 8), (4, 8), (7, 8), (31, 32), (15, 64), (1000, 2000)):
    loops = max(1, math.ceil(math.log2(depth + 1)))
    COSTS.append((depth, n_nodes, ((depth + 1, depth + 1), (loops, loops * n_nodes))))
check_cost = check_on(*COSTS)

MAJORITIES = []
for p, n_votes in ((0.5, 1), (0.5, 9), (0.5, 65), (0.6, 1), (0.6, 3), (0.6, 65), (0.4, 9), (1.0, 5), (0.0, 5)):
    most = range(n_votes // 2 + 1, n_votes + 1)
    MAJORITIES.append((p, n_votes, sum(math.comb(n_votes, k) * p**k * (1 - p) ** (n_votes - k) for k in most)))
check_majority = check_on(*MAJORITIES)
