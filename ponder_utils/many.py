"""Many networks of one architecture trained as one: their weights stand in one tensor, and every product is batched.

A small network leaves most of a processor idle: the time goes into the calls, not into the arithmetic. K networks
whose parameters are stacked, [K, ...] each, take one call where K networks alone take K. On a CPU that pays as long as
the arithmetic is small; `benchmarks` shows where it ends. Beyond, share them among processes (`results`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.optim.lr_scheduler import LRScheduler
from tqdm import tqdm

from ponder_utils._check import check_int, check_real
from ponder_utils._watch import (
    EarlyStop,
    LastNumbers,
    Row,
    after_evaluation,
    after_update,
    check_options,
    evaluated,
    not_finite,
)
from ponder_utils.checkpoints import (
    check_same_run,
    load_checkpoint,
    rng_state,
    save_checkpoint,
    set_rng_state,
    told_of,
)
from ponder_utils.steps import CheckpointedStep

Tensors = dict[str, Tensor]
BETAS, EPS = (0.9, 0.999), 1e-8  # of Adam, torch's defaults


def train_many(
    models: Sequence[nn.Module],
    loss_fns: Sequence[nn.Module],
    draw_batch: Callable[[torch.Generator], tuple[Tensor, Tensor]],
    n_updates: int,
    *,
    lr: float | Sequence[float],
    seeds: Sequence[int],
    clip: float = 1.0,
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
    qualifies; an `ACT`, which stops when its samples have halted, does not, nor does a `CheckpointedStep`.

    Args:
        models: K networks, trained in place. They may differ in nothing but the values of parameters and buffers.
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
    check_options(n_updates, log_every, checkpoint_every, clip, patience, evaluate)
    lrs = [lr] * len(models) if isinstance(lr, Real) else list(lr)
    for name, values in {"models": models, "loss_fns": loss_fns, "seeds": seeds}.items():
        if not isinstance(values, Sequence):
            raise TypeError(f"{name} must be a list; got {type(values).__name__}")
    for name, values in {"loss_fns": loss_fns, "lr": lrs, "seeds": seeds}.items():
        if len(values) != len(models) or not models:
            raise ValueError(f"{name} must be as many as models, at least one; got {len(values)} for {len(models)}")
    lrs = [check_real("lr", value, 0, open_low=True) for value in lrs]
    seeds = [check_int("seeds", seed, 0) for seed in seeds]
    if any(isinstance(module, CheckpointedStep) for module in models[0].modules()):
        raise ValueError("models must not have a CheckpointedStep, which computes again what is not stacked any more")
    _check_alike("models", models)
    _check_alike("loss_fns", loss_fns)

    device = next(models[0].parameters()).device
    members = [
        _Member(
            k, model, loss_fn, torch.Generator(device).manual_seed(seed), lr, schedule, EarlyStop(monitor, patience)
        )
        for k, (model, loss_fn, seed, lr) in enumerate(zip(models, loss_fns, seeds, lrs, strict=True))
    ]
    told = [told_of(member.loss_fn, member.schedule) for member in members]
    run = _Run(members, {"lr": lrs, "clip": float(clip), "seeds": seeds, "told": told}, checkpoint_dir)
    bar = tqdm(total=n_updates, initial=run.update, disable=not progress, file=sys.stdout, mininterval=0.5)
    for model in models:
        model.train()
    with bar, run:
        while run.update < n_updates and run.members:
            batches = [draw_batch(member.generator) for member in run.members]
            x, y = (torch.stack(part) for part in zip(*batches, strict=True))  # [K, batch, ...]
            lr_of_each = torch.tensor([member.lr for member in run.members], dtype=torch.float64)
            run.stack.learn(x, y, lr_of_each.to(device, non_blocking=True), clip)
            torch.clear_autocast_cache()  # in an autocast around all of this, the weights as they were
            for member in run.members:
                member.holder.step()
                after_update(member.schedule)
            run.update += 1
            bar.update()

            to_save = run.update % checkpoint_every == 0 or run.update == n_updates
            if to_log := run.update % log_every == 0 or run.update == n_updates:
                rows = run.judge(evaluate)
                bar.set_postfix(training=len(run.members), refresh=False)
                for row in rows if log else ():
                    log(row)
            if to_save or (to_log and not run.members):
                run.save()
    return run.rows


class _Member:
    """One of the networks, with what belongs to it alone: data stream, schedule, early stop."""

    def __init__(
        self,
        number: int,
        model: nn.Module,
        loss_fn: nn.Module,
        generator: torch.Generator,
        lr: float,
        schedule: Callable[[torch.optim.Optimizer], LRScheduler] | None,
        early_stop: EarlyStop,
    ) -> None:
        self.number, self.model, self.loss_fn = number, model, loss_fn
        self.generator, self.early_stop = generator, early_stop
        # An optimizer of nothing: a schedule wants one, whose learning rate it changes.
        self.holder = torch.optim.Adam([torch.zeros(1, requires_grad=True)], lr=lr)
        self.schedule = schedule(self.holder) if schedule else None
        if self.holder.param_groups[0]["betas"] != BETAS:
            raise ValueError(
                "schedule must change nothing but the learning rate; got one that changes Adam's betas "
                "(OneCycleLR has cycle_momentum=False for that)"
            )

    @property
    def lr(self) -> float:
        return self.holder.param_groups[0]["lr"]

    def state(self) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(),
            "generator": self.generator.get_state(),
            "holder": self.holder.state_dict(),
            "schedule": self.schedule.state_dict() if self.schedule else {},
            "early_stop": self.early_stop.state(),
        }

    def load(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.generator.set_state(state["generator"].cpu())
        self.holder.load_state_dict(state["holder"])
        if self.schedule:
            self.schedule.load_state_dict(state["schedule"])
        self.early_stop.load(state["early_stop"])


class _Stack:
    """The weights of K networks, [K, ...] each, and Adam on them (Kingma & Ba 2015, Algorithm 1)."""

    def __init__(self, members: list[_Member]) -> None:
        self.model, self.loss_fn = members[0].model, members[0].loss_fn
        parameters, buffers = stack_module_state([member.model for member in members])
        learnt = {name for name, parameter in self.model.named_parameters() if parameter.requires_grad}
        self.parameters = {name: parameters[name].detach().requires_grad_() for name in parameters if name in learnt}
        self.fixed = {name: value.detach() for name, value in (parameters | buffers).items() if name not in learnt}
        of_loss = stack_module_state([member.loss_fn for member in members])
        device = next(self.model.parameters()).device
        self.of_loss = {name: value.detach().to(device) for part in of_loss for name, value in part.items()}
        # The gradient's moments.
        self.first = {name: _zeros_for_moments(value) for name, value in self.parameters.items()}
        self.second = {name: _zeros_for_moments(value) for name, value in self.parameters.items()}
        self.updates = 0
        self.numbers = LastNumbers()

    def learn(self, x: Tensor, y: Tensor, lr: Tensor, clip: float) -> None:
        """One update of every network that is still going. x, y: [K, batch, ...]; lr: [K]."""
        terms = vmap(self._terms)(self.parameters, self.fixed, self.of_loss, x, y)
        # The networks share nothing, so that the gradient of the sum is each one's gradient of its own loss.
        gradients = torch.autograd.grad(terms.total.sum(), list(self.parameters.values()), materialize_grads=True)
        norms = torch.stack([gradient.reshape(len(gradient), -1).norm(dim=1) for gradient in gradients])
        grad_norm = torch.linalg.vector_norm(norms, dim=0)  # [K]
        self.updates += 1
        self.numbers.see(self.updates, terms, grad_norm=grad_norm, lr=lr)
        scale = (clip / (grad_norm + 1e-6)).clamp(max=1)  # as `clip_grad_norm_` has it
        lr = torch.where(self.numbers.finite, lr, 0.0)
        with torch.no_grad():
            for name, gradient in zip(self.parameters, gradients, strict=True):
                self._adam(name, gradient * _per_network(scale, gradient), lr)

    def _terms(self, parameters: Tensors, fixed: Tensors, of_loss: Tensors, x: Tensor, y: Tensor) -> Any:
        output = functional_call(self.model, (parameters, fixed), (x,))
        return functional_call(self.loss_fn, of_loss, (output, y))

    def _adam(self, name: str, gradient: Tensor, lr: Tensor) -> None:
        first, second, parameter = self.first[name], self.second[name], self.parameters[name]
        gradient, lr = gradient.to(first.dtype), _per_network(lr, first).to(first.dtype)
        first.lerp_(gradient, 1 - BETAS[0])
        second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        root = (second / (1 - BETAS[1] ** self.updates)).sqrt_().add_(EPS)
        step = first / root * (lr / (1 - BETAS[0] ** self.updates))
        parameter.sub_(torch.where(lr > 0, step, 0.0))  # not 0 * nan, where a network is not to learn

    def keep(self, rows: list[int]) -> None:
        """Go on with these networks."""
        for tensors in (self.parameters, self.fixed, self.of_loss, self.first, self.second):
            for name, value in tensors.items():
                tensors[name] = value.detach()[rows].requires_grad_(value.requires_grad)
        self.numbers.keep(rows)

    @torch.no_grad()
    def hand_back(self, members: list[_Member]) -> None:
        """Give the networks their weights, and what else the forward pass has changed."""
        for k, member in enumerate(members):
            for name, value in {**dict(member.model.named_parameters()), **dict(member.model.named_buffers())}.items():
                value.copy_((self.parameters if name in self.parameters else self.fixed)[name][k])


def _zeros_for_moments(parameter: Tensor) -> Tensor:
    """At least float32: in float16 Adam's EPS would be 0."""
    return torch.zeros_like(parameter, dtype=torch.promote_types(parameter.dtype, torch.float32))


def _per_network(value: Tensor, like: Tensor) -> Tensor:
    return value.view(-1, *[1] * (like.ndim - 1))  # [K] -> [K, 1, ...]


class _Run:
    """What the training of many networks must remember to go on after it was cut off."""

    def __init__(self, members: list[_Member], settings: dict[str, Any], folder: Path | str | None) -> None:
        self.all, self.members, self.settings = members, list(members), settings
        self.update, self.rows = 0, []
        self.path = None if folder is None else Path(folder) / "last.pt"
        if self.path is not None and self.path.exists():
            self._resume()
        else:
            self.stack = _Stack(self.members)

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *_: object) -> None:
        if self.members:
            self.stack.hand_back(self.members)

    def judge(self, evaluate: Callable[[nn.Module], Row] | None) -> list[Row]:
        """A row for every network in the stack; those that have stopped leave it."""
        self.stack.hand_back(self.members)
        rows, stay = [], []
        for k, (member, numbers) in enumerate(zip(self.members, self.stack.numbers.rows(), strict=True)):
            row = {"network": member.number, **numbers, "stopped": "diverged" if not_finite(numbers) else ""}
            if evaluate and not row["stopped"]:
                row |= evaluated(evaluate, member.model)
                member.early_stop.judge(row)
                after_evaluation(member.schedule, row[member.early_stop.monitor])
                row["stopped"] = "early" if member.early_stop.stopped else ""
            rows.append(row)
            if not row["stopped"]:
                stay.append(k)
        if len(stay) < len(self.members):
            self.members = [self.members[k] for k in stay]
            self.stack.keep(stay)
        self.rows += rows
        return rows

    def save(self) -> None:
        if self.path is None:
            return
        self.stack.hand_back(self.members)
        state = {
            "settings": self.settings,
            "members": [member.state() for member in self.all],
            "going": [member.number for member in self.members],
            "stack": [self.stack.first, self.stack.second, self.stack.numbers.state()],
            "rng": rng_state(self.all[0].generator.device, self.all[0].generator),
            "run": [self.update, self.rows],
        }
        save_checkpoint(self.path, state)

    def _resume(self) -> None:
        generator = self.all[0].generator
        state = load_checkpoint(self.path, generator.device)
        check_same_run(self.path, state["settings"], self.settings)
        for member, its in zip(self.all, state["members"], strict=True):
            member.load(its)
        set_rng_state(generator.device, generator, state["rng"])
        self.members = [self.all[number] for number in state["going"]]
        self.update, self.rows = state["run"]
        self.stack = _Stack(self.members or self.all)
        self.stack.updates = self.update
        self.stack.first, self.stack.second, numbers = state["stack"]
        self.stack.numbers.load(numbers)


def _check_alike(name: str, modules: Sequence[nn.Module]) -> None:
    """Refuse modules that differ in more than the values of their tensors: only the first one's code is run."""
    first = _shape_of(modules[0])
    for k, module in enumerate(modules):
        if (its := _shape_of(module)) != first:
            differing = sorted({str(part) for part in {*first} ^ {*its}})
            raise ValueError(
                f"{name} must differ in nothing but the values of parameters and buffers; got {name}[0] and "
                f"{name}[{k}], which differ in {', '.join(differing)}"
            )


def _shape_of(module: nn.Module) -> set[tuple]:
    """Every submodule's class and plain attributes, every tensor's shape."""
    parts = {(name, type(part).__qualname__) for name, part in module.named_modules()}
    for name, part in module.named_modules():
        for key, value in vars(part).items():
            if isinstance(value, Tensor):
                parts.add((f"{name}.{key}", str(value.tolist())))
            elif key != "training" and (not key.startswith("_") or isinstance(value, Real | str)):  # torch has its own
                parts.add((f"{name}.{key}", repr(value)))
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return parts | {(name, tuple(t.shape), str(t.dtype), t.requires_grad) for name, t in tensors.items()}
