"""The cells of notebooks/05_light_cone.ipynb that are tagged `source`: change them there, then `make sources`."""

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim.lr_scheduler import LambdaLR

import ponder_utils as pu
from ponder_course.common.lines import AdditionTask, LineParityTask
from ponder_utils import PonderNet


class LocalStep(pu.Step):
    def __init__(self, in_channels: int, channels: int, noise: float = 0.0) -> None:
        super().__init__()
        self.from_x = nn.Conv1d(in_channels, channels, 1)  # W_x: each place by itself
        self.from_h = nn.Conv1d(channels, channels, 3, padding=1)  # W_h: with both neighbours
        self.heads = nn.Conv1d(channels, 2, 1)  # at each place: an answer and a vote
        self.noise = noise

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:  # [lines, in_channels, places]
        z = self.from_x(x)  # once, before the first step
        return z, torch.zeros_like(z)  # and h_0

    def move(self, z: Tensor, h: Tensor) -> Tensor:  # [lines, channels, places] each
        h = torch.tanh(self.from_h(h) + z)  # (1)
        return h + self.noise * torch.randn_like(h) if self.training else h

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        y_hat, votes = self.heads(h).unbind(1)  # [lines, places] each
        return y_hat, votes.amin(1)  # the least vote is the line's


def loss_of_line(y_hat: Tensor, y: Tensor) -> Tensor:  # [lines, places] twice -> [lines]
    return binary_cross_entropy_with_logits(y_hat, y, reduction="none").mean(1)


def whole_lines_right(y_hat: Tensor, y: Tensor) -> Tensor:  # [..., lines, places] -> [..., lines]
    return ((y_hat > 0) == (y > 0.5)).all(-1)


def untrained(seed: int, N: int = 20) -> PonderNet:
    torch.manual_seed(seed)
    return PonderNet(LocalStep(2, 32, noise=0.1), N)


def learn(
    loss_fn: nn.Module,
    seed: int,
    task: LineParityTask | AdditionTask,
    N: int,
    updates: int,
    device: torch.device,
) -> tuple[PonderNet, list[dict]]:
    model = untrained(seed, N).to(device)
    generator = torch.Generator(device).manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, fused=True)
    schedule = LambdaLR(optimizer, lambda update: min(1, 2 - 2 * update / updates))
    x_new, y_new = (part.to(device) for part in task.batch(500, torch.Generator().manual_seed(1)))
    log = []
    for update in range(1, updates + 1):
        x, y = task.batch(64, generator)
        loss = loss_fn(model(x), y).total
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if update % (updates // 20) == 0:
            score = pu.evaluate(model, x_new, y_new, whole_lines_right)
            log.append({"update": update, "accuracy": score.accuracy, "steps": score.steps})
    return model.eval(), log


@torch.no_grad()
def halt(model: PonderNet, x: Tensor, N: int, level: float = 0.2) -> tuple[Tensor, Tensor]:
    z, h = model.step.encode(x)
    y_hat = torch.zeros_like(x[:, 0])  # [lines, places]
    steps = torch.zeros(len(x), dtype=torch.long, device=x.device)  # 0: has not halted
    for n in range(1, N + 1):
        answers, h, halt_logit = model.step(z, h)
        ready = (halt_logit.sigmoid() >= level) | (n == N)
        now = ready & (steps == 0)
        y_hat[now] = answers[now]
        steps[now] = n
    return y_hat, steps
