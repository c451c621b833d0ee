"""The small network of lesson 01."""

from functools import partial

from network import PARITY, N, Network

from ponder_course.common.parity import act, cross_entropy, one_time_step
from ponder_utils import ACTLoss

NETWORKS = {"01 ACT": Network(lambda: act(8, 16, N), partial(one_time_step, PARITY), ACTLoss(cross_entropy, 1e-3))}
