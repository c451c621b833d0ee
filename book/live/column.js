// Lesson 09: a network adds a list of binary numbers, and halts at each. Digits are kept with the least one first.
const TRAINED = 16; // digits
const [TOP, NUMBER, SUM, GAP] = [34, 24, 24, 22]; // heights: above the first row, of the rows, and between them
const network = live.read(live.weights.column.weights);
const coin = () => Number(Math.random() < 0.5);
const digits = (words) => [...words].reverse().map(Number);
const places = live.onPhone ? 8 : 16;
const ones = "1".repeat(places - 1);
let list = [ones, "", "1", "101001010111", "1111101001"].map((words) => digits(words.slice(-places).padStart(places, "0")));
let [cell, shown] = [1, 0]; // shown: how many of the steps of all sums

// Adds two numbers: their sum, and how far the carry into each place has come (0: none comes).
function added(a, b) {
  let far = 0;
  const travelled = a.map((digit, i) => {
    const came = far;
    if (digit !== b[i]) far = far && far + 1;
    else far = digit;
    return came;
  });
  return { sum: a.map((digit, i) => digit ^ b[i] ^ Number(travelled[i] > 0)), travelled };
}
function think() {
  const n = list[0].length;
  const near = live.row(n);
  let total = list[0].map(() => 0);
  let h;
  const rows = list.map((number) => {
    const { sum, travelled } = added(total, number);
    total = sum;
    const input = (flag) => number.map((digit) => [digit, flag]);
    const together = live.together(network, near, input(0), { x: input(1), h });
    const taken = Math.min(n + 10, live.haltsAt(together, 0, n + 10));
    h = together(taken).map((place) => place.h);
    const answer = together(taken).map((place) => Number(place.answer > 0));
    const steps = Array.from({ length: taken }, (_, n) => together(n + 1).map((place) => Number(place.answer > 0)));
    return { number: [...number], sum, travelled, need: Math.max(...travelled) + 1, taken, answer, steps };
  });
  shown = live.total(rows.map((row) => row.taken));
  return { rows };
}

function say({ rows }) {
  const last = rows.reduce((most, row, t) => (t && row.need > rows[most].need ? t : most), 1);
  const wrong = rows.filter((row) => row.answer.some((digit, i) => digit !== row.sum[i])).length;
  const right = wrong ? `{wrong:${wrong} of ${rows.length} sums are wrong}` : `{answer:all ${rows.length} sums are right}`;
  const { need, taken } = rows[last];
  const far = need > 1 ? `travels ${live.number(need - 1, "place")} at number ${last + 1}: that needs {limit:${need} steps}, and it takes {halt:${taken}}` : "comes nowhere";
  const calm = rows.slice(1).filter((row) => row.need === 1).map((row) => row.taken);
  const silence = calm.length ? ` Where no carry comes, it stops at step {halt:${[...new Set(calm)].join(" or ")}}: only a place at which a carry stands objects, and there is none.` : "";
  const wide = list[0].length > TRAINED ? ` It was trained on at most ${TRAINED} digits.` : "";
  return `The longest carry ${far}; ${right}.${silence}${wide}`;
}

const rowTop = (t) => TOP + t * (NUMBER + SUM + GAP);
const left = (i) => (list[0].length - 1 - i) * cell; // of the place i
function draw(pen, width, inks) {
  const n = list[0].length;
  const right = width > 600 ? width - 220 : width - 96; // there the steps begin
  const unit = (width - right - 38) / (n + 4);
  cell = right / n;
  let before = 0; // steps of the sums above
  fig.seen.rows.forEach((row, t) => {
    const [top, now] = [rowTop(t), live.clamp(shown - before, 0, row.taken)];
    before += row.taken;
    row.number.forEach((digit, i) => {
      live.write(pen, digit, left(i) + cell / 2, top + NUMBER / 2 + 2, inks.ink);
      live.ring(pen, inks.line, left(i) + 1, top + NUMBER, cell - 2, SUM, 1); // where the sum will stand
      if (fig.bet === null || !now) return;
      const far = Math.min(row.travelled[i], now - 1); // a carry goes one place a step
      if (far > 0 && row.travelled[i + 1] !== row.travelled[i] + 1)
        live.arrow(pen, left(i - row.travelled[i]) + cell / 2, top - 4, [-far * cell, 0], inks.ink);
      const answer = row.steps[now - 1][i];
      const isRight = answer === row.sum[i];
      const strong = !isRight || answer;
      const dim = isRight && fig.lit === "wrong";
      const ink = dim ? inks.line : !isRight ? inks.wrong : strong ? inks.answer : inks.pale;
      const grown = fig.lit === "answer" ? 0 : 1;
      live.fill(pen, ink, left(i) + grown, top + NUMBER, cell - 2 * grown, SUM);
      live.write(pen, answer, left(i) + cell / 2, top + NUMBER + SUM / 2, strong && !dim ? inks.paper : inks.ink);
    });
    if (fig.bet === null || !now) return;
    const [x, y] = [right + 8, top + NUMBER + 4];
    live.fill(pen, inks.halt, x, fig.lit === "halt" ? y - 4 : y, now * unit, fig.lit === "halt" ? SUM : SUM - 8);
    live.stroke(pen, [[x + row.need * unit, y - 5], [x + row.need * unit, y + SUM - 3]], inks.ink, fig.lit === "limit" ? 5 : 3);
    live.write(pen, now, x + Math.max(row.taken, row.need) * unit + 6, y + SUM / 2 - 3, inks.ink, "left", inks.paper);
  });
  live.write(pen, "steps", right + 26, TOP + NUMBER / 2, inks.soft);
  const [t, column] = [Math.floor(fig.cursor / n), fig.cursor % n];
  if (fig.focused) live.ring(pen, inks.ink, column * cell, rowTop(t), cell, NUMBER);
}

const flip = (t, i) => fig.change(() => (list[t][i] ^= 1));
function tap({ x, y }) {
  const i = list[0].length - 1 - Math.floor(x / cell);
  const t = list.findIndex((_, row) => y > rowTop(row) - 4 && y < rowTop(row) + NUMBER + 4);
  if (t >= 0 && i in list[0]) flip(t, i);
}
const flipAtCursor = () => flip(Math.floor(fig.cursor / list[0].length), list[0].length - 1 - (fig.cursor % list[0].length));

const replay = () => fig.play(live.total(fig.seen.rows.map((row) => row.taken)), 120, (step) => (shown = step));
const written = (number) => parseInt([...number].reverse().join(""), 2).toString(36); // in the address
const [, nothing, one] = think().rows;
const fig = live.figure("column", {
  ask: `The first number ends in ${ones.length} ones. Adding 1 will send a carry through all of them: ${places} steps. But 0 is added before. How many steps does that take?`,
  choices: {
    short: ["2 or 3", "Nobody objects, so it stops."],
    half: [`About ${places / 2}`, "It does not stop halfway for want of news."],
    long: [`${places}: a carry might be on its way`, "It might, and the last place cannot know; yet nobody objects, so it stops."],
  },
  wins: nothing.taken <= 3 ? "short" : "long",
  truth: `Adding 0 takes ${live.number(nothing.taken, "step")}, adding 1 takes ${one.taken}: only a place at which a carry stands objects. Now change digits.`,
  task: `let two of the five sums take ${places} steps or more.`,
  found: ({ rows }) => (rows.filter(({ taken }) => taken >= places).length > 1 ? list.map(written).join() : null),
  form: /^(\d+)((?:\.[0-9a-z]{1,5}){5})$/,
  state: () => [list[0].length, ...list.map(written)].join("."),
  restore(length, numbers) {
    const n = live.clamp(Number(length), 8, 24);
    list = numbers.slice(1).split(".").map((text) => digits(parseInt(text, 36).toString(2).padStart(n, "0").slice(-n)));
    slider.show(n);
  },
  height: () => rowTop(list.length) - GAP + 4,
  count: () => list.length * list[0].length,
  across: () => list[0].length,
  press: { Space: flipAtCursor },
  opened: replay, think, say, draw, tap,
  apart: () => Math.min(cell, NUMBER),
});
fig.button("New numbers", () => fig.change(() => (list = list.map((number) => number.map(coin)))));
const slider = fig.slider("Digits", [8, 24, 1], places, String, (n) => (list = list.map((number) => Array.from({ length: n }, (_, i) => number[i] ?? coin()))));
fig.start();
