"""What must run wherever the tensors are: on a GPU, and, where none is at hand, on a device that is not there.

Those marked `cuda` need a GPU and are run by `make gpu`. The same run everywhere on `elsewhere`, which computes on the
CPU and refuses to mix.
"""

import re
from dataclasses import replace

import elsewhere
import pytest
import torch
from networks import NETWORKS, TASKS
from running import NOTEBOOKS, namespace, run
from torch.utils._pytree import tree_leaves, tree_map

from ponder_course.common import notebook
from ponder_utils import PonderNet, binary_correct, class_correct, evaluate, train
from ponder_utils.rules import RULES

needs_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
FEW = ("01 ACT", "GRU", "LSTM", "04 CNN, per sample", "05 addition, pooled, residual True", "06 lines")
FEW += ("06 progressive", "07 mazes", "08 forests, current", "08 inference", "09 columns, mean")  # of each kind one
each_network = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FEW else pytest.mark.slow) for name in NETWORKS]
)
PARAMETERS = {"fixed": {"step": 2}, "quantile": {"q": 0.7}}


@pytest.fixture(params=["elsewhere", pytest.param("cuda", marks=[pytest.mark.cuda, needs_a_gpu])])
def device(request, monkeypatch):
    if request.param == "cuda":
        monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # else a convolution reads ten bits of a number
        yield torch.device("cuda")
        return
    with elsewhere.there(monkeypatch) as place:
        yield place


def draw(network):
    return network.batch(torch.Generator().manual_seed(1))


def made(network):
    torch.manual_seed(0)
    return network.model()


def to(tree, device):
    return tree_map(lambda part: part.to(device), tree)


def assert_same(there, here):
    for one, other in zip(tree_leaves(there), tree_leaves(here), strict=True):
        if isinstance(other, torch.Tensor):
            torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-4)


@each_network
def test_forward_loss_and_gradients_are_those_of_the_cpu(name, device):
    network = NETWORKS[name]
    found = {}
    for where in ("cpu", device):
        model, (x, y) = made(network).to(where), to(draw(network), where)
        model.eval()  # no noise, no dropout
        output = model(x)
        terms = network.loss(made(network).to(where)(x) if "progressive" in name else output, y)
        total = getattr(terms, "total", terms)  # or a scalar
        total.backward()
        gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
        assert all(gradient.device == total.device for gradient in gradients)
        found[str(where)] = ([] if "progressive" in name else [total.detach()], output[0].detach(), gradients)
    assert found[str(device)][1].device.type == device.type
    assert_same(found[str(device)], found["cpu"])


@each_network
def test_answers_that_halt_are_those_of_the_cpu(name, device):
    network = NETWORKS[name]
    x, y = draw(network)
    rules = RULES if name == "GRU" else ("sample", "quantile")  # they read an output, whatever the network is
    for rule in rules if isinstance(made(network), PonderNet) else ():
        found, options = [], {"check_every": 1} | PARAMETERS.get(rule, {})
        for where in ("cpu", device):
            model, generator = made(network).eval().to(where), torch.Generator().manual_seed(3)
            found.append(model.predict(to(x, where), rule, generator=generator, **options))
        assert found[1].y_hat.device.type == device.type
        assert_same(found[1], found[0])
    if name in ("GRU", "08 inference"):
        correct = class_correct if network.classes else binary_correct
        model = made(network)
        found = [
            tree_leaves(tuple(evaluate(model.to(where), *to((x, y), where), correct))) for where in (device, "cpu")
        ]
        assert found[0] == pytest.approx(found[1], abs=1e-4)


@pytest.mark.parametrize("name", TASKS)
def test_batches_are_drawn_where_the_generator_is(name, device):
    task = TASKS[name]
    if hasattr(task, "within"):  # turns images that it has been given
        task = replace(task, x=task.x.to(device), y=task.y.to(device))
    x, y = task.batch(5, torch.Generator(device).manual_seed(0))
    assert all(part.device.type == device.type for part in tree_leaves((x, y)))
    if hasattr(task, "needed_steps"):
        assert task.needed_steps(x).device.type == device.type
    if hasattr(task, "best_probs"):
        assert task.best_probs(x, 4).device.type == device.type


TRAINED = [name for name in ("01 ACT", "04 CNN, per sample", "07 mazes", "08 forests, current") if name in NETWORKS]


def test_a_training_asks_for_no_float64_and_nothing_on_the_cpu(device):
    network = NETWORKS["GRU"]
    rows = train(made(network).to(device), network.loss, network.batch, 2, lr=1e-3, log_every=1, progress=False)
    assert len(rows) == 2


@pytest.mark.cuda
@needs_a_gpu
@pytest.mark.parametrize("name", TRAINED)
def test_a_training_goes_on_from_its_checkpoint(name, tmp_path):
    """On batches that are drawn there, and with dropout; it ends with the weights of one that was not cut."""
    network, weights = NETWORKS[name], []
    options = {"checkpoint_every": 2, "progress": False, "log_every": 2, "lr": 1e-3}
    for folder, lengths in (("whole", [4]), ("cut", [2, 4])):
        for n_updates in lengths:
            model = made(network).to("cuda")
            train(model, network.loss, network.batch, n_updates, checkpoint_dir=tmp_path / folder, **options)
        weights.append([weight.detach().cpu() for weight in model.parameters()])
    assert_same(*weights)


@pytest.mark.slow
@pytest.mark.parametrize("stem", NOTEBOOKS)
def test_a_lesson_leaves_no_tensor_on_the_cpu(stem, monkeypatch):
    names = namespace(monkeypatch)
    monkeypatch.setattr(notebook, "pick_device", lambda *_: elsewhere.ELSEWHERE)
    monkeypatch.setattr(notebook, "describe_machine", str)
    cells = [cell.copy() for cell in NOTEBOOKS[stem]]
    for cell in cells:  # other processes have no such device
        cell.source = re.sub(r"^WORKERS: int = \d+", "WORKERS: int = 1", cell.source, flags=re.M)
    with torch.random.fork_rng(), elsewhere.there(monkeypatch):
        run(cells, names)
