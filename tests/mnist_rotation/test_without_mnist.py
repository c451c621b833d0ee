"""Lesson 04 where MNIST is not there and cannot be fetched."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import course  # noqa: E402


def test_without_data_and_network_the_lesson_runs_through_with_stored_networks_of_the_small_digits(
    tmp_path, monkeypatch
):
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # where nobody answers
    given = {"TRAIN": "none", "DATA": str(tmp_path)}
    row = course.run(ROOT / "notebooks" / "04_mnist_rotation.ipynb", given, tmp_path / "04.ipynb")
    assert row["status"] == "ok"
    assert row["headline"].startswith("the small digits")
