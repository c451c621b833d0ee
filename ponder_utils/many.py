"""Many networks of one architecture trained as one: their weights stand in one tensor, and every product is batched.

A small network leaves most of a processor idle: the time goes into the calls, not into the arithmetic. K networks
whose parameters are stacked, [K, ...] each, take one call where K networks alone take K. On a CPU that pays as long as
the arithmetic is small; `benchmarks` shows where it ends. Beyond, share them among processes (`results`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.optim.lr_scheduler import LRScheduler
from tqdm import tqdm

from ponder_utils._check import check_int, check_real
from ponder_utils._run import (
    LastNumbers,
    RandomNumbers,
    Row,
    Run,
    Stateful,
    Watch,
    check_options,
    learning,
    not_finite,
    where_finite,
)
from ponder_utils.identity import Identity, differences, identity_of
from ponder_utils.steps import CheckpointedStep

Tensors = dict[str, Tensor]
BETAS, EPS = (0.9, 0.999), 1e-8  # of Adam, torch's defaults
NOT_STACKED = (CheckpointedStep, nn.RNNCellBase, nn.RNNBase)


def train_many(
    models: Sequence[nn.Module],
    loss_fns: Sequence[nn.Module],
    draw_batch: Callable[[torch.Generator], tuple[Tensor, Tensor]],
    n_updates: int,
    *,
    lr: float | Sequence[float],
    seeds: Sequence[int],
    clip: float | None = 1.0,
    schedule: Callable[[torch.optim.Optimizer], LRScheduler] | None = None,
    evaluate: Callable[[nn.Module], Row] | None = None,
    monitor: str = "accuracy",
    patience: int | None = None,
    log: Callable[[Row], Any] | None = None,
    log_every: int = 100,
    checkpoint_dir: Path | str | None = None,
    checkpoint_every: int = 500,
    progress: bool = True,
) -> list[Row]:
    """Train K networks together; each ends where `train` would have brought it alone, but for rounding.

    A network whose loss or gradient is not finite keeps the weights it had before, and so does one that has stopped
    early. Both leave the others alone: at the next logged update they leave the stack, and cost nothing more.

    A forward pass must not depend on data for what it does next, nor draw random numbers. A `PonderNet` without dropout
    qualifies; an `ACT`, which stops when its samples have halted, does not, nor do a `CheckpointedStep` and torch's own
    recurrent cells, which it cannot batch over networks (those of `ponder_utils.cells` it can).

    Args:
        models: K networks, trained in place. They may differ in nothing but the values of parameters and buffers, and
            have no tensor in common.
        loss_fns: K modules, (model(x), y) -> a named tuple of scalars with a field `total`. They may differ in nothing
            but buffers: a `PonderLoss` in lambda_p and beta.
        draw_batch, n_updates, clip, evaluate, monitor, log, log_every, checkpoint_every, progress: as for `train`.
        schedule: as for `train`, one for each network. It may change the learning rate and nothing else.
        lr: Adam's learning rate, one for all or one for each.
        seeds: K seeds, of the generators that batches are drawn from, one for each.
        patience: a network stops after so many evaluations without a new best.
        checkpoint_dir: where `last.pt` is written; a run that was cut off goes on from there.

    Returns:
        A table, one row for each network and logged update: network (0 to K - 1), update, the terms of the loss,
        grad_norm, lr, what `evaluate` gave, and stopped ("diverged", "early" or ""). The row of a network that has
        diverged is that of the update that was not finite. `pandas.DataFrame(rows)` reads it.

    Raises:
        ValueError, TypeError: if an argument is not as above, or the checkpoint is from a run with other settings.
    """
    clip = check_options(n_updates, log_every, checkpoint_every, clip, patience, evaluate)
    lrs = list(lr) if isinstance(lr, Sequence) else [lr] * len(models)
    for name, values in {"models": models, "loss_fns": loss_fns, "seeds": seeds}.items():
        if not isinstance(values, Sequence):
            raise TypeError(f"{name} must be a list; got {type(values).__name__}")
    for name, values in {"loss_fns": loss_fns, "lr": lrs, "seeds": seeds}.items():
        if len(values) != len(models) or not models:
            raise ValueError(f"{name} must be as many as models, at least one; got {len(values)} for {len(models)}")
    lrs = [check_real("lr", value, 0, open_low=True) for value in lrs]
    seeds = [check_int("seeds", seed, 0) for seed in seeds]
    models = [learning(model) for model in models]
    _check_stackable(models, loss_fns)

    device = next(models[0].parameters()).device
    generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]
    watch = partial(Watch, evaluate, monitor, patience)
    networks = [_Network(*its, schedule, watch) for its in zip(models, loss_fns, generators, lrs, strict=True)]
    stack = _Stack(networks)
    parts: dict[str, Stateful] = {f"network {k}": network for k, network in enumerate(networks)}

    def identity() -> Identity:
        numbers = {"lr": lrs, "clip": clip, "seeds": seeds, "monitor": monitor, "patience": patience}
        numbers["log_every"] = log_every
        schedules = [network.watch.schedule for network in networks]
        functions = {"draw_batch": draw_batch, "schedules": schedules, "evaluate": evaluate}
        losses = {f"loss_fns[{k}]": loss_fn for k, loss_fn in enumerate(loss_fns)}
        return identity_of({"models": models[0]}, values=False) | identity_of(numbers | losses | functions)

    bar = tqdm(total=n_updates, disable=not progress, file=sys.stdout, mininterval=0.5)
    parts |= {"stack": stack, "random": RandomNumbers(*generators)}  # the stack is made of what the networks hold
    with bar, Run(checkpoint_dir, parts, identity) as run, stack:
        bar.update(run.update)
        while run.update < n_updates and stack.going:
            batches = [draw_batch(network.generator) for network in stack.going]
            x, y = (torch.stack(part) for part in zip(*batches, strict=True))  # [K, batch, ...]
            lr_of_each = torch.tensor([network.lr for network in stack.going], dtype=torch.float64)
            stack.learn(x, y, lr_of_each.to(device, non_blocking=True), clip)
            torch.clear_autocast_cache()  # in an autocast around all of this, the weights as they were
            for network in stack.going:
                network.after_update()
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
    """One of the networks, with what belongs to it alone: its loss, its batches, its learning rate, its early stop."""

    def __init__(
        self,
        model: nn.Module,
        loss_fn: nn.Module,
        generator: torch.Generator,
        lr: float,
        schedule: Callable[[torch.optim.Optimizer], LRScheduler] | None,
        watch: Callable[[LRScheduler | None], Watch],
    ) -> None:
        self.model, self.loss_fn, self.generator = model, loss_fn, generator
        # An optimizer of nothing: a schedule wants one, whose learning rate it changes.
        self.optimizer = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=lr)
        self.watch = watch(schedule(self.optimizer) if schedule else None)
        if self.optimizer.param_groups[0]["betas"] != BETAS:
            raise ValueError(
                "schedule must change nothing but the learning rate; got one that changes Adam's betas "
                "(OneCycleLR has cycle_momentum=False for that)"
            )

    @property
    def lr(self) -> float:
        return self.optimizer.param_groups[0]["lr"]

    def after_update(self) -> None:
        self.optimizer.step()  # a schedule wants to see one
        self.watch.after_update()

    def state_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name).state_dict() for name in ("model", "optimizer", "watch")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for name, state in state_dict.items():
            getattr(self, name).load_state_dict(state)


class _Stack:
    """The weights of the networks that still learn, [K, ...] each, and Adam on them (Kingma & Ba 2015, Algorithm 1).

    Within `with`; at its end the networks have what they have learnt.
    """

    def __init__(self, networks: list[_Network]) -> None:
        self.all, self.going = networks, list(networks)
        self.updates, self.numbers = 0, LastNumbers()
        self._gather()
        # The gradient's moments.
        self.first = {name: _zeros_for_moments(value) for name, value in self.parameters.items()}
        self.second = {name: _zeros_for_moments(value) for name, value in self.parameters.items()}

    def _gather(self) -> None:
        self.model, self.loss_fn = self.going[0].model, self.going[0].loss_fn
        tensors, self.names = _stacked([network.model for network in self.going])
        learnt = {name for name, parameter in self.model.named_parameters() if parameter.requires_grad}
        self.parameters = {name: value.requires_grad_() for name, value in tensors.items() if name in learnt}
        self.fixed = {name: value for name, value in tensors.items() if name not in learnt}
        self.buffers = [name for name, _ in self.model.named_buffers()]
        of_loss, self.names_of_loss = _stacked([network.loss_fn for network in self.going])
        device = next(self.model.parameters()).device
        self.of_loss = {name: value.to(device) for name, value in of_loss.items()}

    def learn(self, x: Tensor, y: Tensor, lr: Tensor, clip: float) -> None:
        """One update of every network that is still going. x, y: [K, batch, ...]; lr: [K]."""
        before = [self.fixed[name].clone() for name in self.buffers]
        terms = vmap(self._terms)(self.parameters, self.fixed, self.of_loss, x, y)
        # The networks share nothing, so that the gradient of the sum is each one's gradient of its own loss.
        gradients = torch.autograd.grad(terms.total.sum(), list(self.parameters.values()), materialize_grads=True)
        norms = torch.stack([gradient.reshape(len(gradient), -1).norm(dim=1) for gradient in gradients])
        grad_norm = torch.linalg.vector_norm(norms, dim=0)  # [K]
        self.updates += 1
        self.numbers.note(self.updates, terms, grad_norm=grad_norm, lr=lr)
        where_finite(self.numbers.finite, [self.fixed[name] for name in self.buffers], before)
        scale = (clip / (grad_norm + 1e-6)).clamp(max=1)  # as `clip_grad_norm_` has it
        lr = torch.where(self.numbers.finite, lr, 0.0)
        with torch.no_grad():
            for name, gradient in zip(self.parameters, gradients, strict=True):
                self._adam(name, gradient * _per_network(scale, gradient), lr)

    def _terms(self, parameters: Tensors, fixed: Tensors, of_loss: Tensors, x: Tensor, y: Tensor) -> Any:
        tensors = parameters | fixed
        its = {place: tensors[name] for place, name in self.names.items()}
        output = functional_call(self.model, its, (x,), tie_weights=False)
        of_its_loss = {place: of_loss[name] for place, name in self.names_of_loss.items()}
        return functional_call(self.loss_fn, of_its_loss, (output, y), tie_weights=False)

    def _adam(self, name: str, gradient: Tensor, lr: Tensor) -> None:
        first, second, parameter = self.first[name], self.second[name], self.parameters[name]
        gradient, lr = gradient.to(first.dtype), _per_network(lr, first).to(first.dtype)
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
            if not stopped:
                stay.append(k)
        if len(stay) < len(self.going):
            self.going = [self.going[k] for k in stay]
            for tensors in (self.parameters, self.fixed, self.of_loss, self.first, self.second):
                for name, value in tensors.items():
                    tensors[name] = value.detach()[stay].requires_grad_(value.requires_grad)
            self.numbers.keep(stay)
        return rows

    @torch.no_grad()
    def hand_back(self) -> None:
        """Give the networks their weights, and what else the forward pass has changed."""
        for k, network in enumerate(self.going):
            for name, value in {
                **dict(network.model.named_parameters()),
                **dict(network.model.named_buffers()),
            }.items():
                value.copy_((self.parameters if name in self.parameters else self.fixed)[name][k])

    def __enter__(self) -> _Stack:
        return self

    def __exit__(self, *_: object) -> None:
        self.hand_back()

    def state_dict(self) -> dict[str, Any]:
        going = [self.all.index(network) for network in self.going]
        state = {"going": going, "updates": self.updates, "first": self.first, "second": self.second}
        return state | {"numbers": self.numbers.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """After the networks have loaded theirs."""
        self.going = [self.all[k] for k in state_dict["going"]]
        self.updates = state_dict["updates"]
        if self.going:
            self._gather()
        for mine, its in ((self.first, state_dict["first"]), (self.second, state_dict["second"])):
            mine.update({name: its[name].to(value.device) for name, value in mine.items()})
        self.numbers.load_state_dict(state_dict["numbers"], next(self.model.parameters()).device)


def _zeros_for_moments(parameter: Tensor) -> Tensor:
    """At least float32: in float16 Adam's EPS would be 0."""
    return torch.zeros_like(parameter, dtype=torch.promote_types(parameter.dtype, torch.float32))


def _per_network(value: Tensor, like: Tensor) -> Tensor:
    return value.view(-1, *[1] * (like.ndim - 1))  # [K] -> [K, 1, ...]


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
            raise ValueError(
                f"models must be of what torch can batch over networks; got a {type(part).__name__} at {path}. Train "
                "them one by one, or take a cell of ponder_utils."
            )
    for name, modules in {"models": models, "loss_fns": loss_fns}.items():
        built = [identity_of({"module": module, "ties": _names(module)}, values=False) for module in modules]
        for k, its in enumerate(built):
            if told := differences(its, built[0]):
                raise ValueError(
                    f"{name} must differ in nothing but the values of parameters and buffers; got {name}[{k}] (here) "
                    f"and {name}[0] (there), where {told}"
                )
    owners: dict[int, tuple[str, str]] = {}
    for kind, modules in {"models": models, "loss_fns": loss_fns}.items():
        for k, module in enumerate(modules):
            for place, tensor in _places(module).items():
                mine = (f"{kind}[{k}]", place)
                owner = owners.get(tensor.data_ptr(), mine)
                if kind == "models":  # several networks may have one loss
                    owners[tensor.data_ptr()] = owner
                if owner[0] != mine[0] and tensor.numel():
                    raise ValueError(
                        f"{kind} must have no tensor in common with another network; {'.'.join(mine)} is "
                        f"{'.'.join(owner)}"
                    )
