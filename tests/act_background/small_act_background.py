"""Small networks of lesson 01."""

from functools import partial

from network import PARITY, N, Network

from ponder_course.act_background.experiment import FixedDepth
from ponder_course.common.parity import act, cross_entropy, one_time_step
from ponder_utils import ACTLoss

BATCH = partial(one_time_step, PARITY)
NETWORKS = {
    "01 ACT": Network(lambda: act(8, 16, N), BATCH, ACTLoss(cross_entropy, 1e-3)),
    "01 fixed depth": Network(lambda: FixedDepth(8, 16, 3), BATCH, ACTLoss(cross_entropy, 0.0)),
}
