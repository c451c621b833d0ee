"""The cells of notebooks/13_who_leaves_early.ipynb that are tagged `source`: change them there, then `make sources`."""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

import ponder_utils as pu
from ponder_course.alone_and_together.lesson import Addresses, NodeStep  # of lesson 08
from ponder_course.who_leaves_early.task import DIGITS, ProgramTask  # DIGITS: ten


class Statements(Addresses):  # .addresses: a vector of size / 2 for each variable, digit and ?
    def forward(self, x: Tensor) -> Tensor:  # numbers [batch, tokens, 2] -> [batch, tokens, size]
        return self.addresses[x].flatten(2)


class CausalStep(NodeStep):  # .attention, .mlp and the norms; .read(h): answer and halting logit
    def layer(self, h: Tensor, others: Tensor) -> Tensor:  # [batch, tokens, size] each
        later = torch.ones(h.shape[1], h.shape[1], dtype=torch.bool, device=h.device).triu(1)
        heard, _ = self.attention(h, others, others, need_weights=False, attn_mask=later)
        new = self.norm_attention(h + heard)
        return self.norm_mlp(new + self.mlp(new))


class Reader(nn.Module):
    def __init__(self, n_variables: int, size: int = 64, N: int = 8) -> None:
        super().__init__()
        self.n_variables, self.N = n_variables, N
        self.leave: Callable | None = None  # section 4
        self.statements = Statements(n_variables + DIGITS + 1, size)
        self.step = CausalStep(size, DIGITS)

    def forward(self, x: Tensor) -> pu.PonderOutput:  # in training
        h = shown = self.statements(x)
        left, survival, readings = torch.zeros_like(h), torch.ones_like(h[:, :, :1]), []
        for _ in range(self.N):
            new = self.step.layer(h, shown)
            h = shown = torch.where(torch.rand_like(survival) < 0.25, h, new)  # asleep: keeps h
            readings.append(self.step.read(h))
            if self.leave:
                left, survival = self.leave(left, survival, h, readings[-1][1].sigmoid())
                shown = left + survival * h
        y_hat, a = map(torch.stack, zip(*readings, strict=True))  # a: [N, batch, tokens]
        return pu.PonderOutput(y_hat, a, pu.halting_log_probs(a))


def loss_of_tokens(output: pu.PonderOutput, y: Tensor) -> tuple[Tensor, ...]:
    of_each = pu.PonderLoss(nn.CrossEntropyLoss(reduction="none"), prior=0.8, beta=0.03)
    all_tokens = torch.ones_like(y[:, :, 0], dtype=torch.bool)
    return of_each(output, y, all_tokens)  # y: probabilities of digits, [batch, tokens, DIGITS]


def learn(reader: Reader, task: ProgramTask, seed: int, updates: int, lr: float = 3e-3) -> Reader:
    def texts(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        x, digits = task.batch(32, generator)
        y = nn.functional.one_hot(digits, DIGITS).float()
        y[:, : task.n_variables] = 1 / DIGITS  # after a statement: any digit
        return x, y

    pu.train(
        reader,
        loss_of_tokens,
        texts,
        updates,
        lr=lr,  # of Adam
        schedule=pu.cool_down(updates),  # half of them at this rate, then straight down to 0
        clip=1.0,
        seed=seed,
        progress=False,
    )
    return reader.eval()


def by_head(y_hat: Tensor, halt_logit: Tensor) -> Tensor:  # who is ready: bool [batch, tokens]
    return halt_logit.sigmoid() >= 0.5


@torch.no_grad()
def read(
    reader: Reader, x: Tensor, N: int, in_earnest: bool, ready: Callable = by_head
) -> tuple[Tensor, Tensor]:
    h = shown = reader.statements(x)
    digits, loops = torch.zeros_like(x[:, :, 0]), torch.zeros_like(x[:, :, 0])  # 0: still here
    for n in range(1, N + 1):
        h = reader.step.layer(h, shown)
        y_hat, halt_logit = reader.step.read(h)
        here = loops == 0
        leaves = here & (ready(y_hat, halt_logit) | (n == N))
        digits[leaves], loops[leaves] = y_hat[leaves].argmax(-1), n
        shown = torch.where(here[:, :, None], h, shown) if in_earnest else h
        if (loops > 0).all():
            break
    return digits, loops


def leave(left: Tensor, survival: Tensor, h: Tensor, lambda_n: Tensor) -> tuple[Tensor, Tensor]:
    lambda_n = lambda_n[:, :, None]  # [batch, tokens] -> [batch, tokens, 1]
    return left + survival * lambda_n * h, survival * (1 - lambda_n)


def teach(
    reader: Reader, task: ProgramTask, seed: int, updates: int, leave: Callable | None = leave
) -> Reader:
    taught = copy.deepcopy(reader)
    taught.N, taught.leave = 5, leave
    torch.manual_seed(seed)  # of who sleeps
    return learn(taught, task, 1000 + seed, updates, lr=1e-3)
