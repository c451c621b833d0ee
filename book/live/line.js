// Lesson 05: a line of places that thinks. The reader flips bits and drags walls (the lesson's resets).
const TRAINED = 16; // places
const LEVEL = Math.log(0.2 / 0.8); // it halts at the first step with lambda >= 0.2, as in the lesson
const [LEFT, WALLS, TOP] = [34, 26, 50]; // left of the cells: steps; above: handles of walls, bits
const network = live.read(live.weights.line.weights);
const coin = (chance) => Number(Math.random() < chance);
let bits = [..."00001010110001000110001101101010"].map(Number);
let walls = [..."10000100010000000000000000000000"].map(Number);
let shown, pointed, cell, unit;

function think() {
  const need = walls.map((_, i) => i + 1 - walls.lastIndexOf(1, i));
  const truth = [];
  bits.forEach((bit, i) => truth.push(walls[i] ? bit : bit ^ truth[i - 1]));
  const x = bits.map((bit, i) => [bit, walls[i]]);
  const together = live.together(network, live.row(x.length), x);
  const [longest, cap] = [Math.max(...need), x.length + 4];
  const first = live.haltsAt(together, LEVEL, cap);
  const halt = first > cap ? 0 : first; // 0: not within these steps
  const last = halt ? Math.min(cap, Math.max(halt, longest) + 4) : cap; // four steps more, so that the hand is followed
  const odd = Array.from({ length: last }, (_, n) => together(n + 1).map(({ answer }) => Number(answer > 0)));
  const right = odd.map((answers) => answers.map((answer, i) => answer === truth[i]));
  shown = last;
  return { bits: [...bits], walls: [...walls], need, longest, truth, odd, right, halt };
}

function say({ halt, longest, right, bits: { length: n } }) {
  const known = `The longest segment has ${live.number(longest, "place")}: its end can know from {limit:step ${longest}} on.`;
  if (!halt) return `${known} The network {halt:does not halt} within ${n + 4} steps.`;
  const wrong = right[halt - 1].filter((good) => !good).length;
  const when = halt < longest ? "too early" : live.number(halt - longest, "step") + " later";
  const answers = wrong ? `{wrong:${wrong} of ${n} places are wrong}` : `{answer:all ${n} places are right}`;
  const far = n > TRAINED ? ` It was trained on lines of ${TRAINED} places, and this one has ${n}.` : "";
  return `${known} The network {halt:halts at step ${halt}}${halt === longest ? "" : `, ${when}`}, and ${answers}.${far}`;
}

const left = (place) => LEFT + place * cell;
const above = (step) => TOP + (step - 1) * unit;
function draw(pen, width, inks) {
  const { need, odd, right, halt } = fig.seen;
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
  if (fig.bet !== null && halt && halt <= shown) {
    live.stroke(pen, [[LEFT, above(halt + 1)], [width, above(halt + 1)]], inks.halt, fig.lit === "halt" ? 6 : 3.5, [10, 6]);
    live.write(pen, `halts at step ${halt}`, LEFT + 6, Math.min(above(halt + 1) + 13, above(bits.length + 5) - 8), inks.ink, "left", inks.paper);
  }
  const [place, step] = fig.focused ? [fig.cursor, 0] : (pointed ?? [-1]);
  if (place >= 0) live.ring(pen, inks.ink, left(place), step ? above(step) : WALLS, cell, step ? unit : TOP - WALLS);
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
function hover(point) {
  const [place, step] = point ? [Math.floor(at(point)), Math.max(0, Math.ceil((point.y - TOP) / unit))] : [-1, 0];
  pointed = place in bits && step <= fig.seen.odd.length && point.y > WALLS ? [place, step] : null;
  if (!pointed || !step) return "";
  const { odd, right, need } = fig.seen;
  const answer = `${odd[step - 1][place] ? "odd" : "even"}, ${right[step - 1][place] ? "right" : "wrong"}`;
  return `Place ${place + 1} at step ${step}: ${answer}. It can know from step ${need[place]} on.`;
}
function renew(n, kept) {
  bits = Array.from({ length: n }, (_, i) => kept.bits[i] ?? coin(0.5));
  const none = kept.walls.length && !kept.walls.includes(1, 1); // the reader has taken them all
  walls = bits.map((_, i) => kept.walls[i] ?? (i ? coin(none ? 0 : 0.1) : 1));
}
const replay = () => fig.play(fig.seen.odd.length, Math.max(30, 2500 / bits.length), (step) => (shown = step));
const { longest, halt } = think();
const fig = live.figure("line", {
  ask: `The network has seen lines of ${TRAINED} places only. Below, the longest segment has ${longest}. When will it halt?`,
  choices: { [TRAINED]: `By step ${TRAINED}`, [longest]: `At step ${longest} or just after`, 32: "Not before step 32" },
  wins: longest,
  truth: `On this first line, it halts at step ${halt}. Now move the walls.`,
  height() {
    unit = Math.max(6.5, Math.min(22, Math.round(400 / (bits.length + 4))));
    return above(bits.length + 5) + 2;
  },
  pull: (held, point) => (held.wall = move(held.wall, Math.round(at(point)))),
  count: () => bits.length,
  press: { Space: () => flip(fig.cursor), w: () => toggle(fig.cursor) },
  opened: replay, nudge: move, left, think, say, draw, grab, tap, hover,
});
fig.button("Think", replay);
fig.button("New line", () => fig.change(() => renew(bits.length, { bits: [], walls: [] })));
fig.button("No walls", () => fig.change(() => walls.fill(0, 1)));
fig.slider("Places", [8, 64, 1], 32, String, (n) => renew(n, fig.seen));
fig.start();
