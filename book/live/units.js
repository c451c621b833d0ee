// Lesson 01: ACT's halting values, and the two pulls on the first of them (equations 3, 4 and 7).
const LEFT = 46; // of the panels: numbers
const [BARS, PULLS] = [{ top: 26, height: 120 }, { top: 206, height: 122 }]; // the halting values; the pulls along lambda_1
const KNOWS = 4; // the logit that later states answer if they know; the first answers 0, and 1 is true
const units = [0.73, 0.73, 0.73, 0.73, 0.73]; // as in a new network, with at most five steps
const epsilon = 0.01;
let [tau, know] = [0.5, true];
let [axis, column] = [null, 1];
const set = (i, value) => fig.change(() => (units[i] = live.clamp(Math.round(1000 * value) / 1000, 0.01, 0.999)));
const level = (value) => BARS.top + (1 - value) * BARS.height;

// How hard the price pulls lambda_1 up, and the answer pulls it down.
function pulls(first) {
  if (first >= 1 - epsilon) return { up: 0, down: 0 };
  const later = know ? KNOWS : 0;
  return { up: tau, down: later * live.sigmoid(-later * (1 - first)) };
}
const think = () => ({ units: [...units], epsilon, tau, know, weights: live.weigh(units, epsilon), ...pulls(units[0]) });

const two = (number) => (number > 0.985 && number < 1 ? String(Number(number.toFixed(3))) : number.toFixed(2));
function say({ weights, up, down }) {
  const used = units.slice(0, weights.length);
  const goal = `{limit:${two(1 - epsilon)}}`;
  const enough = used.reduce((total, unit) => total + unit, 0) >= 1 - epsilon;
  const sum = `{halt:${used.map(two).join(" + ")}} ${enough ? `reaches ${goal}` : `does not reach ${goal}, but there the cap is`}`;
  const taken = `${sum}: ${live.number(used.length, "step")}.`;
  if (used.length === 1) return `${taken} {act:Both} {answer:pulls} are exactly 0: whatever a second step knows, or could learn, λ₁ stays.`;
  const net = Math.abs(up - down) < 0.005 ? "they balance" : `it moves ${up > down ? "up, towards stopping" : "down, towards thinking on"}`;
  return `${taken} The last gets the remainder, ${two(weights.at(-1))}. The price pulls λ₁ up with {act:${two(up)}}, the answer pulls it down with {answer:${two(down)}}: ${net}.`;
}

const height = (pull) => PULLS.top + (1 - pull / 2.2) * PULLS.height;
function draw(pen, width, inks) {
  const { weights, up, down } = fig.seen;
  const right = width - 4;
  column = (right - LEFT) / units.length;
  axis = live.logits([-4, 7], LEFT, right);
  live.frame(pen, LEFT, BARS, right, inks, "halting values λ₁ to λ₅ (faint: not reached)", [[level(1), "1"], [level(0), "0"]]);
  units.forEach((unit, i) => {
    const middle = LEFT + (i + 0.5) * column;
    live.faint(pen, i < weights.length ? 1 : 0.35, () => {
      live.bars(pen, [unit], () => middle, Math.min(56, column - 14) + (fig.lit === "halt" ? 8 : 0), BARS, inks.halt);
      live.handle(pen, middle, level(unit), inks, inks.ink, true);
    });
    live.write(pen, column > 90 ? `λ${"₁₂₃₄₅"[i]} = ${two(unit)}` : two(unit), middle, level(0) + 15, inks.ink);
    if (fig.focused && i === fig.cursor) live.ring(pen, inks.ink, middle - column / 2 + 2, BARS.top - 8, column - 4, BARS.height + 34);
  });
  const end = (axis.x(1 - epsilon) + right) / 2;
  live.bars(pen, [1], () => end, right - axis.x(1 - epsilon), PULLS, fig.lit === "limit" ? inks.soft : inks.line);
  live.write(pen, "no pull", end, PULLS.top + 20, inks.ink);
  live.frame(pen, LEFT, PULLS, right, inks, "the two pulls on λ₁ (gradients)", [0, 1, 2].map((pull) => [height(pull), pull]));
  for (const [who, part, ink] of [["up", "act", inks.second], ["down", "answer", inks.answer]])
    live.stroke(pen, axis.all.map((first) => [axis.x(first), height(pulls(first)[who])]), ink, fig.lit === part ? 6 : 3);
  for (const tick of [0.05, 0.5, 0.9, 0.99]) live.write(pen, tick, axis.x(tick), height(0) + 22, inks.soft);
  live.write(pen, "λ₁", LEFT - 14, height(0) + 22, inks.soft);
  const here = axis.x(units[0]);
  live.stroke(pen, [[here, PULLS.top], [here, height(0)]], inks.ink, 2, [3, 4]);
  for (const [pull, ink] of [[up, inks.second], [-down, inks.answer]]) {
    live.arrow(pen, here, height(Math.abs(pull)), [45 * pull, 0], ink);
    live.dot(pen, here, height(Math.abs(pull)), 5, ink);
  }
}

const nudge = (sign) => (shift) => set(fig.cursor, units[fig.cursor] + sign * (shift ? 0.1 : 0.01));
const at = ({ x }) => Math.floor((x - LEFT) / column);
const grab = (point) => (Math.abs(point.y - level(units[at(point)])) < 18 ? { i: at(point) } : null);
const pull = ({ i }, { y }) => set(i, (level(0) - y) / BARS.height);
const tap = (point) => point.y < level(0) + 24 && at(point) in units && pull({ i: at(point) }, point);
function letGo() {
  const path = [units[0]];
  for (let i = 0; i < 300; i++) {
    const { up, down } = pulls(path[i]);
    path.push(live.clamp(path[i] + 0.02 * (up - down), 0.01, 0.999));
  }
  fig.follow(path, 12, (value) => (units[0] = value));
}

const fig = live.figure("units", {
  ask: "λ₁ stands at 0.73. The first step knows nothing, later steps know the answer, and every step has a price. We let go: where does λ₁ come to rest?",
  choices: {
    low: ["Near 0: it always thinks on", "The further λ₁ falls, the less the answer gains; the price pulls on."],
    middle: ["Near 0.5: half and half", "There the answer pulls as hard as the price."],
    high: ["At 0.99: one step is enough", "The answer pulls it down; from above 0.99 it could not."],
  },
  wins: "middle",
  truth: "The pulls balance at 0.51. Now switch “Later steps know the answer” off, and let go. Then switch it on again, and let go once more.",
  task: "let λ₁ come to rest at 0.9.",
  found: ({ up, down }) => (up > 0 && Math.abs(up - down) < 0.01 && two(units[0]) === "0.90" ? "rest" : null),
  form: /^(\d+)_(\d+)_(\d+)_(\d+)_(\d+)\.([kn])\.(\d+)$/,
  state: () => `${units.map((unit) => Math.round(1000 * unit)).join("_")}.${know ? "k" : "n"}.${Math.round(100 * tau)}`,
  restore(...texts) {
    units.forEach((_, i) => (units[i] = live.clamp(texts[i] / 1000, 0.01, 0.999)));
    [know, tau] = [texts[5] === "k", live.clamp(texts[6] / 100, 0, 2)];
    later.show(know ? "on" : null);
    price.show(tau);
  },
  height: () => height(0) + 34,
  count: () => units.length,
  press: { ArrowUp: nudge(1), ArrowDown: nudge(-1) },
  opened: letGo, verb: "Let go", think, say, draw, grab, pull, tap,
  apart: () => column,
});
const later = fig.choose("", { on: "Later steps know the answer" }, "on", (chosen) => fig.change(() => (know = chosen !== null)), true);
const price = fig.slider("Price τ", [0, 2, 0.05], tau, two, (value) => (tau = value));
fig.start();
