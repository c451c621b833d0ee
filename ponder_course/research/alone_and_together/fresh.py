"""Ten networks of each kind of lesson 08 that chose nothing: the recipe was chosen by the first of the other ten."""

from ponder_course.common.runs import Experiment, seeded
from ponder_course.research.alone_and_together import experiment

MAIN = experiment.EXPERIMENTS["main"]
SETTINGS = seeded([{"memory": "current"}, {"memory": "initial"}], range(10, 20), seed_by_seed=True)
EXPERIMENTS = {"fresh": Experiment("08_forests_fresh", MAIN.run, SETTINGS, MAIN.short)}
