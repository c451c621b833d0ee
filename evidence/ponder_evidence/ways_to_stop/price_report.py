"""Prices and bonuses for all questions at once, reported by eight networks that chose nothing.

The choosing networks are those of `price_and_bonus`. As in lesson 06 they choose on "valid" one setting for all three
kinds of lines, by the kind on which it loses most. It is reported on eight elements, too, which had no say.
"""

from ponder_course.ways_to_stop.regret import REPORTING
from ponder_evidence.runs import Experiment
from ponder_evidence.ways_to_stop.price_and_bonus import SHORT, run, settings_of

REPORTED = {
    "a price": (0.01,),
    "a price and a bonus": (0.003, 0.01),  # of three choosing networks, the choice had been 0.01
    "a price, and a bonus that ends": (0.01,),
}

SETTINGS = [
    setting for setting in settings_of(REPORTING) if setting["hyperparameter"] in REPORTED.get(setting["training"], ())
]
EXPERIMENTS = {"price and bonus, reported": Experiment("06_price_and_bonus_report", run, SETTINGS, SHORT[:2])}
