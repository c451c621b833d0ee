"""What the texts say of stored lines of parity, computed from `results/05_*`."""

from ponder_evidence.stored_facts import Run, from_to, results, stored


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


def deadlines() -> dict[str, str]:
    """Of networks that learn from the answer after the last of N steps, or after every one, on lines of 12 places."""
    last = {N: results("05_light_cone_deadline", every_step=False, N=N) for N in (12, 24, 36)}
    every = results("05_light_cone_deadline", every_step=True)
    runs = [*last[12], *last[24], *last[36], *every]
    found = {f"deadline_{N}": from_to([run["slope"] for run in last[N]], ".2f") for N in last}
    return found | {
        "deadline_networks": f"{len(last[12])}",
        "deadline_every": from_to([run["slope"] for run in every], ".2f"),
        "deadline_every_networks": f"{len(every)}",
        "deadline_right": from_to([run["lines_right"] for run in runs], ".1%"),
        "deadline_farthest": from_to([run["since"][-1] for run in last[36]], ".0f"),
        "deadline_in_time": from_to([run["by_step"][11] for run in last[36]], ".0%"),
    }


def facts() -> dict[str, str]:
    """All of them, by name."""
    return beating_the_clock() | deadlines()


def beating_the_clock() -> dict[str, str]:
    """Of networks that halt before the last place can know."""
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
