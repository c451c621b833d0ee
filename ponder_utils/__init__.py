"""Networks that decide how long to think: the package behind the notebooks."""

from ponder_utils import losses, rules
from ponder_utils.act import ACT, ACTOutput, act_average
from ponder_utils.cells import GRUCell, RNNCell
from ponder_utils.checkpoints import load_weights
from ponder_utils.evaluation import Diagnosis, Score, binary_correct, class_correct, diagnose, evaluate
from ponder_utils.halting import PonderOutput, expected_steps, geometric_log_prior, halting_log_probs, kl_divergence
from ponder_utils.losses import ACTLoss, FixedDepthLoss, PonderLoss, ReconstructionLoss, RegularizationLoss
from ponder_utils.pondernet import PonderNet, Prediction
from ponder_utils.rules import halting_steps
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import EncodedStep, GRUStep, Heads, RecurrentStep, RNNStep, Step
from ponder_utils.tasks import ParityTask
from ponder_utils.training import NonFiniteError, cool_down, train

__version__ = "0.2.0"  # the one place where it stands

__all__ = ["ACT", "ACTOutput", "PonderNet", "PonderOutput", "PonderSequence", "Prediction", "act_average", "rules"]
__all__ += ["EncodedStep", "GRUCell", "GRUStep", "Heads", "RNNCell", "RNNStep", "RecurrentStep", "Step"]
__all__ += ["expected_steps", "geometric_log_prior", "halting_log_probs", "halting_steps", "losses"]
__all__ += ["ACTLoss", "FixedDepthLoss", "PonderLoss", "ReconstructionLoss"]
__all__ += ["NonFiniteError", "ParityTask", "RegularizationLoss", "Score", "binary_correct", "kl_divergence", "train"]
__all__ += ["Diagnosis", "class_correct", "cool_down", "diagnose", "evaluate", "load_weights"]
