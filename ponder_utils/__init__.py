"""Networks that decide how long to think: the package behind the notebooks.

Imports flow one way, and so may a reader:

    tasks, states -> halting, cells, steps, local, attention -> rules -> pondernet, act, sequences -> losses,
    evaluation -> training
"""

from ponder_utils import rules
from ponder_utils.act import ACT, act_average
from ponder_utils.attention import TransformerStep
from ponder_utils.cells import GRUCell, RNNCell
from ponder_utils.checkpoints import load_weights
from ponder_utils.evaluation import binary_correct, class_correct, evaluate
from ponder_utils.halting import PonderOutput, expected_steps, geometric_log_prior, halting_log_probs, kl_divergence
from ponder_utils.local import LocalStep, light_cone
from ponder_utils.losses import ACTLoss, FixedDepthLoss, PonderLoss, ReconstructionLoss, RegularizationLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import EncodedStep, GRUStep, Heads, RecurrentStep, RNNStep, Step
from ponder_utils.tasks import ParityTask
from ponder_utils.training import NonFiniteError, cool_down, train

__version__ = "0.2.0"  # the one place where it stands

__all__ = [  # noqa: RUF022 - in the order in which one meets them
    # networks that think, and the steps they take
    "PonderNet",
    "PonderOutput",
    "PonderSequence",
    "ACT",
    "act_average",
    "RNNCell",
    "GRUCell",
    "Step",
    "Heads",
    "RNNStep",
    "GRUStep",
    "RecurrentStep",
    "EncodedStep",
    "LocalStep",
    "TransformerStep",
    # halting, and what is learnt from
    "halting_log_probs",
    "expected_steps",
    "geometric_log_prior",
    "kl_divergence",
    "rules",
    "light_cone",
    "PonderLoss",
    "ReconstructionLoss",
    "RegularizationLoss",
    "ACTLoss",
    "FixedDepthLoss",
    # training, judging, tasks
    "train",
    "cool_down",
    "load_weights",
    "NonFiniteError",
    "evaluate",
    "binary_correct",
    "class_correct",
    "ParityTask",
]
