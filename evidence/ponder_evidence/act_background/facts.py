"""What the texts say of stored ACTs on parity, computed from `results/01_*`."""

from statistics import fmean

from ponder_evidence.stored_facts import from_to, results


def steps_at(price: float, kind: str = "ACT") -> float:
    """The mean steps of the networks that learnt."""
    runs = results(f"01_act_{kind.replace(' ', '_')}_class", kind=kind, hyperparameter=price)
    return fmean(fmean(run["steps"]) for run in runs if fmean(run["accuracy"]) >= 0.95)


def later_states() -> dict[str, str]:
    """Of the weight of all states but the first, at the end of training and as a high price is left behind."""
    found = {}
    for name, price in (("low", 0.001), ("002", 0.02), ("003", 0.03)):
        runs = results("01_act_later_states_class", prices=[[price, 2000]])
        found[f"later_{name}"] = from_to([run["later"][-1] for run in runs], ".0%")
        found[f"later_{name}_learnt"] = f"{sum(run['accuracy'][-1] >= 0.95 for run in runs)} of {len(runs)}"
    escapes = results("01_act_later_states_class", prices=[[0.1, 1000], [0.0001, 3000]])
    learnt = [run for run in escapes if run["accuracy"][-1] >= 0.95]
    not_learnt = [run for run in escapes if run not in learnt]
    fell = [run["update"].index(1000) for run in escapes]
    return found | {
        "escaped": f"{len(learnt)} of {len(escapes)}",
        "later_at_fall": f"{max(run['later'][i] for run, i in zip(escapes, fell, strict=True)):.1%}",
        "later_escaped": from_to([run["later"][-1] for run in learnt], ".0%"),
        "later_caught": from_to([run["later"][-1] for run in not_learnt], ".0%"),
    }


def charged_late() -> str:
    """The steps of networks charged late: when the high price comes, and at the end."""
    runs = results("01_act_controls_class", prices=[[0.0001, 1000], [0.1, 1000]])
    before = [run["steps"][run["update"].index(1000)] for run in runs]
    return f"{from_to(before, '.1f')} {from_to([run['steps'][-1] for run in runs], '.1f')}"


def facts() -> dict[str, str]:
    """All of them, by name."""
    long = results("01_act_long_start_class", kind="long start")
    learnt = sum(fmean(run["accuracy"]) >= 0.95 for run in long)
    (longest,) = (run for run in long if fmean(run["accuracy"]) < 0.95)
    return later_states() | {
        "late_steps": charged_late(),
        "steps_by_price": " ".join(f"{steps_at(price):.1f}" for price in (0.0001, 0.001, 0.01)),
        "long_start": f"{len(long)} {learnt} {steps_at(0.001, 'long start'):.1f}",
        "longest": f"{fmean(longest['accuracy']):.0%} {longest['steps'][0]:.1f} {longest['steps'][-1]:.1f}",
    }
