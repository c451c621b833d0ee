"""Many networks of one architecture trained as one: their weights stand in one tensor, and every product is batched.

A small network leaves most of a processor idle: the time goes into the calls, not into the arithmetic. K networks
whose parameters are stacked, [K, ...] each, take one call where K networks alone take K. On a CPU that pays as long as
the arithmetic is small; `benchmarks` shows where it ends. Beyond, share them among processes (`results`).
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.optim.lr_scheduler import LRScheduler
from tqdm import tqdm

from ponder_utils._check import check_int, check_real
from ponder_utils.steps import CheckpointedStep
from ponder_utils.training.identity import Identity, differences, identity_of
from ponder_utils.training.run import (
    LastNumbers,
    Row,
    Run,
    Watch,
    checked_clip,
    learning,
    not_finite,
    per_network,
    put_back,
)

Tensors = dict[str, Tensor]
BETAS, EPS = (0.9, 0.999), 1e-8  # of Adam, torch's defaults
NOT_STACKED = (CheckpointedStep, nn.RNNCellBase, nn.RNNBase)


def train_many(
    models: Sequence[nn.Module], loss_fns: Sequence[nn.Module],
    draw_batch: Callable[[torch.Generator], tuple[Tensor, Tensor]], n_updates: int, *,
    lr: float | Sequence[float], seeds: Sequence[int], clip: float | None = 1.0,
    schedule: Callable[[torch.optim.Optimizer], LRScheduler] | None = None,
    evaluate: Callable[[nn.Module], Row] | None = None, monitor: str = "accuracy", patience: int | None = None,
    log: Callable[[Row], Any] | None = None, log_every: int = 100,
    checkpoint_dir: Path | str | None = None, checkpoint_every: int = 500, progress: bool = True,
) -> list[Row]:  # fmt: skip
    """Train K networks together; each ends where `train` would have brought it alone, but for rounding.

    A network whose loss or gradient is not finite keeps the weights it had before, and so does one that has stopped
    early. Both leave the others alone: at the next logged update they leave the stack, and cost nothing more.

    A forward pass must not depend on data for what it does next, draw random numbers, or put a new tensor in a buffer's
    place. A `PonderNet` without dropout qualifies; an `ACT`, which stops when its samples have halted, does not, nor do
    a `CheckpointedStep` and torch's own recurrent cells (those of `ponder_utils.cells` do).

    Args:
        models: K networks, trained in place. They may differ in nothing but the values of parameters and buffers, and
            have no tensor in common.
        loss_fns: K modules, (model(x), y) -> a named tuple of scalars with a field `total`. They may differ in nothing
            but buffers: a `PonderLoss` in prior and beta.
        draw_batch, n_updates, clip, evaluate, monitor, log, log_every, checkpoint_every, progress: as for `train`.
        schedule, patience: as for `train`, for each network alone. A schedule may change the learning rate only.
        lr: Adam's learning rate, one for all or one for each.
        seeds: K seeds, of the generators that batches are drawn from, one for each.
        checkpoint_dir: where `last.pt` is written; a run that was cut off goes on from there.

    The table has a row for each network and logged update: network (0 to K - 1), update, the terms of the loss,
    grad_norm, lr, what `evaluate` gave, and stopped ("diverged", "early" or ""). The row of a network that has diverged
    is that of the update that was not finite. `pandas.DataFrame(rows)` reads it. ValueError or TypeError if an argument
    is not as above, or the checkpoint is from another run.
    """
    clip = checked_clip(n_updates, log_every, checkpoint_every, clip, patience, evaluate)
    lrs = [lr] * len(models) if isinstance(lr, float | int) else list(lr)
    for name, values in {"loss_fns": loss_fns, "lr": lrs, "seeds": seeds, "models": models}.items():
        if not isinstance(values, Sequence):
            raise TypeError(f"{name} must be a list; got {type(values).__name__}")
        if len(values) != len(models) or not models:
            raise ValueError(f"{name} must be as many as models, at least one; got {len(values)} for {len(models)}")
    lrs = [check_real("lr", value, 0, open_low=True) for value in lrs]
    models = [learning(model) for model in models]
    _check_stackable(models, loss_fns)

    device = next(models[0].parameters()).device
    generators = [torch.Generator(device).manual_seed(check_int("seeds", seed, 0)) for seed in seeds]
    watch = partial(Watch, evaluate, monitor, patience, schedule)
    networks = [_Network(*its, watch) for its in zip(models, loss_fns, generators, lrs, strict=True)]
    stack = _Stack(networks)
    kept = ("model", "optimizer", "watch")
    parts: dict[str, Any] = {f"{part} {k}": getattr(its, part) for k, its in enumerate(networks) for part in kept}
    parts |= {"stack": stack, "draw_batch": draw_batch}

    def identity() -> Identity:
        numbers = {"lr": lrs, "clip": clip, "seeds": [*map(int, seeds)], "log_every": log_every, "device": device.type}
        watched = {"evaluate": evaluate, "monitor": monitor, "patience": patience}
        functions = {"loss_fns": [*loss_fns], "draw_batch": draw_batch}
        functions["schedules"] = [network.watch.schedule for network in networks]
        return identity_of({"models": models[0]}, values=False) | identity_of(numbers | watched | functions)

    bar = tqdm(total=n_updates, disable=not progress, file=sys.stdout, mininterval=0.5)
    with bar, Run(checkpoint_dir, identity, generators, parts) as run, ExitStack() as at_the_end:
        at_the_end.callback(stack.hand_back)
        bar.update(check_int("updates in checkpoint_dir", run.update, 0, n_updates))
        while run.update < n_updates and stack.going:
            batches = [draw_batch(network.generator) for network in stack.going]
            x, y = (torch.stack(part) for part in zip(*batches, strict=True))  # [K, batch, ...]
            stack.learn(x, y, clip)
            torch.clear_autocast_cache()  # in an autocast around all of this, the weights as they were
            for network in stack.going:
                network.optimizer.step()
                network.watch.after_update()
            run.update += 1
            bar.update()

            to_save = run.update % checkpoint_every == 0 or run.update == n_updates
            if to_log := run.update % log_every == 0 or run.update == n_updates:
                rows = stack.judge()
                run.rows += rows
                bar.set_postfix(training=len(stack.going), refresh=False)
                if log:
                    for row in rows:
                        log(row)
            if to_save or (to_log and not stack.going):
                stack.hand_back()
                run.save()
    return run.rows


class _Network:
    """One of the networks, with what belongs to it alone."""

    def __init__(self, model: nn.Module, loss_fn: nn.Module, generator: torch.Generator, lr: float, watch: Any) -> None:
        self.model, self.loss_fn, self.generator = model, loss_fn, generator
        # Of nothing: a schedule wants an optimizer, whose learning rate it changes.
        self.optimizer = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=lr)
        self.watch: Watch = watch(self.optimizer)
        if self.optimizer.param_groups[0]["betas"] != BETAS:
            came = "one that changes Adam's betas (OneCycleLR has cycle_momentum=False for that)"
            raise ValueError(f"schedule must change nothing but the learning rate; got {came}")


class _Stack:
    """The weights of the networks that still learn, [K, ...] each, and Adam on them (Kingma & Ba 2015, Algorithm 1)."""

    def __init__(self, networks: list[_Network]) -> None:
        self.all, self.updates, self.numbers = networks, 0, LastNumbers()
        self._gather(networks)
        # The gradient's moments, in at least float32: in float16 Adam's EPS would be 0.
        self.first = {
            name: torch.zeros_like(value, dtype=torch.promote_types(value.dtype, torch.float32))
            for name, value in self.parameters.items()
        }
        self.second = {name: value.clone() for name, value in self.first.items()}

    def _gather(self, networks: list[_Network]) -> None:
        """Go on with these."""
        self.going = networks
        if networks:
            self.model, self.loss_fn = networks[0].model, networks[0].loss_fn
            tensors, self.names = _stacked([network.model for network in networks])
            learnt = {name for name, parameter in self.model.named_parameters() if parameter.requires_grad}
            self.parameters = {name: tensors[name].requires_grad_() for name in tensors if name in learnt}
            self.fixed = {name: value for name, value in tensors.items() if name not in learnt}
            self.device = next(self.model.parameters()).device
            of_loss, self.names_of_loss = _stacked([network.loss_fn for network in networks])
            self.of_loss = {name: value.to(self.device) for name, value in of_loss.items()}

    def learn(self, x: Tensor, y: Tensor, clip: float) -> None:
        """One update of every network that is still going. x, y: [K, batch, ...]."""
        lrs = [network.optimizer.param_groups[0]["lr"] for network in self.going]
        lr = torch.tensor(lrs, dtype=torch.float64).to(self.device, non_blocking=True)  # [K]
        buffers = {name: self.fixed[name] for name, _ in self.model.named_buffers()}
        before = {name: buffer.clone() for name, buffer in buffers.items()}
        terms = vmap(self._terms)(self.parameters, self.fixed, self.of_loss, x, y)
        # The networks share nothing, so that the gradient of the sum is each one's gradient of its own loss.
        gradients = torch.autograd.grad(terms.total.sum(), list(self.parameters.values()), materialize_grads=True)
        norms = torch.stack([gradient.reshape(len(gradient), -1).norm(dim=1) for gradient in gradients])
        grad_norm = torch.linalg.vector_norm(norms, dim=0)  # [K]
        self.updates += 1
        self.numbers.note(self.updates, terms, grad_norm=grad_norm, lr=lr)
        put_back(buffers, before, self.numbers.finite)
        scale = (clip / (grad_norm + 1e-6)).clamp(max=1)  # as `clip_grad_norm_` has it
        lr = torch.where(self.numbers.finite, lr, 0.0)
        with torch.no_grad():
            for name, gradient in zip(self.parameters, gradients, strict=True):
                self._adam(name, gradient * per_network(scale, gradient), lr)

    def _terms(self, parameters: Tensors, fixed: Tensors, of_loss: Tensors, x: Tensor, y: Tensor) -> Any:
        its = {place: (parameters if name in parameters else fixed)[name] for place, name in self.names.items()}
        output = functional_call(self.model, its, (x,), tie_weights=False)
        its = {place: of_loss[name] for place, name in self.names_of_loss.items()}
        return functional_call(self.loss_fn, its, (output, y), tie_weights=False)

    def _adam(self, name: str, gradient: Tensor, lr: Tensor) -> None:
        first, second, parameter = self.first[name], self.second[name], self.parameters[name]
        gradient, lr = gradient.to(first.dtype), per_network(lr, first).to(first.dtype)
        first.lerp_(gradient, 1 - BETAS[0])
        second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        root = (second / (1 - BETAS[1] ** self.updates)).sqrt_().add_(EPS)
        step = first / root * (lr / (1 - BETAS[0] ** self.updates))
        parameter.sub_(torch.where(lr > 0, step, 0.0))  # not 0 * nan, where a network is not to learn

    def judge(self) -> list[Row]:
        """A row for every network in the stack; those that have stopped leave it."""
        self.hand_back()
        rows, stay = [], []
        for k, (network, numbers) in enumerate(zip(self.going, self.numbers.rows(), strict=True)):
            diverged = bool(not_finite(numbers))
            score = {} if diverged else network.watch.judge(network.model)[0]
            stopped = "diverged" if diverged else "early" if network.watch.stopped else ""
            rows.append({"network": self.all.index(network), **numbers, **score, "stopped": stopped})
            stay += [] if stopped else [k]
        if len(stay) < len(self.going):
            self.first, self.second = ({name: its[stay] for name, its in m.items()} for m in (self.first, self.second))
            self.numbers.take(self.numbers.values[:, stay])
            self._gather([self.going[k] for k in stay])
        return rows

    @torch.no_grad()
    def hand_back(self) -> None:
        """Give the networks their weights, and what else the forward pass has changed."""
        tensors = self.parameters | self.fixed
        for k, network in enumerate(self.going):
            for place, tensor in _places(network.model).items():
                tensor.copy_(tensors[self.names[place]][k])

    def state_dict(self) -> dict[str, Any]:
        going = [self.all.index(network) for network in self.going]
        numbers = {"names": self.numbers.names, "values": self.numbers.values}
        return {"going": going, "updates": self.updates, "first": self.first, "second": self.second} | numbers

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """After the networks have loaded theirs."""
        self.updates, self.numbers.names = state["updates"], state["names"]
        self.numbers.take(state["values"].to(self.device))
        for moments in ("first", "second"):
            setattr(self, moments, {name: its.to(self.device) for name, its in state[moments].items()})
        self._gather([self.all[k] for k in state["going"]])


def _places(module: nn.Module) -> Tensors:
    """Every place in a module where a tensor stands. A tensor may stand in several, as tied weights do."""
    return {
        f"{path}.{name}".lstrip("."): tensor
        for path, part in module.named_modules()
        for name, tensor in (*part.named_parameters(recurse=False), *part.named_buffers(recurse=False))
    }


def _names(module: nn.Module) -> dict[str, str]:
    """place -> the first place where the same tensor stands, by which it is known."""
    first: dict[int, str] = {}
    return {place: first.setdefault(id(tensor), place) for place, tensor in _places(module).items()}


def _stacked(modules: list[nn.Module]) -> tuple[Tensors, dict[str, str]]:
    """The modules' tensors by name, [K, ...] each, and the names that go into each place."""
    names, places = _names(modules[0]), [_places(module) for module in modules]
    known = dict.fromkeys(names.values())
    return {name: torch.stack([its[name].detach() for its in places]) for name in known}, names


def _check_stackable(models: Sequence[nn.Module], loss_fns: Sequence[nn.Module]) -> None:
    """Refuse modules that differ in more than the values of their tensors, or that have tensors in common.

    Only the first one's code is run, and each one's tensors are handed back to it alone.
    """
    for path, part in models[0].named_modules():
        if isinstance(part, NOT_STACKED):
            came = f"a {type(part).__name__} at {path}; train them one by one, or take a cell of ponder_utils"
            raise ValueError(f"models must be of what torch can batch over networks; got {came}")
    owners: dict[int, str] = {}  # of every tensor, by where it lies in memory
    for name, modules in {"models": models, "loss_fns": loss_fns}.items():
        built = []
        for module in modules:
            own = [(f"{path}.{key}", its) for path, part in module.named_modules() for key, its in vars(part).items()]
            tensors = {key: its for key, its in own if isinstance(its, Tensor)}
            built.append(identity_of({"module": module, "ties": _names(module), "tensors": tensors}, values=False))
        for k, module in enumerate(modules):
            if told := differences(built[k], built[0]):
                pair = f"{name}[{k}] (here) and {name}[0] (there), where {told}"
                raise ValueError(f"{name} must differ in nothing but the values of parameters and buffers; got {pair}")
            mine = {tensor.data_ptr(): place for place, tensor in _places(module).items() if tensor.numel()}
            for pointer in mine.keys() & owners.keys():
                common = f"{name}[{k}].{mine[pointer]} is {owners[pointer]}"
                raise ValueError(f"{name} must have no tensor in common with another network; {common}")
            if name == "models":  # several networks may have one loss
                owners |= {pointer: f"models[{k}].{place}" for pointer, place in mine.items()}
