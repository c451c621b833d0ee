"""`make gpu`: its table, and what a page says of its record."""

import json
import re

from benchmarks import gpu
from benchmarks.timing import Effort


def test_the_table_has_a_row_for_each_task_batch_and_width():
    rows = gpu.table("cpu", Effort(smoke=True), 1)
    sizes = [(row["task"], row["batch"], row["width"]) for row in rows]
    assert sizes == [(name, gpu.BATCHES[name][0], 32) for name in gpu.WORKS]
    assert all(row["updates_per_second"] > 0 for row in rows)


def test_the_page_on_running_has_the_rates_of_the_record():
    record = json.loads((gpu.ROOT / "benchmarks" / "gpu.json").read_text(encoding="utf-8"))
    rates = {
        (row["batch"], row["width"], row["device"]): round(row["updates_per_second"])
        for row in record["table"]
        if row["task"] == "lines"
    }
    sizes = [(64, 32, "cuda"), (64, 32, "cpu"), (256, 64, "cuda"), (256, 64, "cpu")]
    page = (gpu.ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"makes (\d+) updates a second there and (\d+) .* it is (\d+) against (\d+)", page, re.DOTALL)
    assert list(map(int, found)) == [rates[size] for size in sizes]
