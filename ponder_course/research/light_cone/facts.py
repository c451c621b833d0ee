"""What the texts say of stored lines of parity, computed from `results/05_*`."""

from ponder_course.research.stored_facts import Run, stored


def own_test(run: Run) -> dict:
    """The test on lines of the length of training."""
    setting, result = run
    return result["tests"][str(setting["places"])]


def has_learnt(run: Run) -> bool:
    """Right on 95 % of lines, halted by itself or at its best fixed step."""
    test = own_test(run)
    return test["rules"]["threshold"]["right"] >= 0.95 or max(test["by_step"]) >= 0.95


def speaks(run: Run) -> bool:
    """Whether it halts one line in ten before the last place can know, and is right on 95 % of those."""
    rule = own_test(run)["rules"]["threshold"]
    return rule["early"] >= 0.1 and rule["right_early"] >= 0.95


def twice_as_long(run: Run) -> float:
    """The fraction of lines of twice the length that is right."""
    setting, result = run
    return result["tests"][str(2 * setting["places"])]["rules"]["threshold"]["right"]


def facts() -> dict[str, str]:
    """All of them, by name: of networks that beat the clock."""
    every = stored("05_beating_the_clock_lengths")
    runs = [run for run in every if has_learnt(run)]
    short, long = ([run for run in runs if (run[0]["places"] <= 8) is is_short] for is_short in (True, False))
    local = [run for run in stored("05_beating_the_clock_local_head") if has_learnt(run)]
    speakers = [run for run in short if speaks(run)]
    far = [twice_as_long(run) for run in long if speaks(run)]
    return {
        "speak": f"{len(speakers)} of {len(short)}",
        "short_run": f"{sum(setting['places'] <= 8 for setting, _ in every)}",
        "speak_local": f"{sum(map(speaks, local))} of {len(local)}",
        "twice_carry": f"{sum(twice_as_long(run) >= 0.95 for run in speakers)} of {len(speakers)}",
        "twice_best": f"{max(map(twice_as_long, speakers)):.0%}",
        "long_speakers": f"{len(far)}",
        "long_carry": f"{sum(right >= 0.95 for right in far)}",
    }
