// Lesson 04: the reader turns or draws a digit, and two networks read it that were trained with a prior, or without.
const [SIDE, PIXEL, N] = [28, 7, 10]; // the image; pixels of the page for each of its own; the steps that are shown
const [SQUARE, BLOCK, HEIGHT] = [SIDE * PIXEL, 116, 62];
const NAMES = { cnn: "“CNN first”", patches: "“patches”" };
const PRIORS = { "": "with a prior", _free: "without" };
const weights = (kind, prior) => live.weights[`digit_${kind}${prior}`];
const readers = {};
for (const kind in NAMES) for (const prior in PRIORS) readers[kind + prior] = live.reader(weights(kind, prior).weights);
let [digit, strokes, angle, prior, shown] = [4, [], 0, "", N]; // digit: null if the reader has drawn it

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
    const { N: steps, lambda_p: rate } = weights(kind, prior).setting;
    const read = live.reading(readers[kind + prior], pixels, steps);
    const p = live.halting(read.map(({ halt }) => live.sigmoid(halt)));
    const says = read.map(({ answer }) => live.largest(answer));
    networks[kind] = { p, says, steps: live.meanSteps(p), prior: prior ? null : live.prior(rate, steps) };
  }
  return { digit, angle, pixels, networks };
}

const last = ({ says, p }) => says[live.largest(p)]; // where it most likely halts
function of(kind, { says, p, steps }) {
  const final = last({ says, p });
  const changes = says.slice(1, N).filter((one, i) => one !== says[i]).length;
  const way = changes ? `and changes its mind ${["", "once", "twice"][changes] ?? `${changes} times`} in ten steps` : "from the first step on";
  const verdict = digit === null ? final : final === digit ? `{answer:${final}}` : `{wrong:${final}}, which is wrong,`;
  return `${kind} says ${verdict} ${way}. On average it takes {halt:${steps.toFixed(1)} steps}.`;
}
function ofTest() {
  const [cnn, patches] = Object.keys(NAMES).map((kind) => weights(kind, prior).checked);
  return `${cnn.steps.toFixed(1)} and ${patches.steps.toFixed(1)} steps and read ${live.percent(cnn.right)} and ${live.percent(patches.right)} of them correctly`;
}
const say = ({ networks: { cnn, patches } }) =>
  `${of(NAMES.cnn, cnn)} ${of("“Patches”", patches)} Over 5,000 upright test digits these two take ${ofTest()}.`;

const place = (width) => (width < 560 ? { left: 46, top: SQUARE + 46, height: SQUARE + 46 + 2 * BLOCK } : { left: SQUARE + 62, top: 34, height: 34 + 2 * BLOCK });
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
  Object.entries(networks).forEach(([kind, { p, says, prior: expected }], k) => {
    const panel = { top: top + k * BLOCK, height: HEIGHT };
    live.frame(pen, left, panel, width, inks, NAMES[kind], [[panel.top + 6, "1"], [panel.top + HEIGHT - 6, "0"]]);
    live.bars(pen, p.slice(0, N).map((one, i) => (i < shown ? one : 0)), middle, column * (fig.lit === "halt" ? 0.9 : 0.6), panel, inks.halt);
    const level = (share) => panel.top + (1 - share) * HEIGHT;
    expected?.slice(0, N).forEach((share, i) => live.dot(pen, middle(i + 1), level(share), fig.lit === "prior" ? 6 : 3.5, inks.prior));
    live.write(pen, "says", left - 6, panel.top + HEIGHT + 14, inks.soft, "right");
    says.slice(0, shown).forEach((one, i) => {
      const verdict = digit === null ? "ink" : one === digit ? "answer" : "wrong";
      if (i < N && fig.lit === verdict) live.ring(pen, inks[verdict], middle(i + 1) - 9, panel.top + HEIGHT + 4, 18, 20);
      if (i < N) live.write(pen, one, middle(i + 1), panel.top + HEIGHT + 14, inks[verdict]);
    });
  });
  live.numbers(pen, 1, N, (step) => [step ? middle(step) : left - 6, top + BLOCK + HEIGHT + 34], inks);
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
const first = think().networks;
const fig = live.figure("digit", {
  ask: `Trained with a prior, “CNN first” takes ${first.cnn.steps.toFixed(1)} steps for this digit, and “patches” ${first.patches.steps.toFixed(1)}. Trained without a prior, which of them still takes several steps?`,
  choices: {
    both: ["Both", "One of them needs no second step to see all of the image."],
    cnn: ["“CNN first” alone", "It has seen the whole image before its first step."],
    patches: ["“Patches” alone", "Its places must hear of each other."],
    none_of_them: ["Neither", "For some, thinking pays without being asked for it."],
  },
  wins: "patches",
  truth: "Without a prior “CNN first” takes one step, and “patches” more than with it. Compare, and look at what each says on the way.",
  task: "find digits on which the two disagree.",
  found: ({ networks: { cnn, patches } }) => (last(cnn) !== last(patches) ? String(digit) : null),
  form: /^(\d|(?:-[0-9a-z]+)+|)\.(-?\d+)\.(|_free)$/,
  state: () => [digit ?? strokes.map((points) => `-${points.map(written).join("")}`).join(""), angle, prior].join("."),
  restore(drawn, degrees, trained) {
    if (/^\d$/.test(drawn)) choose(Number(drawn));
    else [digit, strokes] = [null, drawn.split("-").slice(1).map((points) => points.match(/../g) ?? []).map((points) => points.map(read))];
    turn.show((angle = live.clamp(Number(degrees), -180, 180)));
    choice.show((prior = trained));
  },
  height: (width) => place(width).height,
  grab: (from) => (within(from) ? { from } : null),
  pull,
  count: () => 1,
  press: {
    ArrowLeft: () => pick((digit ?? 10) - 1), ArrowRight: () => pick((digit ?? -1) + 1),
    ArrowUp: () => turnBy(15), ArrowDown: () => turnBy(-15),
  },
  opened: (bet) => replay(bet && fig.change(() => choice.show((prior = "_free")))), think, say, draw,
  apart: () => SQUARE, // a pen needs no more
});
fig.button("Another digit", () => pick((digit ?? -1) + 1));
fig.button("Clear, and draw", () => fig.change(clear));
const turn = fig.slider("Turned by", [-180, 180, 5], angle, (degrees) => `${degrees}°`, (degrees) => (angle = degrees));
const choice = fig.choose("Trained", PRIORS, prior, (chosen) => fig.change(() => (prior = chosen)));
fig.start();
