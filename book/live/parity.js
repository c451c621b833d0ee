// Lesson 03: one network, input by input. The reader sets eight elements, and one step at which all inputs stop.
const [LEFT, TILES] = [46, 44]; // left of the panels: their labels; above: the elements
const GRIP = 60; // the handle of the common step
const [ANSWER, P, SHARE] = [{ top: 104, height: 130 }, { top: 270, height: 64 }, { top: 370, height: 80 }];
const { weights, checked } = live.weights.parity;
const network = live.read(weights);
const N = checked.right_at.length;
let x = [1, -1, 0, -1, -1, 0, 1, -1];
let [stop, shown] = [3, N]; // the step at which all inputs stop; how many are shown
let column, tile;

function think() {
  shown = N;
  const thought = live.thought(network, [[[0, 0]]], [x]);
  const steps = Array.from({ length: N }, (_, n) => thought(n + 1, 0));
  const truth = x.filter((element) => element === 1).length % 2;
  const chance = steps.map((step) => live.sigmoid(step.answer)); // of odd
  const p = live.halting(steps.map((step) => live.sigmoid(step.halt)));
  const right = chance.map((odd) => odd > 0.5 === (truth === 1));
  return { x: [...x], stop, truth, chance, p, right, halt: live.largest(p) + 1 };
}

const judged = (right) => (right ? "{answer:right}" : "{wrong:wrong}");
function say({ truth, p, right, halt }) {
  const ones = x.filter((element) => element === 1).length;
  const count = ["no +1", "one +1", "two", "three", "four", "five", "six", "seven", "eight"][ones] + (ones > 1 ? " +1s" : "");
  const likely = p[halt - 1] > 0.995 ? "almost surely" : `in ${live.percent(p[halt - 1])} of cases`;
  return `Here ${ones > 1 ? "are" : "is"} ${count}: the answer is ${truth ? "odd" : "even"}. By itself the network {halt:halts at step ${halt}}, ` +
    `${likely}, and is ${judged(right[halt - 1])}. Stopped at step ${stop} it is ${judged(right[stop - 1])}. If all inputs stop there, ` +
    `{limit:${live.percent(checked.right_at[stop - 1])}} of them are right; if each stops by itself, {halt:${live.percent(checked.right)}}.`;
}

const middle = (step) => LEFT + (step - 0.5) * column;
function draw(pen, width, inks) {
  const { chance, p, right, truth, halt } = fig.seen;
  const visible = (_, i) => (fig.bet === null ? i + 1 === halt : i < shown);
  column = (width - LEFT - 4) / N;
  tile = Math.min(60, (width - LEFT - 4) / x.length);
  x.forEach((element, i) => {
    live.fill(pen, element === 1 ? inks.answer : inks.paper, LEFT + i * tile + 2, 2, tile - 4, TILES - 4);
    live.ring(pen, element ? inks.answer : inks.line, LEFT + i * tile + 2, 2, tile - 4, TILES - 4);
    live.write(pen, ["\u22121", "0", "+1"][element + 1], LEFT + (i + 0.5) * tile, TILES / 2, element === 1 ? inks.paper : inks.ink);
    if (fig.focused && i === fig.cursor) live.ring(pen, inks.ink, LEFT + i * tile, 0, tile, TILES);
  });
  if (fig.bet !== null) live.stroke(pen, [[middle(stop), GRIP], [middle(stop), SHARE.top + SHARE.height]], inks.ink, 2, [3, 4]);
  const y = (odd) => ANSWER.top + (1 - odd) * ANSWER.height;
  live.faint(pen, 0.4, () => live.fill(pen, inks.pale, LEFT, truth ? y(1) : y(0.5), width - LEFT, ANSWER.height / 2));
  live.frame(pen, LEFT, ANSWER, width, inks, "its answer (shaded: right; large dot: it halts)", [[y(0.95), "odd"], [y(0.05), "even"]]);
  const dots = chance.map((odd, i) => [middle(i + 1), y(odd)]);
  live.stroke(pen, dots.filter(visible), inks.soft, 1.5);
  dots.filter(visible).forEach((dot) => {
    const i = dots.indexOf(dot);
    const radius = (i + 1 === halt ? 8 : 5.5) + (fig.lit === (right[i] ? "answer" : "wrong") ? 3 : 0);
    live.dot(pen, ...dot, radius, right[i] ? inks.answer : inks.wrong);
  });
  live.frame(pen, LEFT, P, width, inks, "how likely it halts", [[P.top + 6, "1"], [P.top + P.height - 6, "0"]]);
  live.bars(pen, p.map((chance, i) => (visible(0, i) ? chance : 0)), middle, column * (fig.lit === "halt" ? 0.95 : 0.7), P, inks.halt);
  const height = (share) => SHARE.top + ((1 - share) / 0.6) * SHARE.height; // from 40 %
  live.frame(pen, LEFT, SHARE, width, inks, "of all test inputs: right if all stop there", [[height(0.97), "100\u00a0%"], [height(0.43), "40\u00a0%"]]);
  if (fig.bet !== null) {
    live.stroke(pen, [[LEFT, height(1)], [width, height(1)]], inks.halt, fig.lit === "halt" ? 6 : 3.5, [10, 6]);
    live.write(pen, "each by itself", width - 4, height(1) + 14, inks.ink, "right");
    const shares = checked.right_at.map((share, i) => [middle(i + 1), height(share)]);
    live.stroke(pen, shares, inks.ink, fig.lit === "limit" ? 4 : 2);
    live.dot(pen, ...shares[stop - 1], 5.5, inks.ink);
    live.handle(pen, middle(stop), GRIP, inks, inks.ink);
  }
  live.numbers(pen, column > 20 ? 1 : 5, N, (step) => [step ? middle(step) : LEFT - 6, SHARE.top + SHARE.height + 14], inks);
}

const cycle = (i) => fig.change(() => (x[i] = [0, 1, -1][x[i] + 1]));
const stopAt = (step) => fig.change(() => slider.show((stop = live.clamp(step, 1, N))));
const stepAt = ({ x: where }) => Math.ceil((where - LEFT) / column);
// A random input, and if one can be found soon, one that is wrong at the common step.
function another(tries = 200) {
  const k = 1 + Math.floor(8 * Math.random());
  const order = x.map((_, i) => [Math.random(), i]).sort(([a], [b]) => a - b);
  order.forEach(([, i], rank) => (x[i] = rank < k ? (Math.random() < 0.5 ? 1 : -1) : 0));
  if (think().right[stop - 1] && tries) another(tries - 1);
}
const replay = () => fig.play(N, 180, (step) => (shown = step));
const find = () => replay(fig.change(another));
const SIGNS = ["m", "0", "1"]; // in the address

const { halt } = think();
const fig = live.figure("parity", {
  ask: `By itself the network halts here at step ${halt}, and is right. Now we stop all inputs at step ${halt}. Of every hundred, how many will be wrong?`,
  choices: {
    zero: ["None: it is done by then", "This input is done by then, and others are not."],
    few: ["Two or three", "Ten times as many."],
    many: ["More than twenty", "Inputs differ in when they are done."],
  },
  wins: "many",
  truth: `${Math.round(100 * (1 - checked.right_at[halt - 1]))} are wrong at step ${halt}. Each stopped by itself, hardly any is. Find some that are wrong.`,
  task: "find an input that is right at two steps, and at no third.",
  found: ({ x, right }) => (right.filter(Boolean).length === 2 ? x.join("") : null),
  form: /^([m01]{8})\.(\d+)$/,
  state: () => `${x.map((element) => SIGNS[element + 1]).join("")}.${stop}`,
  restore(elements, step) {
    x = [...elements].map((sign) => SIGNS.indexOf(sign) - 1);
    slider.show((stop = live.clamp(Number(step), 1, N)));
  },
  height: () => SHARE.top + SHARE.height + 24,
  grab: ({ x: where, y }) => (y > TILES && Math.abs(where - middle(stop)) < 14 ? { stop: true } : null),
  pull: (_, point) => stopAt(stepAt(point)),
  tap: (point) => (point.y < TILES ? Math.floor((point.x - LEFT) / tile) in x && cycle(Math.floor((point.x - LEFT) / tile)) : stopAt(stepAt(point))),
  count: () => x.length,
  press: { Space: () => cycle(fig.cursor), ArrowUp: () => stopAt(stop + 1), ArrowDown: () => stopAt(stop - 1) },
  opened: (bet) => (bet ? replay() : find()), verb: "Find one that is wrong there", think, say, draw,
  apart: () => tile,
});
fig.button("Think", replay);
const slider = fig.slider("All stop at step", [1, N, 1], stop, String, (step) => (stop = step));
fig.start();
