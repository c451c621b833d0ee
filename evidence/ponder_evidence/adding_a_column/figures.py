"""Tables of the evidence of lesson 09."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ponder_course.common import verdicts
from ponder_course.common.store import Row


def by_vote(kinds: Mapping[str, Sequence[Row]], places: int) -> pd.DataFrame:
    """Return a table of what networks with each kind of vote do with sums of so many places; ranges over networks."""
    table = {}
    for kind, rows in kinds.items():
        tests = [row["tests"][str(places)] for row in rows]
        pairs = [test["pair"] for test in tests]
        table[kind] = {
            "networks": len(tests),
            "sums right": verdicts.span([test["right"] / test["sums"] for test in tests], ".1%"),
            "steps": verdicts.span([test["steps"] for test in tests], ".1f"),
            "needed": verdicts.span([test["needed"] for test in tests], ".1f"),
            "too early": verdicts.span([test["early"] for test in tests], ".1%"),
            "steps at 11...1 + 0": verdicts.span([pair["steps"][0] for pair in pairs], "d"),
            "steps at 11...1 + 1": verdicts.span([pair["steps"][1] for pair in pairs], "d"),
            "both right": sum(all(pair["right"]) for pair in pairs),
        }
    return pd.DataFrame(table).T
