"""What all tests start with, those of the evidence too."""

import os

# Before torch is imported: pytest-xdist runs two of these processes on two cores, and small networks like one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest
import torch

hypothesis.settings.register_profile("course", deadline=None, max_examples=60)
hypothesis.settings.load_profile("course")


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)
