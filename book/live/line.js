// Lesson 05: a line of places that thinks. The reader flips bits and drags walls (the lesson's resets).
const TRAINED = 16; // places
const LEVEL = Math.log(0.2 / 0.8); // PonderNet halts at the first step with lambda >= 0.2, as in the lesson
const BUDGET = 0.99; // ACT halts when its halting values add up to so much
const [LEFT, WALLS, TOP] = [34, 26, 50]; // left of the cells: steps; above: handles of walls, bits
const NAMES = { ponder: "PonderNet", act: "ACT" };
const [ponderNet, actNet] = [live.weights.line, live.weights.line_act].map(({ weights }) => live.read(weights));
const coin = (chance) => Number(Math.random() < chance);
let bits = [..."11100110111111011100000000000011"].map(Number);
let walls = [..."10010000000000000000000000000000"].map(Number);
let who = "ponder"; // whose answers are drawn
let shown, cell, unit;

// At which step PonderNet halts, 0 if not up to the cap; and its logits at any step.
function asPonderNet(x, cap) {
  const together = live.together(ponderNet, live.row(x.length), x);
  const first = live.haltsAt(together, LEVEL, cap);
  return { halt: first > cap ? 0 : first, logits: (n) => together(n).map(({ answer }) => answer) };
}
// The same of ACT, up to its halt: what it would answer if it stopped at a step, the average of all steps so far, of
// which the last has the weight that is left.
function asACT(x, cap) {
  const together = live.together(actNet, live.row(x.length), x);
  const averages = [];
  for (let spent = 0, sums = x.map(() => 0); spent < BUDGET && averages.length < cap; ) {
    const read = together(averages.length + 1);
    averages.push(read.map(({ answer }, i) => sums[i] + (1 - spent) * answer));
    const unit = live.sigmoid(Math.min(...read.map(({ halt }) => halt)));
    sums = sums.map((sum, i) => sum + unit * read[i].answer);
    spent += unit;
  }
  return { halt: averages.length, logits: (n) => averages[n - 1] };
}

function think() {
  const need = walls.map((_, i) => i + 1 - walls.lastIndexOf(1, i));
  const truth = [];
  bits.forEach((bit, i) => truth.push(walls[i] ? bit : bit ^ truth[i - 1]));
  const x = bits.map((bit, i) => [bit, walls[i]]);
  const [longest, cap] = [Math.max(...need), x.length + 4];
  const both = { ponder: asPonderNet(x, cap), act: asACT(x, cap) };
  const latest = both.ponder.halt ? Math.max(both.ponder.halt, both.act.halt, longest) : cap;
  const steps = who === "act" ? both.act.halt : Math.min(cap, latest + 4); // four steps more, so that the hand is followed
  const answers = (name, n) => both[name].logits(n).map((logit) => Number(logit > 0));
  const odd = Array.from({ length: steps }, (_, n) => answers(who, n + 1));
  const isRight = (row) => row.map((answer, i) => answer === truth[i]);
  const seen = { bits: [...bits], walls: [...walls], who, need, longest, truth, odd, right: odd.map(isRight) };
  for (const [name, { halt }] of Object.entries(both)) {
    const last = halt ? answers(name, halt) : [];
    seen[name] = { halt, answers: last, wrong: isRight(last).filter((good) => !good).length };
  }
  shown = steps;
  return seen;
}

function say(seen) {
  const { longest, bits: { length: n } } = seen;
  const sentence = (name) => {
    const { halt, wrong } = seen[name];
    if (!halt) return `{${name}:${NAMES[name]} does not halt} within ${n + 4} steps.`;
    const away = live.number(Math.abs(halt - longest), "step");
    const when = halt === longest ? "just in time" : halt < longest ? `${away} too early` : `${away} later`;
    return `{${name}:${NAMES[name]} halts at step ${halt}}, ${when}, and is ${wrong ? `{wrong:wrong at ${live.number(wrong, "place")}}` : "{answer:right everywhere}"}.`;
  };
  return `The longest segment has ${live.number(longest, "place")}: its end can know from {limit:step ${longest}} on. ${sentence("ponder")} ${sentence("act")}`;
}

const left = (place) => LEFT + place * cell;
const above = (step) => TOP + (step - 1) * unit;
function draw(pen, width, inks) {
  const { need, odd, right, ponder, act } = fig.seen;
  const { halt } = fig.seen[who];
  cell = (width - LEFT - 2) / bits.length;
  odd.slice(0, fig.bet === null ? 0 : shown).forEach((answers, s) => {
    live.faint(pen, halt && s >= halt ? 0.22 : 1, () => answers.forEach((answer, i) => {
      const ink = right[s][i] ? (answer ? "answer" : "pale") : "wrong";
      live.fill(pen, fig.lit === (right[s][i] ? "wrong" : "answer") ? inks.line : inks[ink], left(i) + 0.5, above(s + 1) + 0.5, cell - 1, unit - 1);
    }));
  });
  const number = (step) => [LEFT - 6, step ? above(step + 0.5) : TOP - 12];
  live.numbers(pen, unit > 16 ? 2 : unit > 8 ? 5 : 10, bits.length + 4, number, inks, "right");
  const stairs = need.flatMap((step, i) => [[left(i), above(step)], [left(i + 1), above(step)]]);
  live.stroke(pen, stairs, inks.ink, fig.lit === "limit" ? 5 : 2.5);
  bits.forEach((bit, i) => {
    if (cell > 9) live.write(pen, bit, left(i + 0.5), TOP - 12, inks.ink);
    else live.fill(pen, inks.ink, left(i) + 1, TOP - (bit ? 19 : 7), cell - 2, bit ? 14 : 2);
    if (!walls[i]) return;
    live.stroke(pen, [[left(i), 10], [left(i), TOP]], i ? inks.ink : inks.soft, 3);
    live.handle(pen, left(i), 11, inks, i ? inks.ink : inks.soft);
  });
  const lines = [["ponder", LEFT, inks.ponder], ["act", LEFT + 8, inks.second]]; // dashes of one fall into gaps of the other
  const drawn = lines.filter(([name]) => fig.bet !== null && fig.seen[name].halt && (name !== who || fig.seen[name].halt <= shown));
  for (const [name, from, ink] of drawn) {
    const y = above(fig.seen[name].halt + 1);
    if (from === LEFT || ponder.halt !== act.halt) live.stroke(pen, [[LEFT, y], [width, y]], inks.paper, 5);
    live.stroke(pen, [[from, y], [width, y]], ink, fig.lit === name ? 6 : 3.5, [8, 8]);
  }
  for (const [name] of drawn) {
    const y = Math.min(above(fig.seen[name].halt + 1) + 13, above(bits.length + 5) - 8);
    live.write(pen, `${NAMES[name]} halts`, LEFT + (name === "act" ? 130 : 6), y, inks.ink, "left", inks.paper);
  }
  if (fig.focused) live.ring(pen, inks.ink, left(fig.cursor), WALLS, cell, TOP - WALLS);
}

const flip = (i) => fig.change(() => (bits[i] ^= 1));
const toggle = (i) => i > 0 && i < bits.length && fig.change(() => (walls[i] ^= 1));
function move(from, to) {
  if (!(from > 0 && to > 0 && to < bits.length && walls[from] && !walls[to])) return from;
  fig.change(() => ([walls[from], walls[to]] = [0, 1]));
  return to;
}
const at = ({ x }) => (x - LEFT) / cell;
function grab({ x, y }) {
  const wall = live.nearest(walls.map((stands, i) => (stands && i ? left(i) : Infinity)), x, 16);
  return y < WALLS && wall !== null ? { wall } : null;
}
function tap(point, held) {
  if (point.y < WALLS) toggle(held ? held.wall : Math.round(at(point)));
  else if (point.y < TOP && Math.floor(at(point)) in bits) flip(Math.floor(at(point)));
}
function renew(n, kept) {
  bits = Array.from({ length: n }, (_, i) => kept.bits[i] ?? coin(0.5));
  const none = kept.walls.length && !kept.walls.includes(1, 1); // the reader has taken them all
  walls = bits.map((_, i) => kept.walls[i] ?? (i ? coin(none ? 0 : 0.1) : 1));
}
const replay = () => fig.play(fig.seen.odd.length, Math.max(30, 2500 / bits.length), (step) => (shown = step));
const { longest, ponder, act } = think();
const waits = [ponder, act].map(({ halt }) => !halt || halt >= longest);
const fig = live.figure("line", {
  ask: `Both networks have seen lines of ${TRAINED} places only. Below, the longest segment has ${longest}. Who waits until its end can know?`,
  choices: {
    both: ["Both", waits[1] ? "" : `ACT stops ${live.number(longest - act.halt, "step")} before.`],
    ponder: ["PonderNet alone", ""],
    neither: ["Neither", "Nobody counts steps here: a place that has not heard enough votes against halting."],
  },
  wins: waits[0] ? (waits[1] ? "both" : "ponder") : "neither",
  truth: `On this first line PonderNet halts at step ${ponder.halt}, and ACT at step ${act.halt}. Now make the line longer, or drag a wall.`,
  task: "make ACT halt ten steps too early where PonderNet is right.",
  found: (seen) => (seen.longest - seen.act.halt >= 10 && seen.ponder.wrong === 0 ? [...seen.bits, ...seen.walls].join("") : null),
  form: /^([01]{8,64})\.([01]{8,64})\.(ponder|act)$/,
  state: () => `${bits.join("")}.${walls.join("")}.${who}`,
  restore(newBits, newWalls, name) {
    bits = [...newBits].map(Number);
    walls = bits.map((_, i) => (i ? Number(newWalls[i] ?? 0) : 1));
    whose.show((who = name));
    slider.show(bits.length);
  },
  height() {
    unit = Math.max(6.5, Math.min(22, Math.round(400 / (bits.length + 4))));
    return above(bits.length + 5) + 2;
  },
  pull: (held, point) => (held.wall = move(held.wall, Math.round(at(point)))),
  count: () => bits.length,
  press: { Space: () => flip(fig.cursor), w: () => toggle(fig.cursor) },
  opened: replay, nudge: move, think, say, draw, grab, tap,
});
fig.button("New line", () => fig.change(() => renew(bits.length, { bits: [], walls: [] })));
fig.button("No walls", () => fig.change(() => walls.fill(0, 1)));
const whose = fig.choose("Answers of", NAMES, who, (name) => fig.change(() => (who = name)));
const slider = fig.slider("Places", [8, 64, 1], bits.length, String, (n) => renew(n, fig.seen));
fig.start();
