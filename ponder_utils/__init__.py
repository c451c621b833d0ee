"""Networks that decide how long to think: the package behind the notebooks.

Read the files in this order: `halting` (p_n, the prior, the divergence), `steps` (what happens in one step of thought),
`rules` (when to stop), `pondernet`, `act`, `losses`, `training`.
Under them lie `states`, `cells`, `local` and `tasks`. Imports flow one way:

    tasks, states -> cells, steps, local, halting -> rules -> pondernet, act -> losses, evaluation -> training

What a course of notebooks needs besides (stored runs, verdicts, figures) is another package, `ponder_course`.
"""

from ponder_utils import rules
from ponder_utils.act import ACT, act_average
from ponder_utils.cells import GRUCell, RNNCell
from ponder_utils.checkpoints import load_weights
from ponder_utils.curriculum import Curriculum
from ponder_utils.evaluation import binary_correct, class_correct, evaluate
from ponder_utils.halting import PonderOutput, expected_steps, geometric_log_prior, halting_log_probs, kl_divergence
from ponder_utils.local import LocalStep, light_cone
from ponder_utils.losses import ACTLoss, FixedDepthLoss, PonderLoss, ReconstructionLoss, RegularizationLoss
from ponder_utils.muon import MuonAndAdam
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import CheckpointedStep, EncodedStep, GRUStep, RecurrentStep, RNNStep
from ponder_utils.tasks import AdditionTask, LineParityTask, ParityTask, RotationTask
from ponder_utils.training import NonFiniteError, cool_down, train

__version__ = "0.2.0"  # the one place where it stands

# fmt: off
__all__ = [  # noqa: RUF022 - in the order in which one meets them
    # networks that think, and the steps they take
    "PonderNet", "PonderOutput", "ACT", "act_average",
    "RNNStep", "GRUStep", "RecurrentStep", "EncodedStep", "CheckpointedStep", "LocalStep", "RNNCell", "GRUCell",
    # halting: its distribution and prior, the rules that stop, the limit of a local step
    "halting_log_probs", "expected_steps", "geometric_log_prior", "kl_divergence", "rules", "light_cone",
    # losses
    "PonderLoss", "ReconstructionLoss", "RegularizationLoss", "ACTLoss", "FixedDepthLoss",
    # training and judging
    "train", "cool_down", "Curriculum", "MuonAndAdam", "load_weights", "NonFiniteError",
    "evaluate", "binary_correct", "class_correct",
    # tasks
    "ParityTask", "LineParityTask", "AdditionTask", "RotationTask",
]
