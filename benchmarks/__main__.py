"""Print and store the table: for each claim the two medians, their ratio, and its spread over interleaved rounds.

Times on a shared machine wander; ratios within one run hold. Each round times both sides one after the other.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.datasets import MNIST, VisionDataset

from ponder_utils import (
    ConvEncoder,
    EncodedStep,
    GRUStep,
    MLPCell,
    ParityTask,
    PonderLoss,
    PonderNet,
    RecurrentStep,
    RNNStep,
    RotationTask,
    evaluate,
    load_digits,
    train,
)

ROUNDS = 25
TASK = ParityTask(8)


def seconds(call: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(name: str, ours: Callable[[], object], other: Callable[[], object], rounds: int = ROUNDS) -> dict:
    """Time both sides in turn; the ratio is ours / other, per round."""
    ours()
    other()
    pairs = [(seconds(ours), seconds(other)) for _ in range(rounds)]
    quartiles = statistics.quantiles([a / b for a, b in pairs], n=4)
    return {
        "claim": name,
        "ours_ms": round(1e3 * statistics.median(a for a, _ in pairs), 3),
        "other_ms": round(1e3 * statistics.median(b for _, b in pairs), 3),
        "ratio": round(quartiles[1], 3),
        "quartiles": [round(quartiles[0], 3), round(quartiles[2], 3)],
    }


class OneByOne(Dataset):
    """Parity as published data sets make it: one small vector after the other, for a DataLoader to stack."""

    def __len__(self) -> int:
        return 128

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        k = int(torch.randint(1, TASK.n_elements + 1, (1,)))
        x = torch.zeros(TASK.n_elements)
        x[:k] = torch.randint(0, 2, (k,)) * 2.0 - 1.0
        x = x[torch.randperm(TASK.n_elements)]
        return x, (x == 1.0).sum() % 2


def trained_network(step: nn.Module, n_updates: int, flush_subnormals: bool = True) -> PonderNet:
    """One of the notebook's networks, after so many updates."""
    model = PonderNet(step, max_steps=20)
    loss = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), lambda_p=0.2, max_steps=20)
    options = {"lr": 7e-3, "clip": 0.1, "progress": False, "flush_subnormals": flush_subnormals}
    train(model, loss, lambda g: TASK.batch(128, g), n_updates, **options)
    return model


def inference_rows(model: PonderNet) -> list[dict]:
    """Sampled halting against all N steps, on a trained network."""
    rows = []
    for batch_size in (1, 128, 1024, 8192):
        x, y = TASK.batch(batch_size, torch.Generator().manual_seed(1))
        mean_steps = evaluate(model, x, y).steps
        row = compare(
            f"predict by sampling / all {model.max_steps} steps, batch {batch_size}",
            lambda x=x: model.predict(x, "sample"),
            lambda x=x: model.predict(x, "fixed", step=model.max_steps),
        )
        rows.append(row | {"ideal": round(mean_steps / model.max_steps, 3)})
    return rows


class LikeMNIST(MNIST):
    """torchvision's data set, image by image through PIL, on images that need not be fetched."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor, transform: Callable) -> None:
        VisionDataset.__init__(self, root="", transform=transform)
        self.data, self.targets = x[:, 0], y


def image_rows() -> list[dict]:
    """Rotated digits: the data of an epoch, and a training iteration of the network of the two write-ups."""
    x, y = load_digits("digits").train
    task, generator = RotationTask(x, y, within=22.5), torch.Generator().manual_seed(0)
    turn = transforms.Compose(  # as in the notebook of the write-ups
        [transforms.RandomRotation(22.5), transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
    )
    loader = DataLoader(LikeMNIST(x, y, turn), batch_size=128, shuffle=True)

    once = EncodedStep(ConvEncoder(64), RecurrentStep(MLPCell(64, 64, dropout=0.2), n_outputs=10))
    loss = PonderLoss(nn.CrossEntropyLoss(reduction="none"), lambda_p=0.2, max_steps=20)

    def every_step(x: torch.Tensor, h: torch.Tensor | None) -> tuple:
        return once(once.start(x)[0], h)

    def iteration(step: Callable) -> None:
        inputs, labels = task.batch(128, generator)
        loss(PonderNet(step, 20)(inputs), labels).total.backward()

    return [
        compare(
            "an epoch of rotated digits in batches / image by image",
            lambda: [task.batch(128, generator)[0].sub_(0.1307).div_(0.3081) for _ in loader.batch_sampler],
            lambda: list(loader),
        ),
        compare(
            "a training iteration, encoder once / at each of 20 steps",
            lambda: iteration(once),
            lambda: iteration(every_step),
            rounds=7,
        ),
    ]


def subnormal_rows() -> list[dict]:
    """The first 300 updates, with subnormal numbers flushed to zero, as `train` does, and with them kept."""

    def first_updates(step: type[RNNStep | GRUStep], n_hidden: int, flush: bool) -> None:
        torch.manual_seed(0)
        trained_network(step(TASK.n_elements, n_hidden), 300, flush)

    return [
        compare(
            f"300 updates, {step.__name__}: subnormals flushed / kept",
            lambda step=step, n=n: first_updates(step, n, True),
            lambda step=step, n=n: first_updates(step, n, False),
            rounds=3,
        )
        for step, n in ((RNNStep, 128), (GRUStep, 64))
    ]


def main() -> None:
    """Measure everything, on one thread; a minute or two."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    one_by_one = DataLoader(OneByOne(), batch_size=128)
    rows = [
        compare(
            "a batch of 128 at once / sample by sample",
            lambda: TASK.batch(128, generator),
            lambda: next(iter(one_by_one)),
        ),
        *image_rows(),
        *subnormal_rows(),
        *inference_rows(trained_network(GRUStep(TASK.n_elements, 64), 2000)),
    ]
    made_with = {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": torch.get_num_threads(),
        "rounds": ROUNDS,
    }
    for row in rows:
        ideal = f"  (steps needed / N: {row['ideal']})" if "ideal" in row else ""
        low, high = row["quartiles"]
        times = f"{row['ours_ms']:9.3f} ms {row['other_ms']:9.3f} ms"
        print(f"{row['claim']:62} {times}  {row['ratio']:.3f} [{low}, {high}]{ideal}")
    path = Path(__file__).parent / "latest.json"
    path.write_text(json.dumps({"made_with": made_with, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
