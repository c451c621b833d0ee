// Lesson 06: six bits, and a network in a hurry that halts when no place objects. Beside them the twin, whose first bit differs.
const [L, N, ROWS] = [6, 10, 7]; // places, and steps at most; steps that are drawn
const [LEFT, TILES, ROW] = [46, 44, 30]; // of a line: left of it the steps, above it the bits; a step
const HEIGHT = TILES + ROWS * ROW + 4;
const all = Array.from({ length: 2 ** L }, (_, i) => Array.from({ length: L }, (_, k) => (i >> (L - 1 - k)) & 1));
const index = (line) => line.reduce((sum, bit) => 2 * sum + bit, 0);
const truth = (line) => line.map((_, i) => line.slice(0, i + 1).reduce((sum, bit) => sum ^ bit));
const network = live.read(live.weights.vote.weights);
// Of each line: who objects and who is wrong at each step. It halts at the first step at which nobody objects.
const lines = all.map((line) => {
  const together = live.together(network, live.row(L), line.map((bit, i) => [bit, Number(i === 0)]));
  const steps = Array.from({ length: N }, (_, n) => together(n + 1));
  const objects = steps.map((places) => places.map(({ halt }) => halt < 0));
  const wrong = steps.map((places) => truth(line).map((odd, i) => (places[i].answer > 0) !== (odd === 1)));
  const halt = objects.findIndex((places) => !places.includes(true)) + 1 || N;
  return { objects, wrong, halt };
});
let bits = [1, 1, 0, 0, 0, 0];
let [tile, twinAt] = [0, { x: 0, y: 0 }];

const think = () => ({ bits: [...bits], lines, mine: index(bits), twin: index(bits) ^ (2 ** (L - 1)) });

const listed = (objects) => objects.flatMap((no, i) => (no ? [i + 1] : []));
const places = (who) => (who.length === 1 ? `place ${who[0]} objects` : `places ${who.slice(0, -1).join(", ")} and ${who.at(-1)} object`);
function say({ mine, twin }) {
  const [early, late] = lines[mine].halt < lines[twin].halt ? [mine, twin] : [twin, mine];
  const { halt } = lines[early]; // always right, and before all can know: there are only 64 lines
  const who = places(listed(lines[late].objects[halt - 1]));
  return `After step ${halt} the last place has not heard the first bit, so it answers the same in both lines. One {halt:halts}, and is {answer:right}: nobody objects. ` +
    `In the other that answer is {wrong:wrong}, {prior:${who}}, and the line thinks on.`;
}

function drawLine(pen, inks, line, { x, y }, title, isOpen) {
  const { objects, wrong, halt } = lines[index(line)];
  const [left, top] = [(i) => x + i * tile, (n) => y + TILES + (n - 1) * ROW];
  live.title(pen, title, x, { top: y }, inks);
  line.forEach((bit, i) => {
    live.fill(pen, bit ? inks.answer : inks.paper, left(i) + 2, y + 2, tile - 4, TILES - 8);
    live.ring(pen, inks.answer, left(i) + 2, y + 2, tile - 4, TILES - 8);
    live.write(pen, bit, left(i + 0.5), y + TILES / 2 - 2, bit ? inks.paper : inks.ink);
    if (fig.focused && i === fig.cursor) live.ring(pen, inks.ink, left(i), y, tile, TILES - 4);
  });
  live.numbers(pen, 1, ROWS, (n) => [x - 6, n ? top(n + 0.5) : y + TILES / 2 - 2], inks, "right");
  if (!isOpen) return;
  for (let n = 1; n <= Math.min(halt, ROWS); n++)
    line.forEach((_, i) => {
      const box = [left(i) + 1, top(n) + 1, tile - 2, ROW - 2];
      const cross = (up) => [-7, 7].map((d) => [left(i + 0.5) + d, top(n + 0.5) + up * d]);
      live.fill(pen, !objects[n - 1][i] ? inks.paper : fig.lit === "prior" ? inks.soft : inks.prior, ...box);
      live.ring(pen, inks.line, ...box);
      if (wrong[n - 1][i]) for (const up of [-1, 1]) live.stroke(pen, cross(up), inks.wrong, fig.lit === "wrong" ? 6 : 3.5);
    });
  const stairs = line.flatMap((_, i) => [[left(i), top(i + 1)], [left(i + 1), top(i + 1)]]);
  live.stroke(pen, stairs, inks.ink, fig.lit === "limit" ? 5 : 2.5);
  if (halt <= ROWS) live.stroke(pen, [[x, top(halt + 1)], [left(L), top(halt + 1)]], inks.halt, fig.lit === "halt" ? 6 : 4, [10, 6]);
}

function draw(pen, width, inks) {
  const { mine, twin } = fig.seen;
  drawLine(pen, inks, all[mine], { x: LEFT, y: 26 }, `halts at step ${lines[mine].halt}`, true);
  const isOpen = fig.bet !== null;
  drawLine(pen, inks, all[twin], twinAt, isOpen ? `its twin halts at step ${lines[twin].halt}` : "its twin: another first bit", isOpen);
}

const flip = (i) => fig.change(() => (bits[i] ^= 1));
function tap({ x, y }) {
  for (const corner of [{ x: LEFT, y: 26 }, twinAt]) {
    const i = Math.floor((x - corner.x) / tile);
    if (y > corner.y && y < corner.y + TILES && i in bits) return flip(i);
  }
}
const fig = live.figure("vote", {
  ask: "The first line halts at step 5, and is right. But its last place hears of the first bit only at step 6. In the twin that bit is 0: at step 5 the last place sees no difference. What will the twin do?",
  choices: {
    wrong: ["Halt at step 5, and be wrong", "The last place sees no difference, but place 2 does."],
    right: ["Halt at step 5, and be right", "Its last place could only guess, and would guess as before."],
    on: ["Think on", ""],
  },
  wins: "on",
  truth: "The last place always guesses that the first bit is 1. In the twin place 2 has heard that it is 0: it objects, and the line thinks on. So silence is a message: the guess is right.",
  task: "flip bits, until a line halts three steps before its last place can know.",
  found: ({ mine, twin }) => (Math.min(lines[mine].halt, lines[twin].halt) < L - 2 ? Math.min(mine, twin).toString(2) : null),
  form: /^([01]{6})$/,
  state: () => bits.join(""),
  restore: (line) => (bits = [...line].map(Number)),
  height(width) {
    const beside = width >= 560;
    tile = ((beside ? width / 2 : width) - LEFT - 4) / L;
    twinAt = beside ? { x: LEFT + width / 2, y: 26 } : { x: LEFT, y: HEIGHT + 56 };
    return twinAt.y + HEIGHT;
  },
  count: () => L,
  press: { Space: () => flip(fig.cursor) },
  think, say, draw, tap,
  apart: () => Math.min(tile, TILES),
});
fig.start();
