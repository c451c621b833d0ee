"""What prices and bonuses lose: each on its own level, and one setting for all kinds of lines."""

from collections.abc import Sequence

from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.ways_to_stop.regret import best_index, regret
from ponder_evidence.ways_to_stop.one_setting import Setting, one_for_all, regrets_with

LINES = ("lines", "no answer", "one answer")
OF_HEAD = ("sample", "expectation", "most probable", "quantile", "threshold")


def loses(row: Row, test: str, rule: str, which: int) -> float:
    """The regret of a run in a test of lines, in hundredths, with the which-th level of a rule."""
    measures = row["tests"][test]
    return 100 * sum(regret(measures["rules"][rule][which], measures["in time"][1]))


def by_own_level(rows: Sequence[Row], question: str, training: str, hyperparameter: float) -> list[float]:
    """The regrets, in hundredths, of networks that halt at the level that each has chosen on "valid", on 16 places."""
    runs = matching(rows, problem=question, training=training, hyperparameter=hyperparameter)
    return [loses(run, "16 places", "threshold", best_index(run, "threshold")) for run in runs]


def late_by_coin(rows: Sequence[Row], training: str, hyperparameter: float) -> list[float]:
    """How many steps after the need networks halt on average, on lines of 16 places, if a coin is tossed each step."""
    late = []
    for run in matching(rows, problem="lines", training=training, hyperparameter=hyperparameter):
        test = run["tests"]["16 places"]
        late.append(test["rules"]["sample"][0][1] - test["in time"][1])
    return late


def on_elements(rows: Sequence[Row], training: str, hyperparameter: float) -> list[tuple[float, float]]:
    """The same on eight elements, whose need is not known: [(right, steps), ...]."""
    runs = matching(rows, problem="8 elements", training=training, hyperparameter=hyperparameter)
    points = []
    for run in runs:
        right, steps = run["tests"]["8 elements"]["rules"]["threshold"][best_index(run, "threshold")]
        points.append((right, steps))
    return points


def one_setting(rows: Sequence[Row], training: str) -> Setting | None:
    """The setting of a training that loses least, on "valid", on the kind of lines on which it loses most."""
    return one_for_all(by_kind(rows), [(training, rule) for rule in OF_HEAD])


def by_kind(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The runs of each kind of lines."""
    return {kind: matching(rows, problem=kind) for kind in LINES}


def with_setting(rows: Sequence[Row], setting: Setting, test: str = "16 places") -> dict[str, list[float]]:
    """The regrets, in hundredths, of networks with this setting in a test, by the kind of lines."""
    regrets = regrets_with(by_kind(rows), setting, test)
    return {kind: [100 * loss for loss in losses] for kind, losses in regrets.items()}
