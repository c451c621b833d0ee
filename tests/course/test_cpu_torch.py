"""Where PyTorch's CPU build is installed, and what is said where it cannot be."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import cpu_torch  # noqa: E402


@pytest.mark.parametrize(("has_gpu", "reachable", "n_calls"), [(False, True, 1), (False, False, 0), (True, True, 0)])
def test_the_cpu_build_comes_from_pytorchs_index_where_there_is_no_gpu(
    has_gpu, reachable, n_calls, tmp_path, monkeypatch, capsys
):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# torch==1\ntorch>=2.9,!=2.13.0\ntorchvision>=0.24  # goes with it\ntorchmetrics>=1\n")
    calls = []

    def run(command, **_):
        calls.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(cpu_torch.platform, "system", lambda: "Linux")
    monkeypatch.setattr(cpu_torch.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(cpu_torch, "has_gpu", lambda: has_gpu)
    monkeypatch.setattr(cpu_torch, "reachable", lambda: reachable)
    monkeypatch.setattr(cpu_torch.subprocess, "run", run)
    assert cpu_torch.main([str(requirements)]) == 0
    assert len(calls) == n_calls
    for command in calls:
        assert command[-3:] == [cpu_torch.INDEX, "torch>=2.9,!=2.13.0", "torchvision>=0.24"]
    assert ("--index-url" in capsys.readouterr().out) is (not has_gpu and not reachable)
