// Lesson 04: the reader turns or draws a digit, and two networks read it that were trained with a prior, or without.
const [SIDE, PIXEL, N] = [28, 7, 10]; // the image; pixels of the page for each of its own; the steps that are shown
const [SQUARE, BLOCK, HEIGHT] = [SIDE * PIXEL, 88, 40];
const NAMES = {
  cnn: "“CNN first”, with a prior", cnn_free: "“CNN first”, without",
  patches: "“patches”, with a prior", patches_free: "“patches”, without",
};
const readers = {};
for (const kind in NAMES) readers[kind] = live.reader(live.weights[`digit_${kind}`].weights);
let [digit, strokes, angle, shown] = [4, [], 0, N]; // digit: null if the reader has drawn it

function choose(n) {
  [digit, angle] = [n, 0];
  strokes = live.digits[n].map((stroke) => stroke.map(([x, y]) => [x + 4, y + 4]));
}
choose(digit);

function think() {
  shown = N;
  const pixels = live.pixels(live.turned(strokes, angle));
  const networks = {};
  for (const kind in NAMES) {
    const { N: steps, lambda_p: rate } = live.weights[`digit_${kind}`].setting;
    const read = live.reading(readers[kind], pixels, steps);
    const p = live.halting(read.map(({ halt }) => live.sigmoid(halt)));
    const says = read.map(({ answer }) => live.largest(answer));
    networks[kind] = { p, says, steps: live.meanSteps(p), prior: isFree(kind) ? null : live.prior(rate, steps) };
  }
  return { digit, angle, pixels, networks };
}
const isFree = (kind) => kind.endsWith("_free");

const last = ({ says, p }) => says[live.largest(p)]; // where it most likely halts
function say({ networks: { cnn, patches, cnn_free, patches_free } }) {
  const took = ({ steps }) => `{halt:${steps.toFixed(1)} steps}`;
  const answers = [cnn_free, patches_free].map((network) => (digit === null ? last(network) : `{${last(network) === digit ? "answer" : "wrong"}:${last(network)}}`));
  return `With a prior “CNN first” takes ${took(cnn)}, without ${took(cnn_free)}. “Patches” takes ${took(patches)} with a prior, and ${took(patches_free)} without. ` +
    `Without a prior they say ${answers.join(" and ")}.`;
}

const place = (width) => (width < 560 ? { left: 46, top: SQUARE + 46, height: SQUARE + 46 + 4 * BLOCK } : { left: SQUARE + 62, top: 34, height: 34 + 4 * BLOCK });
let middle;
function draw(pen, width, inks) {
  const { pixels, networks } = fig.seen;
  const { left, top } = place(width);
  const column = (width - left - 4) / N;
  middle = (step) => left + (step - 0.5) * column;
  live.fill(pen, inks.paper, 2, 2, SQUARE, SQUARE);
  pixels.forEach((value, i) => live.faint(pen, value, () => live.fill(pen, inks.ink, 2 + (i % SIDE) * PIXEL, 2 + Math.floor(i / SIDE) * PIXEL, PIXEL, PIXEL)));
  for (let i = 0; i <= 7; i++) {
    const [near, far, at] = [2, 2 + SQUARE, 2 + (i * SQUARE) / 7]; // the patches
    live.stroke(pen, [[near, at], [far, at]], inks.line, 1);
    live.stroke(pen, [[at, near], [at, far]], inks.line, 1);
  }
  Object.entries(networks).forEach(([kind, { p, says, steps, prior }], k) => {
    const panel = { top: top + k * BLOCK, height: HEIGHT };
    const hidden = isFree(kind) && fig.bet === null;
    live.frame(pen, left, panel, width, inks, `${NAMES[kind]}: ${hidden ? "?" : `${steps.toFixed(1)} steps`}`, [[panel.top + 6, "1"], [panel.top + HEIGHT - 6, "0"]]);
    if (hidden) return;
    live.bars(pen, p.slice(0, N).map((one, i) => (i < shown ? one : 0)), middle, column * (fig.lit === "halt" ? 0.9 : 0.6), panel, inks.halt);
    const level = (share) => panel.top + (1 - share) * HEIGHT;
    prior?.slice(0, N).forEach((share, i) => live.dot(pen, middle(i + 1), level(share), fig.lit === "prior" ? 6 : 3.5, inks.prior));
    live.write(pen, "says", left - 6, panel.top + HEIGHT + 14, inks.soft, "right");
    says.slice(0, Math.min(shown, N)).forEach((one, i) => {
      const verdict = digit === null ? "ink" : one === digit ? "answer" : "wrong";
      if (fig.lit === verdict) live.ring(pen, inks[verdict], middle(i + 1) - 9, panel.top + HEIGHT + 4, 18, 20);
      live.write(pen, one, middle(i + 1), panel.top + HEIGHT + 14, inks[verdict]);
    });
  });
  live.numbers(pen, 1, N, (step) => [step ? middle(step) : left - 6, top + 3 * BLOCK + HEIGHT + 34], inks);
}

// A pen in the reader's hand: it begins a digit of the reader's own, or goes on with it.
let stroke = null;
const within = ({ x, y }) => x > 2 && x < 2 + SQUARE && y > 2 && y < 2 + SQUARE;
const point = ({ x, y }) => live.turned([[[live.clamp((x - 2) / PIXEL, 0, SIDE), live.clamp((y - 2) / PIXEL, 0, SIDE)]]], -angle)[0][0];
function clear() {
  [digit, strokes, stroke] = [null, [], null];
  turn.show((angle = 0));
}
function pull(held, at) {
  fig.change(() => {
    if (digit !== null) clear();
    if (stroke?.held !== held) strokes.push((stroke = { held, points: [point(held.from)] }).points);
    stroke.points.push(point(at));
  });
}

const pick = (n) => fig.change(() => (choose((n + 10) % 10), turn.show(0)));
const turnBy = (by) => fig.change(() => turn.show((angle = live.clamp(angle + by, -180, 180))));
const replay = () => fig.play(N, 220, (step) => (shown = step));
// A point in the address: along and down, on a grid of 36.
const written = (point) => point.map((at) => Math.round(1.25 * at).toString(36)).join("");
const read = (signs) => [...signs].map((sign) => parseInt(sign, 36) / 1.25);
const fig = live.figure("digit", {
  ask: "With a prior, training asks for a few steps, and both take about five for this digit. Without a prior nothing asks for any. Which of them still takes several?",
  choices: {
    both: ["Both", "One of them needs no second step to see all of the image."],
    cnn: ["“CNN first” alone", "It has seen the whole image before its first step."],
    patches: ["“Patches” alone", "Its places must hear of each other."],
    none_of_them: ["Neither", "For some, thinking pays without being asked for it."],
  },
  wins: "patches",
  truth: "“CNN first” takes its steps because the prior asks for them, “patches” because it needs them.",
  task: "turn a digit until both are wrong, trained without a prior. Do they think longer about it?",
  found: ({ networks: { cnn_free, patches_free } }) => (digit !== null && last(cnn_free) !== digit && last(patches_free) !== digit ? String(digit) : null),
  form: /^(\d|(?:-[0-9a-z]+)+|)\.(-?\d+)$/,
  state: () => `${digit ?? strokes.map((points) => `-${points.map(written).join("")}`).join("")}.${angle}`,
  restore(drawn, degrees) {
    if (/^\d$/.test(drawn)) choose(Number(drawn));
    else [digit, strokes] = [null, drawn.split("-").slice(1).map((points) => points.match(/../g) ?? []).map((points) => points.map(read))];
    turn.show((angle = live.clamp(Number(degrees), -180, 180)));
  },
  height: (width) => place(width).height,
  grab: (from) => (within(from) ? { from } : null),
  pull,
  count: () => 1,
  press: {
    ArrowLeft: () => pick((digit ?? 10) - 1), ArrowRight: () => pick((digit ?? -1) + 1),
    ArrowUp: () => turnBy(15), ArrowDown: () => turnBy(-15),
  },
  opened: replay, think, say, draw,
  apart: () => SQUARE, // a pen needs no more
});
fig.button("Another digit", () => pick((digit ?? -1) + 1));
fig.button("Clear, and draw", () => fig.change(clear));
const turn = fig.slider("Turned by", [-180, 180, 5], angle, (degrees) => `${degrees}°`, (degrees) => (angle = degrees));
fig.start();
