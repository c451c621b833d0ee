"""Curves over depth: right answers if all stop at one step, where networks halt by themselves, and the exact need."""

from collections.abc import Mapping

from torch import Tensor

from ponder_course.common import style
from ponder_course.common.measures import at_step, halting_report, mean, same_for_all
from ponder_course.common.store import Row
from ponder_course.scorecard.picture import over_depth


def curve(right: Tensor, need: Tensor | None, **steps: Tensor) -> Row:
    """Return right answers by step, and what each rule makes of them.

    right: bool [N, answers]; need, None where nobody knows it, and the steps of each rule, such as own_head or
    certainty: int64 [answers], from 1 to N.
    """
    rules = {}
    for rule, at in steps.items():
        when = {"steps": mean(at)} if need is None else halting_report(at, need)
        rules[rule.replace("_", " ")] = {"right": mean(at_step(right, at)), **when}
    return {"by_loop": right.double().mean(1).tolist(), "rules": rules}


@style.slide
def show_over_depth(curves: Mapping[str, Row], step: str = "step") -> None:
    """Show a panel for each curve, and say what each rule gains over the same mean number of steps for all."""
    figure, axes = style.panels(len(curves), width=9.2 / len(curves), height=3.4)
    findings = []
    for ax, (name, row) in zip(axes, curves.items(), strict=True):
        over_depth(ax, row, step)
        ax.set_title(name)
        for rule, halts in row["rules"].items():
            need = f" (needed {halts['needed']:.2f})" if "needed" in halts else ""
            all_then = same_for_all(row["by_loop"], halts["steps"])
            right = f"{halts['right']:.1%} right after {halts['steps']:.2f} {step}s{need}"
            findings.append(f"{name}, {rule}: {right}; {all_then:.1%} if all stop then")
    how = f"Blue: how many are right if all stop at the same {step}. A mark: where a rule stops in the mean, and how"
    how += " many are right then; what it gains is its height above the curve."
    style.show(style.legend(figure, columns=4), how, "\n".join(findings))
