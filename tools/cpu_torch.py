"""Install PyTorch's CPU build where there is no GPU: it is far smaller. Run by the Makefile, before all else.

    python tools/cpu_torch.py REQUIREMENTS

It does nothing where torch is installed, where there is a GPU, on macOS and Windows, whose plain builds are small, and
for requirements that say exactly which torch. Where PyTorch's index cannot be reached, it says in one line what to type
elsewhere, and leaves the plain build to pip. It needs nothing but Python.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import platform
import shutil
import subprocess
import sys
import urllib.request
from http.client import HTTPException
from pathlib import Path

INDEX = "https://download.pytorch.org/whl/cpu"
PATIENCE = 4.0  # seconds, with an index that does not answer
DEVICES = ("/dev/nvidia0", "/dev/kfd", "/dev/dxg")  # NVIDIA's, AMD's, and that of Windows' Linux


def wanted(requirements: Path) -> list[str]:
    """Return the lines of the requirements that ask for torch and torchvision; none if they ask for one version."""
    lines = [line.split("#")[0].strip() for line in requirements.read_text(encoding="utf-8").splitlines()]
    lines = [line for line in lines if line.startswith(("torch>", "torch=", "torchvision>", "torchvision="))]
    return [] if any("==" in line for line in lines) else lines


def has_gpu() -> bool:
    """Return whether this machine seems to have a GPU."""
    if any(Path(device).exists() for device in DEVICES):
        return True
    nvidia = shutil.which("nvidia-smi")
    return nvidia is not None and subprocess.run([nvidia, "-L"], capture_output=True).returncode == 0


def reachable(index: str = INDEX, patience: float = PATIENCE) -> bool:
    """Return whether the index answers within these seconds."""
    try:
        with urllib.request.urlopen(f"{index}/torch/", timeout=patience) as answer:
            return answer.status == 200
    except (OSError, HTTPException, ValueError):
        return False


def main(arguments: list[str] | None = None) -> int:
    """Install the CPU build if that is of use and possible; 0 whatever happens, since pip goes on from here."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a console that is not one of UTF-8 may not know a folder's name
        sys.stdout.reconfigure(errors="replace")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("requirements", type=Path, metavar="REQUIREMENTS")
    lines = wanted(parser.parse_args(arguments).requirements)
    if not lines or platform.system() != "Linux" or importlib.util.find_spec("torch") or has_gpu():
        return 0
    pip = [sys.executable, "-m", "pip", "install", "-q", "--index-url", INDEX, *lines]
    if reachable():
        print("No GPU here: installing PyTorch's CPU build.", flush=True)
        if subprocess.run(pip).returncode == 0:
            return 0
    typed = f"{os.path.relpath(sys.executable)} -m pip install --index-url {INDEX} torch torchvision"
    print(f"Next comes PyTorch's plain build, several GB. A smaller one does without a GPU: stop, and type {typed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
