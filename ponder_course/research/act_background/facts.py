"""What the texts say of stored ACTs on parity, computed from `results/01_*`."""

from statistics import fmean

from ponder_course.research.stored_facts import results


def steps_at(price: float, kind: str = "ACT") -> float:
    """The mean steps of the networks that learnt."""
    runs = results(f"01_act_{kind.replace(' ', '_')}_class", kind=kind, hyperparameter=price)
    return fmean(fmean(run["steps"]) for run in runs if fmean(run["accuracy"]) >= 0.95)


def facts() -> dict[str, str]:
    """All of them, by name."""
    long = results("01_act_long_start_class", kind="long start")
    learnt = sum(fmean(run["accuracy"]) >= 0.95 for run in long)
    (longest,) = (run for run in long if fmean(run["accuracy"]) < 0.95)
    return {
        "steps_by_price": " ".join(f"{steps_at(price):.1f}" for price in (0.0001, 0.001, 0.01)),
        "long_start": f"{len(long)} {learnt} {steps_at(0.001, 'long start'):.1f}",
        "longest": f"{fmean(longest['accuracy']):.0%} {longest['steps'][0]:.1f} {longest['steps'][-1]:.1f}",
    }
