"""One training loop, for every network of the course."""

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau
from tqdm import tqdm

from ponder_utils._check import check_choice, check_int, check_real
from ponder_utils.checkpoints import (
    bare,
    diff,
    exclusive_lock,
    load_checkpoint,
    load_weights,
    plain,
    save_checkpoint,
    settings,
)
from ponder_utils.epochs import Draws, Epochs, GlobalRandom
from ponder_utils.evaluation import preserve_modes
from ponder_utils.states import map_states

Row = dict[str, Any]
Batches = Callable[[torch.Generator], tuple[Any, Any]] | Iterable[tuple[Any, Any]]
Schedule = Callable[[torch.optim.Optimizer], LRScheduler]


class NonFiniteError(FloatingPointError):
    """A term of the loss, or the gradient, is inf or nan at this `update`. The weights are those before it."""

    def __init__(self, update: int, row: Row) -> None:
        super().__init__(update, row)
        self.update, self.row = update, row

    def __str__(self) -> str:
        bad = ", ".join(name for name, value in self.row.items() if not math.isfinite(value))
        shown = ", ".join(f"{name} = {value:.6g}" for name, value in self.row.items() if name != "update")
        return f"update {self.update}: {bad} not finite ({shown}); the weights were not updated"


def train(
    model: nn.Module, loss_fn: Callable[[Any, Any], Any], batches: Batches, n_updates: int, *,
    lr: float | None = None, optimizer: torch.optim.Optimizer | None = None, schedule: Schedule | None = None,
    clip: float | None = 1.0, seed: int = 0, evaluate: Callable[[nn.Module], Row] | None = None,
    monitor: str = "accuracy", mode: str = "max", patience: int | None = None,
    log: Callable[[Row], Any] | None = None, log_every: int = 100, checkpoint_dir: Path | str | None = None,
    checkpoint_every: int = 500, config: Row | None = None, progress: bool = True,
) -> list[Row]:  # fmt: skip
    """Train a network in one process, and return the logged rows, which hold Python's own numbers.

    If `checkpoint_dir` holds the checkpoint of a run that was cut off, that run goes on from there, and ends as it
    would have ended. For mixed precision, call it within `torch.autocast(device, torch.bfloat16)`: weights, optimizer,
    halting distribution and loss stay float32.

    Args:
        model: trained in place, on the device of its parameters.
        loss_fn: (model(x), y) -> a scalar, or a named tuple or dict of scalars with a `total`, such as `PonderLoss`.
        batches: generator -> (x, y), drawn by this generator or by the global random numbers; or an iterable of such
            pairs, such as a `DataLoader`, read again when it ends (see `Epochs`). If a function has a `state_dict` and
            a `load_state_dict`, as a `Curriculum` has, its state is kept in checkpoints.
        n_updates: how many batches to learn from, at most.
        lr, optimizer: either the learning rate of Adam, or any optimizer of the model's parameters.
        schedule: optimizer -> learning rate schedule, which steps after every update; a `ReduceLROnPlateau` at every
            evaluation, on the monitored number.
        clip: largest norm of the gradient; None for no limit.
        seed: of the generator that batches are drawn with.
        evaluate: model, in training mode -> a dict or named tuple of numbers to log; called at every logged update,
            the last one included.
        monitor, mode: the number of `evaluate` that says which checkpoint is best, and whether "max" or "min" is best.
        patience: stop after so many evaluations without a new best.
        log: called with every row, such as a function that hands it to a tracker.
        checkpoint_dir: where `last.pt` is written every `checkpoint_every` updates, and `best.pt` at a new best.
        config: what this run is, in numbers and strings, kept in checkpoints. A run with another one, or with other
            parameters, optimizer, schedule, numbers above, or `settings` of model, loss and batches, does not continue
            them.

    There is a row every `log_every` updates and at the last: update, the terms of the loss, grad_norm (before
    clipping), lr, and what `evaluate` gave. The model ends with the last weights; `best.pt` has the best.
    NonFiniteError at the first update whose loss or gradient is not finite, before it reaches the weights; ValueError
    or TypeError if an argument is not as above, or a checkpoint is of another run, or of other batches.
    """
    if distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1:
        why = "or all would draw the same batches; docs/package.md has a loop for several"
        raise ValueError(f"train must run in one process, {why}; torch.distributed has {distributed.get_world_size()}")
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be an nn.Module; got {model!r}")
    for name, function in {"loss_fn": loss_fn, "evaluate": evaluate, "log": log}.items():
        if not callable(function) and (function is not None or name == "loss_fn"):
            raise TypeError(f"{name} must be a function; got {function!r}")
    if not (callable(batches) or hasattr(batches, "__iter__") or hasattr(batches, "__getitem__")):
        raise TypeError(f"batches must be a function generator -> (x, y), or an iterable of pairs; got {batches!r}")
    if not isinstance(checkpoint_dir, str | os.PathLike | None):
        raise TypeError(f"checkpoint_dir must be a path, or None; got {checkpoint_dir!r}")
    for name, value in {"n_updates": n_updates, "log_every": log_every, "checkpoint_every": checkpoint_every}.items():
        check_int(name, value, 1)
    seed = check_int("seed", seed, 0, 2**64 - 1)
    check_choice("mode", mode, ("max", "min"))
    max_norm = math.inf if clip in (None, math.inf) else check_real("clip", clip, 0, open_low=True)
    max_since_best = math.inf if patience is None else check_int("patience", patience, 1)
    if not model.training:  # if it is, a part of it that is evaluating, such as a frozen encoder, stays so
        model.train()
    optimizer = _checked_optimizer(model, lr, optimizer)
    if schedule is cool_down or not (schedule is None or callable(schedule)):
        raise TypeError(f"schedule must be a function optimizer -> schedule, such as cool_down(2000); got {schedule!r}")
    scheduler = None if schedule is None else schedule(optimizer)
    plateau = scheduler if isinstance(scheduler, ReduceLROnPlateau) else None
    if evaluate is None and (patience is not None or plateau is not None):
        raise ValueError("patience and ReduceLROnPlateau need evaluate; got evaluate=None")
    if plateau is not None and plateau.mode != mode:
        raise ValueError(f"mode must be that of the ReduceLROnPlateau, {plateau.mode!r}; got {mode!r}")

    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    device = weights[0].device
    generator = torch.Generator(device).manual_seed(seed)
    folder = None if checkpoint_dir is None else Path(checkpoint_dir).resolve()
    global_random = GlobalRandom(device)
    draw: Any = batches
    if not callable(batches):
        draw = Epochs(batches, global_random, resumable=folder is not None)
    elif folder is not None and not hasattr(batches, "load_state_dict"):
        draw = Draws(batches, global_random)
    try:
        run: Row = {"config": json.dumps(json.loads(json.dumps(plain(config))), sort_keys=True)}
    except TypeError as error:
        raise TypeError(f"config must be a dict of numbers, strings, lists and dicts; {error}") from None
    parts = {"batches": draw, "model": model, "optimizer": optimizer, "schedule": scheduler, "loss_fn": loss_fn}
    parts = {name: part for name, part in parts.items() if hasattr(part, "load_state_dict")} | {"random": global_random}
    if folder is not None:
        run |= {"clip": clip, "seed": seed, "log_every": log_every, "monitor": monitor, "mode": mode,
                "patience": patience, "device": device.type, **_description(model, optimizer, scheduler)}  # fmt: skip
        run |= settings("model", model) | settings("loss_fn", loss_fn, tensors=True) | settings("batches", batches)
        run["batches"] = f"{type(draw).__name__} {type(batches).__name__}"  # not its own name, if it is a function
    update, rows, best, since_best = 0, list[Row](), -math.inf, 0

    def save(name: str) -> None:
        if folder is not None:
            state = {part_name: part.state_dict() for part_name, part in parts.items()}
            state |= {"run": run, "generator": generator.get_state(), "rows": rows}
            state |= {"update": update, "best": best, "since_best": since_best}
            save_checkpoint(folder / name, state)

    with exclusive_lock(folder), tqdm(total=n_updates, disable=not progress, file=sys.stdout, mininterval=0.5) as bar:
        if folder is not None and (folder / "last.pt").exists():
            state = load_checkpoint(folder / "last.pt")
            if different := diff(run, state.get("run", {})):
                advice = "Give each run a folder of its own, or delete the checkpoint."
                raise ValueError(f"checkpoint_dir holds {folder / 'last.pt'}, of another run: {different}. {advice}")
            update = check_int("updates in checkpoint_dir", state["update"], 0, n_updates)
            for part_name, part in parts.items():  # batches first: they may be refused before anything is written
                if part is model:
                    load_weights(model, folder / "last.pt")
                else:
                    part.load_state_dict(state[part_name])
            generator.set_state(state["generator"])
            rows, best, since_best = state["rows"], state["best"], state["since_best"]
            bar.update(update)

        while update < n_updates and since_best < max_since_best:
            update += 1
            x, y = _on_device(draw(generator), device)
            buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}  # such as running means
            terms = _loss_terms(loss_fn(model(x), y))
            model.zero_grad()
            terms["total"].backward()
            terms["grad_norm"] = nn.utils.clip_grad_norm_(weights, max_norm)
            row: Row = {"update": update, **{name: float(plain(term)) for name, term in terms.items()}}
            if not all(map(math.isfinite, row.values())):
                for name, buffer in model.named_buffers():
                    if name in buffers and buffer.shape == buffers[name].shape:
                        buffer.copy_(buffers[name])
                raise NonFiniteError(update, row)
            row["lr"] = float(optimizer.param_groups[0]["lr"])  # of a tensor, too, which a schedule changes
            optimizer.step()
            torch.clear_autocast_cache()  # in an autocast around all of this, it holds the weights as they were
            if scheduler is not None and plateau is None:
                scheduler.step()
            bar.update()

            if update % log_every == 0 or update == n_updates:
                rows.append(row)
                if evaluate is not None:
                    with preserve_modes(model):
                        scores = plain(_as_dict("evaluate", evaluate(model)))
                    check_choice("monitor", monitor, [*scores])
                    if not isinstance(scores[monitor], Real):
                        raise TypeError(f"evaluate must give a number as {monitor!r}; got {scores[monitor]!r}")
                    if clash := row.keys() & scores.keys():
                        raise ValueError(f"evaluate must return other names than a row has; got {sorted(clash)}")
                    row |= scores
                    value = row[monitor] if mode == "max" else -row[monitor]
                    since_best += 1
                    if plateau is not None:
                        plateau.step(row[monitor])
                    if value > best:
                        best, since_best = value, 0
                        save("best.pt")
                bar.set_postfix({name: f"{row[name]:.3f}" for name in ("total", monitor) if name in row}, refresh=False)
                if log is not None:
                    log(plain(row))
            if update % checkpoint_every == 0 or update == n_updates or since_best >= max_since_best:
                save("last.pt")
    return rows


@dataclass
class CoolDown:
    """The factor of `cool_down` at an update: an object, so that checkpoints hold its number of updates."""

    n_updates: int

    def __call__(self, update: int) -> float:
        """Return 1 for half of the updates, 0 at the last and after."""
        return max(0.0, min(1.0, 2 - 2 * update / self.n_updates))


def cool_down(n_updates: int) -> Schedule:
    """Return a schedule: the learning rate stays for half of the updates, and then falls in a line to 0."""
    return partial(LambdaLR, lr_lambda=CoolDown(check_int("n_updates", n_updates, 1)))


def _checked_optimizer(model: nn.Module, lr: Any, optimizer: Any) -> torch.optim.Optimizer:
    if next(model.parameters(), None) is None:
        raise ValueError("model must have parameters to train; got one without")
    if (lr is None) == (optimizer is None):
        raise ValueError(f"give either lr, for Adam, or optimizer; got lr={lr!r} and optimizer={optimizer!r}")
    if optimizer is None:
        optimizer = torch.optim.Adam(model.parameters(), lr=check_real("lr", lr, 0, open_low=True), fused=True)
    if not isinstance(optimizer, torch.optim.Optimizer) or isinstance(optimizer, torch.optim.LBFGS):
        wanted = "an instance, such as torch.optim.SGD(model.parameters(), 0.1), and not LBFGS, which needs a closure"
        raise TypeError(f"optimizer must be {wanted}; got {optimizer!r}")
    own = {id(weight) for weight in model.parameters()}
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    if any(id(weight) not in own for weight in weights):
        raise ValueError("optimizer must hold parameters of model alone; got some of another network, such as a copy")
    if not any(weight.requires_grad for weight in weights):
        raise ValueError("model and optimizer must have weights that learn, with requires_grad; got none")
    return optimizer


def _description(model: nn.Module, optimizer: torch.optim.Optimizer, scheduler: LRScheduler | None) -> Row:
    """Return what the loop knows of a run by itself."""
    names = {id(weight): bare(name) for name, weight in model.named_parameters()}
    groups = [group | {"params": [names[id(weight)] for weight in group["params"]]} for group in optimizer.param_groups]
    shapes = {names[id(weight)]: f"{list(weight.shape)} {weight.dtype}" for weight in model.parameters()}
    return {
        "parameters": shapes,
        "frozen": [names[id(weight)] for weight in model.parameters() if not weight.requires_grad],
        "optimizer": f"{type(optimizer).__name__} {plain(groups)}",
        "schedule": f"{type(scheduler).__name__} {plain(scheduler.state_dict()) if scheduler else ''}",
    }


def _as_dict(name: str, value: Any) -> Row:
    """Return a dict or named tuple as a new dict; TypeError, with the name of who returned it, if it is neither."""
    if not isinstance(value, Mapping) and not hasattr(value, "_asdict"):
        raise TypeError(f"{name} must return a dict or a named tuple of numbers; got {value!r}")
    return dict(value) if isinstance(value, Mapping) else value._asdict()


def _loss_terms(loss: Any) -> Row:
    """Return the terms of a loss by name, the total among them."""
    terms = {"total": loss} if isinstance(loss, Tensor) else _as_dict("loss_fn", loss)
    total = terms.get("total")
    if not isinstance(total, Tensor) or not total.requires_grad:
        raise ValueError(f"loss_fn must return a `total`, alone or among its terms, that has a gradient; got {loss!r}")
    for name, term in terms.items():
        if not isinstance(term, Real) and getattr(term, "shape", None) != ():
            raise ValueError(f"loss_fn must return scalars alone; got {name} = {term!r}")
    if clash := terms.keys() & {"update", "grad_norm", "lr"}:
        raise ValueError(f"loss_fn must return other names of terms than a row has; got {sorted(clash)}")
    return terms


def _on_device(batch: Any, device: torch.device) -> tuple[Any, Any]:
    if not isinstance(batch, tuple | list) or len(batch) != 2:
        raise TypeError(f"batches must give pairs (x, y); got {type(batch).__name__}")
    x, y = map_states(lambda part: part.to(device), tuple(batch))
    return x, y
