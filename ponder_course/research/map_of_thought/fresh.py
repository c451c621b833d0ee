"""Ten networks of lesson 07 that chose nothing: the recipe was chosen by the first of the other ten."""

from ponder_course.common.runs import Experiment, seeded
from ponder_course.research.map_of_thought import experiment

MAIN = experiment.EXPERIMENTS["main"]
TESTS = MAIN.settings[0]["tests"]
EXPERIMENTS = {
    "fresh": Experiment("07_mazes_fresh", MAIN.run, seeded([{"tests": TESTS}], range(10, 20)), MAIN.short),
}
