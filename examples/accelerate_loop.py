"""A loop of your own with Hugging Face's Accelerate: several processes, GPUs, accumulated gradients, half precision.

A `PonderNet` is an `nn.Module` and a loss a number, so nothing here is special but `.total`.

    pip install accelerate
    python -m examples.accelerate_loop          # accelerate launch -m examples.accelerate_loop, for several processes
"""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from examples.your_own import ResidualStep, SumTask
from ponder_utils import PonderLoss, PonderNet


def main(n_epochs: int = 3) -> float:
    """Train on stored batches, two to an update; print and return how often the network is right on others."""
    torch.manual_seed(0)
    accelerator = Accelerator(gradient_accumulation_steps=2)
    task = SumTask(n_numbers=5)
    data = TensorDataset(*task.batch(8192, torch.Generator().manual_seed(0)))
    model = PonderNet(ResidualStep(5, 16), max_steps=8)
    loss_fn = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), prior=0.3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    parts = accelerator.prepare(model, loss_fn, optimizer, DataLoader(data, batch_size=64, shuffle=True))
    model, loss_fn, optimizer, loader = parts

    model.train()
    for _ in range(n_epochs):
        for x, y in loader:
            with accelerator.accumulate(model):
                accelerator.backward(loss_fn(model(x), y).total)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()

    x, y = task.batch(1000, torch.Generator().manual_seed(1))
    thinker = accelerator.unwrap_model(model).eval()
    prediction = thinker.predict(x.to(accelerator.device), "quantile", q=0.5)
    accuracy = ((prediction.y_hat.cpu() > 0) == (y > 0.5)).float().mean().item()
    accelerator.print(f"positive or not: right on {accuracy:.1%}, after {prediction.steps.float().mean():.1f} steps")
    return accuracy


if __name__ == "__main__":
    main()
