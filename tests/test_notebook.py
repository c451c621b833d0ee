import pytest
import torch

from ponder_utils.notebook import check_parameters, describe_machine, pick_device

PARAMETERS = 'BUDGET: str = "class"  # how much\nSEEDS: int = 3\nloose = 1'


@pytest.mark.parametrize("cells", [[], [PARAMETERS], ["", PARAMETERS, '# Parameters\nBUDGET = "smoke"\nSEEDS = 1\n']])
def test_declared_parameters_pass(cells):
    check_parameters(cells)


def test_an_undeclared_parameter_is_refused_by_name():
    cells = ["import os\n%pip install x", PARAMETERS, "# Parameters\nSEEDS = 1\nSEED = 2\nloose = 3\n"]
    with pytest.raises(ValueError, match="unknown parameter SEED, loose; this notebook has BUDGET, SEEDS"):
        check_parameters(cells)


def test_device():
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert torch.__version__ in describe_machine(torch.device("cpu"))
    with pytest.raises(ValueError, match="device must be one of 'auto', 'cpu', 'cuda'; got 'gpu'"):
        pick_device("gpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_missing_gpu_is_said_to_be_missing():
    with pytest.raises(ValueError, match=r"device must be 'auto' or 'cpu' .*got 'cuda'"):
        pick_device("cuda")
