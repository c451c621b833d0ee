"""Small networks of lesson 06."""

from functools import partial

from network import N, Network

from ponder_course.ways_to_stop.regret import RECIPES
from ponder_evidence.ways_to_stop import experiment
from ponder_evidence.ways_to_stop.problems import PROBLEMS


def trained(problem, training):
    """A network of lesson 06: the problem, and how it is trained."""
    asked, how = PROBLEMS[problem], experiment.TRAININGS[training]
    value = (*how.values, *how.more_values)[0]
    network = how.network

    def model():
        step = asked.step()
        if training == "gain":
            step = experiment.JudgedStep(step, asked.judge())
        return network(step, N)

    task = asked.task(asked.recipe["size"])
    return Network(model, partial(task.batch, 12), how.loss(asked, value))


DIFFERENT = {problem: asked for problem, asked in PROBLEMS.items() if problem not in RECIPES}
NETWORKS = {
    **{f"06 {problem}": trained(problem, "PonderNet") for problem in DIFFERENT},
    **{f"06 {training}": trained("lines", training) for training in experiment.TRAININGS},
}
TASKS = {problem: asked.task(8) for problem, asked in DIFFERENT.items()}
