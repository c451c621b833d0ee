"""Prices and bonuses that have been chosen, by eight networks that chose nothing.

The choosing networks are those of `price_and_bonus`. As in lesson 06 they choose on "valid": for each question, and one
setting for all three kinds of lines.
"""

from ponder_course.common.runs import Experiment
from ponder_course.research.ways_to_stop.price_and_bonus import SHORT, run, settings_of
from ponder_course.ways_to_stop.regret import REPORTING

# By kind and question: the hyperparameters that are reported. The first was chosen for all three kinds of lines.
CHOSEN: dict[str, dict[str, tuple[float, ...]]] = {
    "a price": {"lines": (0.01, 0.02), "no answer": (0.01,), "one answer": (0.01,), "8 elements": (0.01, 0.0025)},
    "a price and a bonus": {
        "lines": (0.01,),
        "no answer": (0.01,),
        "one answer": (0.01,),
        "8 elements": (0.01, 0.001),
    },
    "a price, and a bonus that ends": dict.fromkeys(("lines", "no answer", "one answer", "8 elements"), (0.01,)),
    "a price, two draws": {
        "lines": (0.01,),
        "no answer": (0.01,),
        "one answer": (0.01,),
        "8 elements": (0.01, 0.005),
    },
}


def is_chosen(problem: str, training: str, hyperparameter: float) -> bool:
    """Whether networks with this hyperparameter report."""
    return hyperparameter in CHOSEN[training][problem]


SETTINGS = [
    setting
    for setting in settings_of(REPORTING)
    if is_chosen(setting["problem"], setting["training"], setting["hyperparameter"])
]
EXPERIMENTS = {"price and bonus, reported": Experiment("06_price_and_bonus_report", run, SETTINGS, SHORT[:2])}
