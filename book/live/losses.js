// Lesson 02: PonderNet's loss for five fixed losses: p, its prior, the best p, and what pulls on each halting logit.
const [N, LEFT] = [5, 46];
const hundredths = (value) => Math.round(100 * value) / 100;
let losses = [0.05, 0.05, 0.05, 0.05, 0.05]; // solved at step 1
let lambdas = [0.1, 0.1, 0.1, 0.1, 0.5]; // the last is not read
let [beta, rate, reversed] = [0.01, 0.4, false]; // rate: lambda_p
let axis;

const prior = () => live.prior(rate, N);
const gradients = (at) => live.gradients(at, losses, prior(), beta, reversed);
function think() {
  const shown = { losses: [...losses], lambdas: [...lambdas], beta, rate, reversed };
  const best = live.bestHalting(losses, prior(), beta, reversed);
  const act = live.weigh(lambdas, 0.01).length;
  return { ...shown, p: live.halting(lambdas), prior: prior(), best, pulls: gradients(lambdas), act };
}

function say({ p, prior, best, act }) {
  const range = hundredths(Math.max(...losses) - Math.min(...losses));
  const [now, least, byPrior] = [p, best, prior].map((each) => live.meanSteps(each).toFixed(1));
  const inBetas = Number((range / beta).toPrecision(2));
  const equal = "All {answer:losses are equal}, so the best p is {prior:the prior}, however small β is.";
  const floor = `Reversed, the divergence leaves every step at least {limit:${Number((100 * Math.min(...best)).toPrecision(1))}\u00a0%}.`;
  const weight = inBetas > 3 ? "that outweighs the prior" : inBetas > 0.5 ? "that weighs about as much as the prior" : "that hardly counts beside the prior";
  const differ = `The {answer:losses differ by ${range}}, or {prior:${inBetas} β}: ${weight}.`;
  return `PonderNet halts after {halt:${now} steps} on average; best would be {limit:${least}}; the prior says {prior:${byPrior}}. ` +
    `${range ? (reversed ? floor : differ) : equal} With the same λ, ACT takes ${live.number(act, "step")}.`;
}

const LOSSES = live.columns({ left: LEFT, top: 26, height: 80, values: () => losses, set: (i, value) => fig.change(() => (losses[i] = hundredths(value))) });
const P = live.columns({ left: LEFT, top: 154, height: 130, values: () => live.halting(lambdas), set: (i, value) => fig.change(() => {
  const survival = lambdas.slice(0, i).reduce((left, lambda) => left * (1 - lambda), 1);
  if (i < N - 1) lambdas[i] = live.clamp(value / survival, 0.001, 0.999);
}) });
const STEPS = { top: 342, height: 96 };
const height = (steps) => STEPS.top + STEPS.height * (1 - (steps - 0.8) / 4.4);
const withFirst = (first) => [first, ...lambdas.slice(1)];

function draw(pen, width, inks) {
  const { p, prior, best, pulls } = fig.seen;
  const [right, open] = [width - 4, fig.bet !== null];
  axis = live.logits([-4, 7], LEFT, right);
  for (const [panel, title] of [[LOSSES, "the loss of each step"], [P, "p, how likely it halts there"]]) {
    panel.fit(right);
    live.frame(pen, LEFT, panel, right, inks, title, [[panel.level(1), "1"], [panel.level(0), "0"]]);
  }
  live.bars(pen, losses, LOSSES.middle, LOSSES.bar() + (fig.lit === "answer" ? 8 : 0), LOSSES, inks.answer);
  live.bars(pen, p, P.middle, P.bar() + (fig.lit === "halt" ? 8 : 0), P, inks.halt);
  const longest = Math.max(beta / 50, ...[...pulls.losses, ...pulls.prior].map(Math.abs));
  p.forEach((one, i) => {
    const [x, half] = [P.middle(i + 1), P.bar() / 2];
    const box = [[x - half - 4, P.level(0)], [x - half - 4, P.level(prior[i])], [x + half + 4, P.level(prior[i])], [x + half + 4, P.level(0)]];
    live.stroke(pen, box, inks.prior, fig.lit === "prior" ? 5 : 2.5, [2, 4]);
    if (open) live.stroke(pen, [[x - half - 8, P.level(best[i])], [x + half + 8, P.level(best[i])]], inks.ink, fig.lit === "limit" ? 7 : 3.5);
    live.handle(pen, x, LOSSES.level(losses[i]), inks, inks.ink, true);
    live.write(pen, hundredths(losses[i]).toFixed(2), x, LOSSES.level(0) + 13, inks.ink);
    live.write(pen, one.toFixed(2), x, P.level(0) + 13, inks.ink);
    if (fig.focused && i === fig.cursor) live.ring(pen, inks.ink, x - half - 10, LOSSES.top - 8, 2 * half + 20, LOSSES.height + 28);
    if (i === N - 1 || !open) return;
    live.handle(pen, x, P.level(one), inks, inks.ink, true);
    for (const [pull, away, ink] of [[pulls.losses[i], -9, inks.answer], [pulls.prior[i], 9, inks.prior]])
      live.arrow(pen, x + away, P.level(one), [0, Math.min((40 * pull) / longest, P.level(0) - P.level(one))], ink);
  });
  live.frame(pen, LEFT, STEPS, right, inks, "steps as λ₁ grows", [1, 3, 5].map((steps) => [height(steps), steps]));
  live.stroke(pen, axis.all.map((first) => [axis.x(first), height(live.weigh(withFirst(first), 0.01).length)]), inks.second, 2.5);
  live.stroke(pen, axis.all.map((first) => [axis.x(first), height(live.meanSteps(live.halting(withFirst(first))))]), inks.halt, 3);
  for (const tick of [0.05, 0.5, 0.9, 0.99]) live.write(pen, tick, axis.x(tick), STEPS.top + STEPS.height + 22, inks.soft);
  live.write(pen, "λ₁", LEFT - 14, STEPS.top + STEPS.height + 22, inks.soft);
  for (const [name, x, ink] of [["ACT", right - 104, inks.second], ["PonderNet", right, inks.halt]]) {
    live.title(pen, name, x, STEPS, inks, "right");
    live.dot(pen, x - pen.measureText(name).width - 12, STEPS.top - 12, 5, ink);
  }
  const here = axis.x(lambdas[0]);
  live.dot(pen, here, height(live.meanSteps(p)), 6, inks.halt);
  live.dot(pen, here, height(fig.seen.act), 6, inks.second);
  live.handle(pen, here, STEPS.top + STEPS.height, inks, inks.ink);
}

const setFirst = ({ x }) => fig.change(() => (lambdas[0] = live.clamp(axis.p(x), 0.001, 0.999)));
function grab(point) {
  const isNear = point.y > STEPS.top - 10 && Math.abs(point.x - axis.x(lambdas[0])) < 16;
  return LOSSES.grab(point) ?? P.grab(point) ?? (isNear ? {} : null);
}
const tap = (point) => (point.y > STEPS.top - 10 ? setFirst(point) : (LOSSES.tap(point), P.tap(point)));
const nudge = (sign) => (shift) => fig.change(() => {
  if (!shift) losses[fig.cursor] = hundredths(live.clamp(losses[fig.cursor] + 0.05 * sign, 0, 1));
  else lambdas[fig.cursor] = live.clamp(lambdas[fig.cursor] + 0.05 * sign, 0.001, 0.999);
});
function train() {
  const path = live.adam(lambdas, (at) => {
    const found = gradients(at);
    return found.losses.map((part, j) => part + found.prior[j]);
  });
  fig.follow(path, 7, (values) => (lambdas = [...values]));
}

const fig = live.figure("losses", {
  ask: "All five answers are equally good, β is tiny (0.01), and p (amber) is late. We train p: where does it end?",
  choices: { first: "On step 1: why go on?", prior: "At the prior", stays: "Where it is: nothing to gain" },
  wins: "prior",
  truth: "Where the losses are equal, even a tiny β pulls p to the prior. Now solve it at step 3, and train.",
  height: () => STEPS.top + STEPS.height + 34,
  count: () => N,
  press: { ArrowUp: nudge(1), ArrowDown: nudge(-1) },
  pull: ({ panel, i }, point) => (panel ? panel.pull(i, point) : setFirst(point)),
  opened: train, think, say, draw, grab, tap,
  places: () => ({ losses: LOSSES, p: P, axis, zero: STEPS.top + STEPS.height }),
});
fig.button("Train p", train);
fig.button("Solved at step 3", () => fig.change(() => (losses = [0.7, 0.7, 0.05, 0.05, 0.05])));
fig.button("Solved at step 1", () => fig.change(() => (losses = [0.05, 0.05, 0.05, 0.05, 0.05])));
fig.choose("", { on: "KL(prior‖p), the wrong way round" }, null, (chosen) => fig.change(() => (reversed = chosen !== null)), true);
fig.slider("β", [-2, 0, 0.1], -2, (power) => (10 ** power).toPrecision(2), (power) => (beta = 10 ** power));
fig.slider("Prior's λₚ", [0.05, 0.95, 0.05], rate, (value) => value.toFixed(2), (value) => (rate = value));
fig.start();
