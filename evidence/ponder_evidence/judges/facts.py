"""What the texts say of stored judges, computed from `results/11_*`."""

import numpy as np

from ponder_evidence.stored_facts import from_to, results

KINDS: dict[str, dict] = {
    "HRM": {"judge": "HRM", "discount": 1.0, "price": 0.0},
    "discount": {"judge": "HRM", "discount": 0.95},
    "price": {"judge": "HRM", "price": 0.005},
}
VALUES = {2: "", 3: "_threes", 5: "_fives"}  # by the values of a place: how facts end


def tests(name: str, **wanted: object) -> list[dict]:
    """What the networks of a file did on lines of 16 places."""
    return [run["tests"]["16 places"] for run in results(f"11_judges_{name}", **wanted)]


def of(found: list[dict], name: str, form: str) -> str:
    """The least and the greatest value."""
    return from_to([test[name] for test in found], form)


def by_trms_rule() -> dict[str, str]:
    """Of networks that halt above one half."""
    bits, threes, fives = (
        tests(name, judge="TRM", n_values=n_values)
        for name, n_values in (("main", 2), ("three_values", 3), ("main", 5))
    )
    sure = [test["yes"][1] for test in bits]
    one_open = {}
    for suffix, found in zip(VALUES.values(), (bits, threes, fives), strict=True):
        one_open[f"TRM_one_open{suffix}"] = from_to([test["yes"][1] for test in found], ".2f")
    return {
        "judges": f"{len(bits)}",
        "needed": f"{bits[0]['needed']:.1f}",
        "TRM_early": of(bits, "early", ".0%"),
        "TRM_right_early": of(bits, "right_early", ".0%"),
        "TRM_right": of(bits, "right", ".0%"),
        "TRM_at_N": of(bits, "at_N", ".0%"),
        "TRM_at_need": of(bits, "at_need", ".0%"),
        "TRM_sure_and_early": f"{np.corrcoef(sure, [test['early'] for test in bits])[0, 1]:.2f}",
        "TRM_early_threes": of(threes, "early", ".0%"),
        "threes": f"{len(threes)}",
        "TRM_early_fives": of(fives, "early", ".0%"),
        "TRM_steps_fives": of(fives, "steps", ".1f"),
        "TRM_right_fives": of(fives, "right", ".0%"),
        "TRM_at_need_fives": of(fives, "at_need", ".0%"),
        "TRM_at_N_fives": of(fives, "at_N", ".0%"),
    } | one_open


def by_hrms_rule() -> dict[str, str]:
    """Of networks that halt where halting is worth more than going on."""
    found = {}
    for name in ("HRM", "discount", "price"):
        for n_values in (2, 5):
            rows = tests("main", n_values=n_values, **KINDS[name])
            found[f"{name}_steps{VALUES[n_values]}"] = of(rows, "steps", ".1f")
    found["HRM_on_time"] = of(tests("main", n_values=2, **KINDS["HRM"]), "on_time", ".0%")
    tied, apart = ([test["ahead"] for test in tests("main", n_values=2, **KINDS[name])] for name in ("HRM", "discount"))
    found |= {"HRM_tie": f"{max(map(abs, tied)):.3f}", "discount_ahead": from_to(apart, ".2f")}
    for name in ("HRM", "discount"):
        fives = tests("main", n_values=5, **KINDS[name])
        found[f"{name}_right_fives"] = of(fives, "right", ".0%")
        found[f"{name}_at_N_fives"] = of(fives, "at_N", ".0%")
        found[f"{name}_steps_threes"] = of(tests("three_values", **KINDS[name]), "steps", ".1f")
    return found


def controls() -> dict[str, str]:
    """Of five networks of each kind: without refilling, and with a judge that reads the mean of all states."""
    found = {}
    for n_values in (2, 5):
        kept = tests("no_refilling", n_values=n_values)
        found["kept"] = f"{len(kept)}"
        found[f"kept_at_N{VALUES[n_values]}"] = of(kept, "at_N", ".0%")
        found[f"kept_early{VALUES[n_values]}"] = of(kept, "early", ".0%")
        by_trm, by_hrm = (tests("mean", judge=judge, n_values=n_values) for judge in ("TRM", "HRM"))
        found[f"mean_TRM_early{VALUES[n_values]}"] = of(by_trm, "early", ".0%")
        found[f"mean_HRM_steps{VALUES[n_values]}"] = of(by_hrm, "steps", ".1f")
    found["kept_at_need_fives"] = of(kept, "at_need", ".0%")
    far = results("11_judges_mean", judge="HRM", n_values=2)
    found["mean_HRM_far_early"] = of([run["tests"]["64 places"] for run in far], "early", ".0%")
    found["mean_TRM_right_fives"] = of(by_trm, "right", ".0%")
    found["mean_TRM_one_open_fives"] = from_to([test["yes"][1] for test in by_trm], ".2f")
    return found


def far() -> dict[str, str]:
    """On lines of 64 places, which are longer than any in training."""
    found = {}
    for n_values in (2, 5):
        rows = [run["tests"]["64 places"] for run in results("11_judges_main", judge="TRM", n_values=n_values)]
        found[f"far_right{VALUES[n_values]}"] = of(rows, "right", ".0%")
        found[f"far_steps{VALUES[n_values]}"] = of(rows, "steps", ".1f")
    return found | {"far_needed": of(rows, "needed", ".1f")}


def facts() -> dict[str, str]:
    """All of them, by name."""
    return by_trms_rule() | by_hrms_rule() | controls() | far()
