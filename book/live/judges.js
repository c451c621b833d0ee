// Lesson 11: a line thinks, and a judge says how likely it is that all of it is right. The reader moves the step.
const VALUES = { two: 2, five: 5 }; // of a place, for each network
const [N, LEFT, ROWS, PANEL] = [20, 54, [30, 62], { top: 136, height: 190 }]; // ROWS: of values, and of answers
const networks = {};
for (const name of Object.keys(VALUES)) {
  const { weights } = live.weights[`judges_${name}`];
  networks[name] = { core: live.read(weights), answer: live.linear(weights, "answer"), judge: live.linear(weights, "judge") };
}
let [kind, shown, cell] = ["two", 1];
const first = live.onPhone ? ["10100011", "10100000"] : ["1010001000000110", "1000101010000000"];
let [values, walls] = first.map((text) => [...text].map(Number));

function think() {
  const [{ core, answer, judge }, K] = [networks[kind], VALUES[kind]];
  const need = walls.map((_, i) => i + 1 - walls.lastIndexOf(1, i));
  const truth = [];
  values.forEach((value, i) => truth.push(((walls[i] ? 0 : truth[i - 1]) + value) % K));
  const x = values.map((value, i) => [...Array.from({ length: K }, (_, k) => Number(k === value)), walls[i]]);
  const together = live.together(core, live.row(x.length), x);
  const steps = Array.from({ length: N }, (_, s) => {
    const places = together(s + 1);
    const answers = places.map(({ h }) => live.largest(answer(h)));
    const said = places.map(({ h }) => judge(h)); // how likely each place is right itself
    const q = said.reduce((all, [logit]) => all * live.sigmoid(logit), 1);
    const unknown = need.filter((step) => step > s + 1).length;
    return { answers, unknown, q: [q], halts: q > 0.5 || s === N - 1 };
  });
  return { kind, values: [...values], walls: [...walls], need, longest: Math.max(...need), truth, steps, halt: steps.findIndex(({ halts }) => halts) + 1 };
}

const percent = (q) => (q < 0.001 ? "less than 0.1\u00a0%" : `${(100 * q).toFixed(q < 0.1 || q > 0.99 ? 1 : 0)}\u00a0%`);
function say({ steps, halt, longest, truth }) {
  const [{ unknown, q }, K] = [steps[shown - 1], VALUES[kind]];
  const now = unknown ? `{limit:${live.number(unknown, "answer is", "answers are")} unknown}: ${unknown > 1 ? "all guesses are" : "its guess is"} right once in ${(K ** unknown).toLocaleString("en")} times` : "{limit:all answers can be known}";
  const wrong = steps[halt - 1].answers.filter((one, i) => one !== truth[i]).length;
  const when = halt < longest ? `{wrong:${live.number(longest - halt, "step")} too early}` : halt === longest ? "just in time" : `${live.number(halt - longest, "step")} later than it could`;
  return `At step ${shown}, ${now}, and the judge says {halt:${percent(q[0])}}. Above one half, the line {halt:halts at step ${halt}}, ${when}, with ${wrong ? live.number(wrong, "place") : "no place"} wrong.`;
}

const left = (place) => LEFT + place * cell;
function draw(pen, width, inks) {
  const { steps, halt, longest, truth, need } = fig.seen;
  const [open, K] = [fig.bet !== null, VALUES[kind]];
  cell = (width - LEFT - 2) / values.length;
  ["value", "answer"].forEach((name, row) => live.write(pen, name, LEFT - 6, ROWS[row] + 13, inks.soft, "right"));
  values.forEach((value, i) => {
    const answer = steps[shown - 1].answers[i];
    const isRight = answer === truth[i];
    const isHidden = need[i] > shown && (isRight || shown !== halt); // a wrong guess is shown where it is taken
    live.write(pen, value, left(i + 0.5), ROWS[0] + 13, inks.ink);
    const ink = isHidden ? "line" : isRight ? "answer" : "wrong";
    const [dim, grown] = [fig.lit === (ink === "wrong" ? "answer" : "wrong"), fig.lit === ink ? 4 : 0];
    live.fill(pen, inks[dim ? "paper" : ink], left(i) + 1, ROWS[1] - grown, cell - 2, 26 + 2 * grown);
    live.write(pen, isHidden ? "?" : answer, left(i + 0.5), ROWS[1] + 13, dim || isHidden ? inks.ink : inks.paper);
    if (!walls[i]) return;
    live.stroke(pen, [[left(i), 12], [left(i), ROWS[1] + 26]], i ? inks.ink : inks.soft, 3);
    live.handle(pen, left(i), 11, inks, i ? inks.ink : inks.soft);
  });
  if (fig.focused) live.ring(pen, inks.ink, left(fig.cursor), ROWS[0], cell, 26);
  const column = (width - LEFT - 2) / N;
  const middle = (step) => LEFT + (step - 0.5) * column;
  const y = (q) => PANEL.top + PANEL.height * Math.min(1, -Math.log10(q) / 3);
  live.frame(pen, LEFT, PANEL, width, inks, "how likely is it that all are right?", [1, 0.5, 0.1, 0.01, 0.001].map((q) => [y(q), q]));
  live.numbers(pen, column > 24 ? 1 : 5, N, (step) => [step ? middle(step) : LEFT - 6, PANEL.top + PANEL.height + 14], inks);
  const upright = (step, ink, thick, dash) => live.stroke(pen, [[middle(step), PANEL.top], [middle(step), PANEL.top + PANEL.height]], ink, thick, dash);
  upright(longest, inks.ink, fig.lit === "limit" ? 5 : 2.5);
  live.stroke(pen, steps.flatMap((step, s) => [[LEFT + s * column, y(K ** -step.unknown)], [LEFT + (s + 1) * column, y(K ** -step.unknown)]]), inks.ink, fig.lit === "limit" ? 4 : 2);
  upright(shown, inks.soft, 1.5, [2, 3]);
  if (!open) return;
  upright(halt, inks.halt, fig.lit === "halt" ? 6 : 3.5, [10, 6]);
  live.stroke(pen, [[LEFT, y(0.5)], [width, y(0.5)]], inks.halt, 2);
  live.write(pen, "above this line it halts", width - 4, y(0.5) + 13, inks.ink, "right");
  steps.forEach(({ q: [q] }, s) => live.dot(pen, middle(s + 1), y(q), 4.5, inks.halt));
}

function show(n) {
  slider.show((shown = live.clamp(n, 1, N)));
  fig.say(say(fig.seen));
}
const cycle = (i) => i in values && fig.change(() => (values[i] = (values[i] + 1) % VALUES[kind]));
const toggle = (i) => i > 0 && i < values.length && fig.change(() => (walls[i] ^= 1));
const tap = (point) => (point.y < ROWS[0] ? toggle(Math.round((point.x - LEFT) / cell)) : point.y < ROWS[1] && cycle(Math.floor((point.x - LEFT) / cell)));
const replay = () => fig.play(fig.seen.halt - 1, 450, (n) => show(n + 1));
const random = (n) => Math.floor(n * Math.random());
function turn(to) {
  kind = to;
  values = values.map(() => random(VALUES[kind]));
}
const state = () => `${kind}.${values.join("")}.${walls.join("")}`;
const { longest, halt, steps } = think();
const fig = live.figure("judges", {
  ask: `All values are bits. After step ${longest - 1} one place has still not heard from its wall, and tosses a coin. One step later it knows. When will the line halt?`,
  choices: {
    early: [`At step ${longest - 1}, on the coin`, "A coin is right half the time, and a little more is enough."],
    now: [`At step ${longest}, when all is known`, "It could wait for one step more, and does not: a coin is right half the time."],
    end: [`At step ${N}, to be sure`, "It halts as soon as the judge says more than one half."],
  },
  wins: halt < longest ? "early" : halt === longest ? "now" : "end",
  truth: `The judge says ${percent(steps[longest - 2].q[0])} at step ${longest - 1}; the line halts at step ${halt}. Now try five values.`,
  task: "make it halt in time on bits, with a segment of five places or more.",
  found: (seen) => (kind === "two" && seen.longest > 4 && seen.halt >= seen.longest ? state() : null),
  form: /^(two|five)\.([0-4]{8}|[0-4]{16})\.(1[01]*)$/,
  state,
  restore(name, texts, reset) {
    kinds.show((kind = name));
    values = [...texts].map((value) => value % VALUES[kind]);
    walls = values.map((_, i) => Number(reset[i] ?? 0));
  },
  height: () => PANEL.top + PANEL.height + 26,
  count: () => values.length,
  press: { Space: () => cycle(fig.cursor), w: () => toggle(fig.cursor), ArrowUp: () => show(shown + 1), ArrowDown: () => show(shown - 1) },
  opened: replay, think, say, draw, tap,
  apart: () => Math.min(cell, 26),
});
const kinds = fig.choose("Values", { two: "Bits", five: "Five values" }, kind, (name) => fig.change(() => turn(name)));
fig.button("New line", () => fig.change(() => ([values, walls] = [values.map(() => random(VALUES[kind])), walls.map((_, i) => Number(!i || random(6) === 0))])));
const slider = fig.slider("Step", [1, N, 1], shown, String, show);
fig.start();
