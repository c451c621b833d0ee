// Lesson 09: a network adds a list of binary numbers, and halts at each. Digits are kept with the least one first.
const TRAINED = 16; // digits
const [TOP, NUMBER, SUM, GAP] = [34, 22, 24, 22]; // heights: above the first row, of the rows, and between them
const network = live.read(live.weights.column.weights);
const coin = () => Number(Math.random() < 0.5);
const digits = (words) => [...words].reverse().map(Number);
let list = ["0111111111111111", "0000000000000000", "0000000000000001", "0000101001010111", "0000001111101001"].map(digits);
let cell;

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
    return { number: [...number], sum, travelled, need: Math.max(...travelled) + 1, taken, answer };
  });
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
  fig.seen.rows.forEach((row, t) => {
    const top = rowTop(t);
    row.number.forEach((digit, i) => {
      live.write(pen, digit, left(i) + cell / 2, top + NUMBER / 2 + 2, inks.ink);
      if (fig.bet === null) return;
      if (row.travelled[i] && row.travelled[i + 1] !== row.travelled[i] + 1)
        live.arrow(pen, left(i - row.travelled[i]) + cell / 2, top - 4, [-row.travelled[i] * cell, 0], inks.ink);
      const isRight = row.answer[i] === row.sum[i];
      const strong = !isRight || row.answer[i];
      const dim = isRight && fig.lit === "wrong";
      const ink = dim ? inks.line : !isRight ? inks.wrong : strong ? inks.answer : inks.pale;
      const grown = fig.lit === "answer" ? 0 : 1;
      live.fill(pen, ink, left(i) + grown, top + NUMBER, cell - 2 * grown, SUM);
      live.write(pen, row.answer[i], left(i) + cell / 2, top + NUMBER + SUM / 2, strong && !dim ? inks.paper : inks.ink);
    });
    if (fig.bet === null) return;
    const [x, y] = [right + 8, top + NUMBER + 4];
    live.fill(pen, inks.halt, x, fig.lit === "halt" ? y - 4 : y, row.taken * unit, fig.lit === "halt" ? SUM : SUM - 8);
    live.stroke(pen, [[x + row.need * unit, y - 5], [x + row.need * unit, y + SUM - 3]], inks.ink, fig.lit === "limit" ? 5 : 3);
    live.write(pen, row.taken, x + Math.max(row.taken, row.need) * unit + 6, y + SUM / 2 - 3, inks.ink, "left", inks.paper);
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

const [, nothing, one] = think().rows;
const fig = live.figure("column", {
  ask: "The first number ends in 15 ones. Adding 1 will send a carry through all of them: 16 steps. But 0 is added before. How many steps does that take?",
  choices: { short: "2 or 3", half: "About 8", long: "16: a carry might be on its way" },
  wins: nothing.taken <= 3 ? "short" : "long",
  truth: `Adding 0 takes ${live.number(nothing.taken, "step")}, adding 1 takes ${one.taken}: only a place at which a carry stands objects. Now change digits.`,
  height: () => rowTop(list.length) - GAP + 4,
  count: () => list.length * list[0].length,
  across: () => list[0].length,
  press: { Space: flipAtCursor },
  think, say, draw, tap,
  places: (t, i) => [left(i) + cell / 2, rowTop(t) + NUMBER / 2],
});
fig.button("New numbers", () => fig.change(() => (list = list.map((number) => number.map(coin)))));
fig.slider("Digits", [8, 24, 1], 16, String, (n) => (list = list.map((number) => Array.from({ length: n }, (_, i) => number[i] ?? coin()))));
fig.start();
