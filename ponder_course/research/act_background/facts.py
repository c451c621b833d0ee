"""What the texts say of stored ACTs on parity, computed from `results/01_*`."""

from statistics import fmean

from ponder_course.research.stored_facts import results


def steps_at(price: float) -> float:
    """The mean steps of the networks that learnt."""
    runs = results("01_act_ACT_class", kind="ACT", hyperparameter=price)
    return fmean(fmean(run["steps"]) for run in runs if fmean(run["accuracy"]) >= 0.95)


def facts() -> dict[str, str]:
    """All of them, by name."""
    return {"steps_by_price": " ".join(f"{steps_at(price):.1f}" for price in (0.0001, 0.001, 0.01))}
