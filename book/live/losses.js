// Lesson 02: two steps, of which the first cannot know the answer. From where does a network learn to take the second?
const [UPDATES, PRICE, BETA] = [500, 0.1, 0.2];
const TRAP = 0.99; // from here on step 1 spends ACT's budget
const LEFT = 66;
const PRIOR = live.prior(0.5, 2);
const PANEL = { top: 30, height: 330 };
let [start, shown, right] = [0.999, UPDATES, 0];

// Gradients of each loss on the logit of lambda_1, and on the second answer, a logit y, of which 1 is true.
function ofPonderNet([a, y]) {
  const first = live.sigmoid(a);
  const costs = [Math.LN2 + BETA * Math.log(first / PRIOR[0]), Math.log1p(Math.exp(-y)) + BETA * Math.log((1 - first) / PRIOR[1])];
  return [first * (1 - first) * (costs[0] - costs[1]), (1 - first) * (live.sigmoid(y) - 1)];
}
function ofACT([a, y]) {
  const first = live.sigmoid(a);
  if (first > TRAP - 1e-9) return [0, 0]; // step 2 is not taken
  const slope = live.sigmoid((1 - first) * y) - 1;
  return [first * (1 - first) * (-slope * y - PRICE), (1 - first) * slope];
}

// lambda_1 after each update of Adam, whose learning rate is 0.02.
function train(gradient) {
  const [values, m, v] = [[Math.log(start / (1 - start)), 0], [0, 0], [0, 0]];
  const path = [start];
  for (let t = 1; t <= UPDATES; t++) {
    gradient([...values]).forEach((slope, i) => {
      m[i] = 0.9 * m[i] + 0.1 * slope;
      v[i] = 0.999 * v[i] + 0.001 * slope ** 2;
      values[i] -= (0.02 * m[i]) / (1 - 0.9 ** t) / (Math.sqrt(v[i] / (1 - 0.999 ** t)) + 1e-8);
    });
    path.push(live.sigmoid(values[0]));
  }
  return path;
}
const think = () => ({ start, ponder: train(ofPonderNet), act: train(ofACT) });

// 0.06, 0.9, 0.9987: as many digits as tell it from 0 and from 1.
const short = (p) => String(Number(p.toFixed(Math.max(2, Math.ceil(-Math.log10(Math.min(p, 1 - p)))))));
function say({ ponder, act }) {
  const [ends, stays] = [short(ponder.at(-1)), short(act.at(-1))];
  const weight = `PonderNet counts step 2 with {ponder:a weight of ${short(1 - start)}}. That is not 0, so step 2 learns, and {ponder:PonderNet falls to ${ends}}.`;
  if (start >= TRAP) return `In the trap ACT never takes step 2, and never sees what it is worth: {act:ACT stays at ${stays}}. ${weight}`;
  const caught = act.findIndex((p) => p >= TRAP);
  if (caught > 0) return `ACT pays for each step. Before its step 2 has learnt enough, that price pulls {act:ACT into the trap, at update ${caught}}. ${weight}`;
  return `Outside of the trap ACT takes step 2 as well, and learns what it is worth: {act:ACT falls to ${stays}}. {ponder:PonderNet falls to ${ends}}.`;
}

const across = (update) => LEFT + (update / UPDATES) * (right - LEFT);
const level = (p) => PANEL.top + ((9.6 - Math.log(p / (1 - p))) / 15) * PANEL.height;
const probability = (y) => live.sigmoid(9.6 - (15 * (y - PANEL.top)) / PANEL.height);
function draw(pen, width, inks) {
  const wide = width > 500;
  right = width - (wide ? 96 : 8);
  live.faint(pen, fig.lit === "limit" ? 1 : 0.5, () => live.fill(pen, inks.line, LEFT, PANEL.top, right - LEFT, level(TRAP) - PANEL.top));
  const ticks = [0.999, 0.99, 0.9, 0.5, 0.1, 0.01].map((tick) => [level(tick), tick]);
  live.frame(pen, LEFT - 18, PANEL, right, inks, "λ₁: how likely it stops after step 1", ticks);
  for (const [y] of ticks) live.stroke(pen, [[LEFT, y], [right, y]], inks.line, 1);
  live.write(pen, "the trap: ACT takes no second step", right - 8, PANEL.top + 14, inks.ink, "right");
  const below = PANEL.top + PANEL.height + 15;
  for (const update of wide ? [100, 200, 300, 400, 500] : [250, 500]) live.write(pen, update, across(update), below, inks.soft, update < UPDATES ? "center" : "right");
  live.write(pen, "update", LEFT, below, inks.soft, "left");
  const last = fig.bet === null ? 0 : shown;
  for (const [name, who, ink] of [["ACT", "act", inks.second], ["PonderNet", "ponder", inks.ponder]]) {
    const path = fig.seen[who].slice(0, last + 1);
    live.stroke(pen, path.map((p, update) => [across(update), level(p)]), ink, fig.lit === who ? 8 : 5);
    if (last === 0) continue;
    const y = level(path.at(-1));
    live.write(pen, name, ...(wide ? [across(last) + 10, y, inks.ink, "left"] : [across(last) - 4, y - 14, inks.ink, "right"]), inks.paper);
  }
  live.handle(pen, LEFT, level(start), inks, inks.ink, true);
  live.write(pen, "start", LEFT + 20, level(start) - 13, inks.ink, "left");
  if (fig.focused) live.ring(pen, inks.ink, LEFT - 19, level(start) - 10, 38, 20);
}

function set(p) {
  shown = UPDATES;
  fig.change(() => (start = live.clamp(Number(p.toFixed(4)), 0.05, 0.9999)));
}
const nudge = (sign) => (shift) => set(live.sigmoid(Math.log(start / (1 - start)) + sign * (shift ? 0.5 : 0.1)));
const replay = () => fig.play(UPDATES, 5, (update) => (shown = update));

const fig = live.figure("losses", {
  ask: "Both begin by stopping after step 1, with a probability of 0.999. We train them. Who will learn to take step 2?",
  choices: {
    both: ["Both", "ACT never takes step 2, so it never sees what step 2 is worth."],
    ponder: ["PonderNet alone", ""],
    neither: ["Neither: step 2 hardly counts", "A weight of 0.001 is little, but it is not 0."],
  },
  wins: "ponder",
  truth: "PonderNet comes out, and ACT does not move. Now drag the start down.",
  task: "find a start outside of the trap, close to its edge, from which ACT falls into it.",
  found: ({ act }) => (start < TRAP && act.at(-1) >= TRAP ? start.toFixed(3) : null),
  form: /^(0\.\d{1,4})$/,
  state: () => String(start),
  restore: (text) => set(Number(text)),
  height: () => PANEL.top + PANEL.height + 26,
  count: () => 1,
  press: { ArrowUp: nudge(1), ArrowDown: nudge(-1) },
  grab: ({ x, y }) => (x < LEFT + 24 && Math.abs(y - level(start)) < 24 ? {} : null),
  pull: (held, { y }) => set(probability(y)),
  tap: ({ x, y }) => x < LEFT + 24 && set(probability(y)),
  opened: replay, verb: "Train", think, say, draw,
});
fig.start();
