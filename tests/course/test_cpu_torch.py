"""Where PyTorch's CPU build is installed, and what is said where it cannot be."""

import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import cpu_torch  # noqa: E402


@pytest.fixture
def requirements(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text("# torch==1\ntorch>=2.9,!=2.13.0\ntorchvision>=0.24  # goes with it\ntorchmetrics>=1\nnumpy\n")
    return str(file)


@pytest.fixture
def fresh(monkeypatch):
    """A Linux machine without a GPU and without torch, whose index can be reached; what pip was asked for."""
    calls = []

    def run(command, **_):
        calls.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(cpu_torch.platform, "system", lambda: "Linux")
    monkeypatch.setattr(cpu_torch.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(cpu_torch, "has_gpu", lambda: False)
    monkeypatch.setattr(cpu_torch, "reachable", lambda: True)
    monkeypatch.setattr(cpu_torch.subprocess, "run", run)
    return calls


def test_without_a_gpu_the_cpu_build_comes_from_pytorchs_index(fresh, requirements, capsys):
    assert cpu_torch.main([requirements]) == 0
    (command,) = fresh
    assert command[-3:] == [cpu_torch.INDEX, "torch>=2.9,!=2.13.0", "torchvision>=0.24"]
    assert capsys.readouterr().out == "No GPU here: installing PyTorch's CPU build.\n"


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        (cpu_torch, "has_gpu", lambda: True),
        (cpu_torch.platform, "system", lambda: "Darwin"),
        (cpu_torch.platform, "system", lambda: "Windows"),
        (cpu_torch.importlib.util, "find_spec", lambda name: "there"),
    ],
)
def test_elsewhere_nothing_is_done_or_said(part, name, value, fresh, requirements, monkeypatch, capsys):
    monkeypatch.setattr(part, name, value)
    assert cpu_torch.main([requirements]) == 0
    assert not fresh
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("what", ["no answer", "pip fails"])
def test_where_the_index_is_out_of_reach_one_line_says_what_to_type(what, fresh, requirements, monkeypatch, capsys):
    if what == "no answer":
        monkeypatch.setattr(cpu_torch, "reachable", lambda: False)
    else:
        monkeypatch.setattr(cpu_torch.subprocess, "run", lambda command: SimpleNamespace(returncode=1))
    assert cpu_torch.main([requirements]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.endswith(
        f"{os.path.relpath(sys.executable)} -m pip install --index-url {cpu_torch.INDEX} torch torchvision"
    )


@pytest.fixture
def server():
    """An index that answers with the status in its path, or not at all."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if "silent" in self.path:
                time.sleep(1.5)
            self.send_response(404 if "404" in self.path else 200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()


@pytest.mark.parametrize(("path", "answer"), [("/cpu", True), ("/404", False), ("/silent", False)])
def test_an_index_is_asked_for_a_few_seconds_at_most(path, answer, server):
    start = time.perf_counter()
    assert cpu_torch.reachable(server + path, patience=0.8) is answer
    assert time.perf_counter() - start < 1.4
