"""docs/report.md says nothing that docs/findings.md does not. The findings are computed again in the lessons' tests."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_report_has_no_result_that_the_findings_lack():
    def results(page):
        text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").lower().split())
        text = re.sub(r"\$[^$]*\$", "", text)  # settings and formulas
        return set(re.findall(r"\d+(?:\.\d+)? % (?:to \d+ %|of)|\d+\.\d+|\w+ of \w+ networks|\d+ of \d+", text))

    assert len(results("report.md")) >= 10
    assert results("report.md") <= results("findings.md")
