"""Where PyTorch's CPU build is installed, and what is said where it cannot be."""

import sys
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


def test_without_a_gpu_the_cpu_build_comes_from_pytorchs_index(fresh, requirements, monkeypatch, capsys):
    assert cpu_torch.main([requirements]) == 0
    (command,) = fresh
    assert command[-3:] == [cpu_torch.INDEX, "torch>=2.9,!=2.13.0", "torchvision>=0.24"]
    monkeypatch.setattr(cpu_torch, "reachable", lambda: False)
    assert cpu_torch.main([requirements]) == 0
    assert f"--index-url {cpu_torch.INDEX} torch torchvision" in capsys.readouterr().out
    assert len(fresh) == 1


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
