// Lesson 06: six bits, a network in a hurry that is stopped by its head, and lesson 05's, stopped by its certainty.
const [L, N, ROWS] = [6, 10, 8]; // places, and steps at most; steps that are drawn
const [LEFT, TILES, ROW] = [46, 44, 30]; // of the line: left of it the steps, above it the bits; a step
const all = Array.from({ length: 2 ** L }, (_, i) => Array.from({ length: L }, (_, k) => (i >> (L - 1 - k)) & 1));
const index = (line) => line.reduce((sum, bit) => 2 * sum + bit, 0);
const truth = (line) => line.map((_, i) => line.slice(0, i + 1).reduce((sum, bit) => sum ^ bit));
const rules = {
  head: { label: "Objects if λ is below", weights: live.weights.vote, level: 0.2, signal: ({ halt }) => live.sigmoid(halt) },
  certainty: { label: "Is not sure below", weights: live.weights.line, level: 0.9, signal: ({ answer }) => live.sigmoid(Math.abs(answer)) },
};
for (const rule of Object.values(rules)) {
  const network = live.read(rule.weights.weights);
  rule.lines = all.map((line) => {
    const together = live.together(network, live.row(L), line.map((bit, i) => [bit, Number(i === 0)]));
    const steps = Array.from({ length: N }, (_, n) => together(n + 1));
    const wrong = steps.map((places) => truth(line).map((odd, i) => (places[i].answer > 0) !== (odd === 1)));
    return { signal: steps.map((places) => places.map(rule.signal)), wrong };
  });
}
let [bits, name] = [[1, 1, 0, 0, 0, 0], "head"];
let [tile, cell, grid] = [0, 0, { x: 0, y: 0 }];

// Each line halts at the first step at which no place objects, or at the last.
function think() {
  const { label, lines, level } = rules[name];
  slider.show(level);
  slider.previousSibling.textContent = `${label} `;
  const objects = lines.map(({ signal }) => signal.map((places) => places.map((value) => value < level)));
  const halts = objects.map((steps) => steps.findIndex((places) => !places.includes(true)) + 1 || N);
  const right = halts.map((step, i) => !lines[i].wrong[step - 1].includes(true));
  return { bits: [...bits], rule: name, level, halts, right, objects, mine: index(bits) };
}

const listed = (objects) => objects.flatMap((no, i) => (no ? [i + 1] : []));
const places = (found) => (found.length === 1 ? `place ${found[0]} objects` : `places ${found.slice(0, -1).join(", ")} and ${found.at(-1)} object`);
function say({ halts, right, objects, mine }) {
  const twin = mine ^ (2 ** (L - 1));
  const step = Math.min(halts[mine], halts[twin]);
  const judged = (line) => (right[line] ? "{answer:right}" : "{wrong:wrong}");
  const when = halts[mine] < L ? `{halt:halts at step ${halts[mine]}}, before its last place can know the first bit`
    : halts[mine] < N ? `halts at step ${halts[mine]}` : `never halts, and is stopped at step ${N}`;
  const later = halts[mine] > step ? mine : twin;
  const who = halts[later] > step ? ` At step ${step} ${later === mine ? "" : "of its twin (dashed), whose first bit is turned, "}{prior:${places(listed(objects[later][step - 1]))}}.` : "";
  const early = halts.flatMap((halt, line) => (halt < L ? [line] : []));
  const wrong = early.filter((line) => !right[line]).length;
  const ofThem = !early.length ? "None of the 64 lines halts early" : `Of the 64 lines {halt:${early.length} ${early.length === 1 ? "halts" : "halt"} early}, ${wrong ? `{wrong:${wrong} of them wrong}` : "all of them {answer:right}"}`;
  return `${name === "head" ? "The line" : "In another network, trained without hurry and stopped when all places are sure, the line"} ${when}, and is ${judged(mine)}.${who} ${ofThem}.`;
}

function draw(pen, width, inks) {
  const { halts, right, mine } = fig.seen;
  const { signal, wrong } = rules[name].lines[mine];
  const [x, y] = [(i) => LEFT + i * tile, (n) => TILES + (n - 1) * ROW];
  bits.forEach((bit, i) => {
    live.fill(pen, bit ? inks.answer : inks.paper, x(i) + 2, 2, tile - 4, TILES - 8);
    live.ring(pen, inks.answer, x(i) + 2, 2, tile - 4, TILES - 8);
    live.write(pen, bit, x(i + 0.5), TILES / 2 - 2, bit ? inks.paper : inks.ink);
    if (fig.focused && i === fig.cursor) live.ring(pen, inks.ink, x(i), 0, tile, TILES - 4);
  });
  for (let n = 1; n <= ROWS; n++)
    signal[n - 1].forEach((value, i) => {
      const [objects, seen] = [value < rules[name].level, n > halts[mine] ? 0.25 : 1];
      const box = [x(i) + 1, y(n) + 1, tile - 2, ROW - 2];
      const cross = (up) => [-7, 7].map((d) => [x(i + 0.5) + d, y(n + 0.5) + up * d]);
      live.faint(pen, seen * (objects ? 1 : 0.18 * (1 - value)), () => live.fill(pen, fig.lit === "prior" && objects ? inks.ink : inks.prior, ...box));
      live.faint(pen, seen, () => {
        live.ring(pen, inks.line, ...box);
        if (wrong[n - 1][i]) for (const up of [-1, 1]) live.stroke(pen, cross(up), inks.wrong, fig.lit === "wrong" ? 6 : 3.5);
      });
    });
  live.numbers(pen, 1, ROWS, (n) => [LEFT - 6, n ? y(n + 0.5) : TILES / 2 - 2], inks, "right");
  const stairs = bits.flatMap((_, i) => [[x(i), y(i + 1)], [x(i + 1), y(i + 1)]]);
  live.stroke(pen, stairs, inks.ink, fig.lit === "limit" ? 5 : 2.5);
  if (halts[mine] <= ROWS) live.stroke(pen, [[LEFT, y(halts[mine] + 1)], [x(L), y(halts[mine] + 1)]], inks.halt, fig.lit === "halt" ? 6 : 4, [10, 6]);
  if (fig.bet === null) return;
  const place = (line) => [grid.x + (line % 8) * cell, grid.y + Math.floor(line / 8) * cell];
  all.forEach((bits, line) => {
    const [left, top] = place(line);
    const ink = !right[line] ? "wrong" : halts[line] < L ? "halt" : "line";
    live.faint(pen, fig.lit === "wrong" && ink !== "wrong" ? 0.3 : 1, () => live.fill(pen, inks[ink], left + 1, top + 1, cell - 2, cell - 2));
    live.write(pen, halts[line], left + cell / 2, top + cell / 2, ink === "line" ? inks.ink : "#000000");
    if (line < 8) live.write(pen, bits.slice(3).join(""), left + cell / 2, grid.y - 12, inks.soft);
    if (line % 8 === 0) live.write(pen, bits.slice(0, 3).join(""), grid.x - 20, top + cell / 2, inks.soft);
  });
  live.title(pen, "all 64 lines, first bits down: when each halts", grid.x - 38, { top: grid.y - 24 }, inks);
  live.ring(pen, inks.ink, ...place(mine), cell, cell);
  live.ring(pen, inks.ink, ...place(mine ^ 32), cell, cell, 2, [3, 3]);
}

const flip = (i) => fig.change(() => (bits[i] ^= 1));
function tap({ x, y }) {
  const [i, column, row] = [(x - LEFT) / tile, (x - grid.x) / cell, (y - grid.y) / cell].map(Math.floor);
  if (y < TILES && i in bits) flip(i);
  else if (column >= 0 && column < 8 && row >= 0 && row < 8) fig.change(() => (bits = [...all[8 * row + column]]));
}
const fig = live.figure("vote", {
  ask: "The line below halts at step 5, and is right, though its last place has not heard the first bit. Turn that bit to 0: at step 5 the last place sees no difference. What will the line do?",
  choices: {
    wrong: ["Halt at step 5, and be wrong", "The last place sees no difference, but another place does."],
    right: ["Halt at step 5, and be right", "Its last place could only guess, and would guess as before."],
    on: ["Think on", "The last place sees no difference, but another place does."],
  },
  wins: "on",
  truth: "It thinks on, since a place that knows the bit objects. Silence says that the bit is 1. Now flip bits, and compare the rules.",
  task: "under “When all are sure”, lower the slider until a line whose first bit is 0 halts early, and right.",
  found: ({ halts, right, mine }) => (mine < 32 && halts[mine] < L && right[mine] ? mine.toString(2) : null),
  form: /^(head|certainty)\.(\d+)\.([01]{6})$/,
  state: () => `${name}.${Math.round(100 * rules[name].level)}.${bits.join("")}`,
  restore(rule, level, line) {
    choice.show((name = rule));
    rules[name].level = live.clamp(level / 100, 0.05, 0.99);
    bits = [...line].map(Number);
  },
  height(width) {
    const beside = width >= 560;
    const line = TILES + ROWS * ROW + 4;
    tile = ((beside ? width / 2 : width) - LEFT - 2) / L;
    cell = Math.min(36, ((beside ? width / 2 - 20 : width) - 46) / 8);
    grid = beside ? { x: width - 8 * cell - 2, y: 46 } : { x: 44, y: line + 56 };
    const end = fig.bet === null ? 0 : grid.y + 8 * cell + 4; // before the bet there is no table
    return Math.max(line, end);
  },
  count: () => L,
  press: { Space: () => flip(fig.cursor) },
  opened: () => flip(0), verb: "Turn the first bit", think, say, draw, tap,
  apart: () => Math.min(tile, cell),
});
const choice = fig.choose("Rule", { head: "Learnt, in a hurry", certainty: "When all are sure" }, name, (chosen) => fig.change(() => (name = chosen)));
const slider = fig.slider(rules.head.label, [0.05, 0.99, 0.01], rules.head.level, (level) => level.toFixed(2), (level) => (rules[name].level = level));
fig.start();
