"""The headline of lesson 10 counts what its table shows, and its evidence what is stored."""

import re

from running import headline

from ponder_course.research.stored_facts import results

SIZES = ("4 x 4", "9 x 9", "16 x 16")


def test_lesson_10_how_many_stored_networks_are_exact():
    rows = results("10_sudoku_main")
    exact = [all(row[name]["exactly"] == row[name]["cells"] for name in SIZES) for row in rows]
    assert headline("10_exact_covers").strip().endswith(f"{sum(exact)} of {len(rows)} networks")
    live, n = map(int, re.findall(r"(\d+) of (\d+) networks", headline("10_sudoku"))[0])
    assert live <= n
