"""The checks of lesson 08's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

import math

from ponder_course.common.notebook import check_on

# Arrows, and the steps that they take alone and together: above a node to its root, or to the k-th node above it.
STEPS = [(arrows, (max(1, arrows), max(1, math.ceil(math.log2(arrows + 1))))) for arrows in (*range(64), 1000)]
check_steps_needed = check_on(*STEPS)
check_felt_at = check_on(*STEPS[:64])
