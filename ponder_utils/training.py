"""One training loop, for every network of the course."""

import json
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau
from tqdm import tqdm

from ponder_utils._check import check_choice, check_int, check_real
from ponder_utils.checkpoints import in_use, load_checkpoint, save_checkpoint
from ponder_utils.epochs import Epochs
from ponder_utils.evaluation import modes_kept
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
    """Train a network and return the logged rows.

    If `checkpoint_dir` holds the checkpoint of a run that was cut off, that run goes on from there, and ends as it
    would have ended. For mixed precision, call it within `torch.autocast(device, torch.bfloat16)`: weights, optimizer,
    halting distribution and loss stay float32.

    Args:
        model: trained in place, on the device of its parameters.
        loss_fn: (model(x), y) -> a scalar, or a named tuple of scalars with a field `total`, such as `PonderLoss`.
        batches: generator -> (x, y), or an iterable of such pairs, such as a `DataLoader`, read again when it ends.
            What has a `state_dict` and a `load_state_dict`, as a `Curriculum` has, is kept in checkpoints.
        n_updates: how many batches to learn from, at most.
        lr, optimizer: either the learning rate of Adam, or any optimizer of the model's parameters.
        schedule: optimizer -> learning rate schedule, which steps after every update; a `ReduceLROnPlateau` at every
            evaluation, on the monitored number.
        clip: largest norm of the gradient; None for no limit.
        seed: of the generator that batches are drawn with.
        evaluate: model, in training mode -> numbers to log; called at every logged update, the last one included.
        monitor, mode: the number of `evaluate` that says which checkpoint is best, and whether "max" or "min" is best.
        patience: stop after so many evaluations without a new best.
        log: called with every row, such as a function that hands it to a tracker.
        checkpoint_dir: where `last.pt` is written every `checkpoint_every` updates, and `best.pt` at a new best.
        config: what this run is, in numbers and strings, kept in checkpoints. A run with another one, or with other
            parameters, optimizer, schedule or numbers above, does not continue them.

    There is a row every `log_every` updates and at the last: update, the terms of the loss, grad_norm (before
    clipping), lr, and what `evaluate` gave. The model ends with the last weights; `best.pt` has the best.
    NonFiniteError at the first update whose loss or gradient is not finite, before it reaches the weights; ValueError
    or TypeError if an argument is not as above, or a checkpoint is of another run.
    """
    for name, value in {"n_updates": n_updates, "log_every": log_every, "checkpoint_every": checkpoint_every}.items():
        check_int(name, value, 1)
    check_int("seed", seed, 0)
    check_choice("mode", mode, ("max", "min"))
    max_norm = math.inf if clip in (None, math.inf) else check_real("clip", clip, 0, open_low=True)
    max_since_best = math.inf if patience is None else check_int("patience", patience, 1)
    if not model.training:  # if it is, a part of it that is evaluating, such as a frozen encoder, stays so
        model.train()
    optimizer = _checked_optimizer(model, lr, optimizer)
    if isinstance(schedule, LRScheduler) or schedule is cool_down:
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
    draw: Any = batches if callable(batches) else Epochs(batches)
    numbers = {"clip": clip, "seed": seed, "log_every": log_every, "monitor": monitor, "mode": mode,
               "patience": patience, "device": device.type, "batches": type(batches).__name__}  # fmt: skip
    try:
        run = {"config": json.dumps(config), **numbers, **_description(model, optimizer, scheduler)}
    except TypeError as error:
        raise TypeError(f"config must be a dict of numbers, strings, lists and dicts; {error}") from None
    generators = [generator, torch.default_generator]
    if device.type == "cuda":
        generators.append(torch.cuda.default_generators[device.index])
    parts = {"model": model, "optimizer": optimizer, "schedule": scheduler, "batches": draw}
    parts = {name: part for name, part in parts.items() if hasattr(part, "load_state_dict")}
    folder = None if checkpoint_dir is None else Path(checkpoint_dir)
    update, rows, best, since_best = 0, list[Row](), -math.inf, 0

    def save(name: str) -> None:
        if folder is not None:
            state = {part_name: part.state_dict() for part_name, part in parts.items()}
            state |= {"run": run, "random": [random.get_state() for random in generators], "rows": rows}
            state |= {"update": update, "best": best, "since_best": since_best}
            save_checkpoint(folder / name, state)

    with in_use(folder), tqdm(total=n_updates, disable=not progress, file=sys.stdout, mininterval=0.5) as bar:
        if folder is not None and (folder / "last.pt").exists():
            state = load_checkpoint(folder / "last.pt")
            _check_same_run(folder / "last.pt", run, state.get("run", {}))
            for part_name, part in parts.items():
                part.load_state_dict(state[part_name])
            for random, random_state in zip(generators, state["random"], strict=True):
                random.set_state(random_state)
            rows, best, since_best = state["rows"], state["best"], state["since_best"]
            update = check_int("updates in checkpoint_dir", state["update"], 0, n_updates)
            bar.update(update)

        while update < n_updates and since_best < max_since_best:
            update += 1
            x, y = _on_device(draw(generator), device)
            buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}  # such as running means
            loss = loss_fn(model(x), y)
            terms = loss._asdict() if hasattr(loss, "_asdict") else {"total": loss}
            model.zero_grad()
            terms["total"].backward()
            terms["grad_norm"] = nn.utils.clip_grad_norm_(weights, max_norm)
            values = torch.stack([term.detach().double() for term in terms.values()]).tolist()
            row = {"update": update, **dict(zip(terms, values, strict=True))}
            if not all(map(math.isfinite, values)):
                for name, buffer in model.named_buffers():
                    if name in buffers and buffer.shape == buffers[name].shape:
                        buffer.copy_(buffers[name])
                raise NonFiniteError(update, row)
            row["lr"] = optimizer.param_groups[0]["lr"]
            optimizer.step()
            torch.clear_autocast_cache()  # in an autocast around all of this, it holds the weights as they were
            if scheduler is not None and plateau is None:
                scheduler.step()
            bar.update()

            if update % log_every == 0 or update == n_updates:
                rows.append(row)
                if evaluate is not None:
                    with modes_kept(model):
                        scores = evaluate(model)
                    check_choice("monitor", monitor, [*scores])
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
                    log(row)
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
        return torch.optim.Adam(model.parameters(), lr=check_real("lr", lr, 0, open_low=True), fused=True)
    if not isinstance(optimizer, torch.optim.Optimizer) or isinstance(optimizer, torch.optim.LBFGS):
        wanted = "an instance, such as torch.optim.SGD(model.parameters(), 0.1), and not LBFGS, which needs a closure"
        raise TypeError(f"optimizer must be {wanted}; got {optimizer!r}")
    own = {id(weight) for weight in model.parameters()}
    if any(id(weight) not in own for group in optimizer.param_groups for weight in group["params"]):
        raise ValueError("optimizer must hold parameters of model alone; got some of another network, such as a copy")
    return optimizer


def _description(model: nn.Module, optimizer: torch.optim.Optimizer, scheduler: LRScheduler | None) -> Row:
    """Return what the loop knows of a run by itself."""
    names = {id(weight): name for name, weight in model.named_parameters()}
    groups = [group | {"params": [names[id(weight)] for weight in group["params"]]} for group in optimizer.param_groups]
    return {
        "parameters": {name: f"{list(value.shape)} {value.dtype}" for name, value in model.named_parameters()},
        "optimizer": f"{type(optimizer).__name__} {groups}",
        "schedule": f"{type(scheduler).__name__} {scheduler.state_dict() if scheduler else ''}",
    }


def _check_same_run(path: Path, here: Row, there: Row) -> None:
    there = {name: there.get(name, "nothing") for name in here}
    different = [f"{name}: {here[name]} here, {there[name]} there" for name in here if here[name] != there[name]]
    if different:
        advice = "Give each run a folder of its own, or delete the checkpoint."
        raise ValueError(f"checkpoint_dir holds {path}, of another run: {'; '.join(different)}. {advice}")


def _on_device(batch: Any, device: torch.device) -> tuple[Any, Any]:
    if not isinstance(batch, tuple | list) or len(batch) != 2:
        raise TypeError(f"batches must give pairs (x, y); got {type(batch).__name__}")
    x, y = map_states(lambda part: part.to(device), tuple(batch))
    return x, y
