"""Networks that decide how long to think: the package behind the notebooks.

The idea stands in the files beside this one. Read `halting` (p_n, prior, divergence), `steps` (what happens in a step),
`pondernet`, `act`, `losses`, `supervision` (what else one may learn from) and `rules` (when to stop), in that order.
Beside them are `cells`, `encoders` and `local`, of which steps are made, and `evaluation`. The rest has a room for each
purpose:

    tasks/         what the networks are asked
    training/      the loop, many networks at once, checkpoints and what a run is
    experiments/   from a setting to stored numbers, and what several runs say together
    notebook/      what serves the notebooks alone: parameters and checks, sliders, figures (notebook/plots)

Data flows one way, and no module imports one that stands after it:

    tasks -> cells, encoders, steps, local, halting, rules -> pondernet, act -> losses, evaluation
    -> supervision -> training -> experiments -> notebook
"""

from ponder_utils._files import DamagedFileError
from ponder_utils.act import ACT, ACTOutput, act_average
from ponder_utils.cells import GRUCell, MLPCell, RNNCell
from ponder_utils.encoders import ConvEncoder
from ponder_utils.evaluation import Score, best_halting, binary_correct, class_correct, evaluate
from ponder_utils.halting import expected_steps, geometric_log_prior, halting_log_probs, kl_divergence
from ponder_utils.local import ConvStep, LocalStep, light_cone
from ponder_utils.losses import ACTLoss, ACTLossTerms, LossTerms, PonderLoss, ReconstructionLoss, RegularizationLoss
from ponder_utils.pondernet import PonderNet, PonderOutput, Prediction
from ponder_utils.steps import CheckpointedStep, EncodedStep, GRUStep, JudgedStep, RecurrentStep, RNNStep
from ponder_utils.supervision import FixedDepthLoss, GainLoss, JudgeLoss, ProgressiveLoss, ProgressiveNet
from ponder_utils.tasks import (
    AdditionTask,
    LineParityTask,
    ParityTask,
    RotationTask,
    load_digits,
    rotated_by,
    rotated_within,
)
from ponder_utils.training import NonFiniteError, cool_down, train
from ponder_utils.checkpoints import load_weights
from ponder_utils.training.many import train_many

__version__ = "0.1.0"  # the one place where it stands

# fmt: off
__all__ = [
    "ACT", "ACTLoss", "ACTLossTerms", "ACTOutput", "AdditionTask", "CheckpointedStep", "ConvEncoder", "ConvStep",
    "DamagedFileError", "EncodedStep", "FixedDepthLoss", "GRUCell", "GRUStep", "GainLoss", "JudgeLoss", "JudgedStep",
    "LineParityTask", "LocalStep", "LossTerms", "MLPCell", "NonFiniteError", "ParityTask", "PonderLoss", "PonderNet",
    "PonderOutput", "Prediction", "ProgressiveLoss", "ProgressiveNet", "RNNCell", "RNNStep", "ReconstructionLoss",
    "RecurrentStep", "RegularizationLoss", "RotationTask", "Score", "act_average", "best_halting", "binary_correct",
    "class_correct", "cool_down", "evaluate", "expected_steps", "geometric_log_prior", "halting_log_probs",
    "kl_divergence", "light_cone", "load_digits", "load_weights", "rotated_by", "rotated_within", "train",
    "train_many",
]
