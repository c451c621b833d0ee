// Lesson 13: a chain of statements, and a question that waits for them. The reader says which statements leave, and when.
const KINDS = { plain: "As trained", taught: "Taught with leavers" };
const [N, MOST, DIGIT, VARIABLES] = [40, 3, 7, 20]; // loops at most, of the question and of a statement that leaves by hand
const [LEFT, PANEL] = [44, { top: 30, height: 176 }];
const networks = Object.fromEntries(Object.keys(KINDS).map((name) => [name, live.reader(live.weights[`leavers_${name}`].weights)]));
const n = live.onPhone ? 8 : 12; // statements
const FEWEST = { 8: 1, 12: 2 }[n]; // that must go on, so that the question is in time
const tokens = [...Array.from({ length: n }, (_, i) => [i, i ? i - 1 : VARIABLES + DIGIT]), [VARIABLES + 10, n - 1]];
const name = (i) => "abcdefghijkl"[i];
const words = tokens.map((_, i) => (i === n ? `${name(n - 1)}?` : `${name(i)}=${i ? name(i - 1) : DIGIT}`));
let [kind, leave, column] = ["plain", Array(n).fill(1), 1]; // leave: after how many loops, or 0: goes on
let fig = null;

// The loop before which the question cannot know, and whom it reads in each loop up to it: a token knows, and shows, arrows.
function need(leave) {
  let known = Array(n + 1).fill(1);
  let shown = known;
  const read = [];
  for (let loop = 1; ; loop += 1) {
    read.push(n - known[n]);
    known = known.map((arrows, i) => arrows + (shown[i - arrows] ?? 0));
    if (known[n] > n) return [loop, read];
    shown = known.map((arrows, i) => (leave[i] && loop > leave[i] ? shown[i] : arrows));
  }
}
const [FREE] = need(Array(n).fill(0));

function think() {
  const forced = leave.map((after) => after || N);
  const question = networks[kind](tokens, forced, N).at(-1);
  const [needed, read] = need(leave);
  return { kind, leave: [...leave], tokens, need: needed, read, loops: question.loops, right: question.answer === DIGIT, staying: leave.filter((after) => !after).length };
}

function say({ need, loops, right, staying }) {
  const late = need > FREE ? `, {limit:${need - FREE} more} than if all went on` : ", as if all went on";
  return `${live.number(staying, "statement")} of ${n} ${staying === 1 ? "goes" : "go"} on. The question is ${n + 1} arrows from its digit, and needs {limit:${live.number(need, "loop")}}${late}. ` +
    `In the network it {halt:leaves after ${live.number(loops, "loop")}}, and is ${right ? "right" : "wrong"}.`;
}

const left = (i) => LEFT + i * column;
function draw(pen, width, inks) {
  const { leave, need, loops, read } = fig.seen;
  const open = fig.bet !== null;
  column = (width - LEFT - 2) / (n + 1);
  const rows = Math.max(8, loops);
  const y = (loop) => PANEL.top + PANEL.height * (1 - loop / rows);
  const bottom = y(0);
  live.frame(pen, LEFT, PANEL, width, inks, "loops", Array.from({ length: rows / 2 }, (_, i) => [y(2 * i + 2), 2 * i + 2]));
  const bar = (i, loop, ink, part) => {
    const grown = fig.lit === part ? 3 : 0;
    live.fill(pen, ink, left(i) + 3 - grown, y(loop), column - 6 + 2 * grown, bottom - y(loop));
  };
  leave.forEach((after, i) => bar(i, after || (open ? loops : 1), after ? inks.halt : inks.pale, after ? "halt" : "answer"));
  words.forEach((word, i) => live.write(pen, word, left(i + 0.5), bottom + 16, inks.ink));
  if (fig.focused) live.ring(pen, inks.ink, left(fig.cursor) + 1, bottom + 4, column - 2, 24);
  if (!open) return;
  read.forEach((i, loop) => live.write(pen, loop + 1, left(i + 0.5), bottom + 38, inks.ink));
  bar(n, loops, inks.halt, "halt");
  live.write(pen, loops, left(n + 0.5), y(loops) - 10, inks.ink);
  live.stroke(pen, [[left(n), y(need)], [left(n + 1), y(need)]], inks.ink, fig.lit === "limit" ? 6 : 3.5);
}

const cycle = (i) => i < n && fig.change(() => ([fig.cursor, leave[i]] = [i, (leave[i] + 1) % (MOST + 1)]));
const later = (by) => () => fig.change(() => (leave[fig.cursor] = live.clamp((leave[fig.cursor] || MOST + 1) + by, 1, MOST + 1) % (MOST + 1)));
const all = (after) => () => fig.change(() => (leave = Array(n).fill(after)));
const byHeads = () => fig.change(() => (leave = networks[kind](tokens, [], N).slice(0, n).map(({ loops }) => (loops > MOST ? 0 : loops))));
fig = live.figure("leavers", {
  ask: `All ${n} statements leave after one loop. If all went on, the question would need ${FREE} loops; now it needs ${need(leave)[0]}. How many must go on, so that ${FREE} are enough?`,
  choices: {
    [FEWEST]: [live.number(FEWEST, "statement"), "The others may leave after one loop, if these stand where the question looks."],
    [n / 2]: [`Half of them: ${n / 2}`, "The question looks up few of them."],
    [n]: [`All ${n}`, "The question looks up few of them."],
  },
  wins: FEWEST,
  truth: FEWEST === 1 ? "One is enough. Which one?" : "Two are enough. Which two?",
  task: `let all others leave after one loop, and the question after ${FREE}. How few statements can go on?`,
  found: ({ need, loops, staying, leave }) => (need === FREE && loops === FREE && leave.every((after) => after < 2) ? staying : null),
  form: /^(plain|taught)\.([0-3]{8}|[0-3]{12})$/,
  state: () => `${kind}.${leave.join("")}`,
  restore(network, text) {
    kinds.show((kind = network));
    leave = Array.from({ length: n }, (_, i) => Number(text[i] ?? 1));
  },
  height: () => PANEL.top + PANEL.height + 52,
  count: () => n,
  press: { Space: () => cycle(fig.cursor), ArrowUp: later(1), ArrowDown: later(-1) },
  think, say, draw, tap: ({ x }) => cycle(live.clamp(Math.floor((x - LEFT) / column), 0, n)),
  apart: () => column,
});
const kinds = fig.choose("Network", KINDS, kind, (network) => fig.change(() => (kind = network)));
fig.button("All leave after one", all(1));
fig.button("All go on", all(0));
fig.button("As their heads say", byHeads);
fig.start();
