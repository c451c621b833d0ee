// Lesson 13: a chain of statements, and a question that waits for them. The reader says which statements go on.
const [N, DIGIT, VARIABLES] = [40, 7, 20]; // loops at most, of the question
const [LEFT, PANEL] = [84, { top: 30, height: 176 }];
const network = live.reader(live.weights.leavers.weights);
const n = live.onPhone ? 8 : 12; // statements
const FEWEST = { 8: 1, 12: 2 }[n]; // that must go on, so that the question is in time
const tokens = [...Array.from({ length: n }, (_, i) => [i, i ? i - 1 : VARIABLES + DIGIT]), [VARIABLES + 10, n - 1]];
const name = (i) => "abcdefghijkl"[i];
const words = tokens.map((_, i) => (i === n ? `${name(n - 1)}?` : `${name(i)}=${i ? name(i - 1) : DIGIT}`));
let [staying, column] = [Array(n).fill(false), 1]; // staying: which statements go on
let fig = null;

// The loop before which the question cannot know, and whom it reads in each loop up to it: a token knows, and shows, arrows.
function need(staying) {
  let known = Array(n + 1).fill(1);
  let shown = known;
  const read = [];
  for (let loop = 1; ; loop += 1) {
    read.push(n - known[n]);
    known = known.map((arrows, i) => arrows + (shown[i - arrows] ?? 0));
    if (known[n] > n) return [loop, read];
    shown = known.map((arrows, i) => (loop > 1 && !staying[i] ? shown[i] : arrows));
  }
}
const [FREE] = need(Array(n).fill(true));

function think() {
  const leave = staying.map((stays) => (stays ? N : 1));
  const question = network(tokens, leave, N).at(-1);
  const [needed, read] = need(staying);
  return { leave, tokens, need: needed, read, loops: question.loops, right: question.answer === DIGIT };
}

function say({ loops, right }) {
  const many = staying.filter(Boolean).length;
  const others = many === n ? "All statements go on" : many ? `${many} of ${n} statements ${many === 1 ? "goes" : "go"} on` : `All ${n} statements leave after one loop`;
  const late = loops > FREE ? `, {limit:${loops - FREE} more} than if all went on` : many < n ? ", as if all went on" : "";
  return `${others}. The question has its digit after {halt:${live.number(loops, "loop")}}${late}${right ? "" : ", and is wrong"}.`;
}

const left = (i) => LEFT + i * column;
function draw(pen, width, inks) {
  const { loops, read } = fig.seen;
  const open = fig.bet !== null;
  column = (width - LEFT - 2) / (n + 1);
  const y = (loop) => PANEL.top + PANEL.height * (1 - loop / 8);
  const bottom = y(0);
  live.frame(pen, LEFT, PANEL, width, inks, "loops", [2, 4, 6, 8].map((loop) => [y(loop), loop]));
  const bar = (i, loop, ink, part) => {
    const grown = fig.lit === part ? 3 : 0;
    live.fill(pen, ink, left(i) + 3 - grown, y(loop), column - 6 + 2 * grown, bottom - y(loop));
  };
  staying.forEach((stays, i) => bar(i, stays ? loops : 1, stays ? inks.pale : inks.halt, stays ? "answer" : "halt"));
  words.forEach((word, i) => live.write(pen, word, left(i + 0.5), bottom + 16, inks.ink));
  if (fig.focused) live.ring(pen, inks.ink, left(fig.cursor) + 1, bottom + 4, column - 2, 24);
  bar(n, loops, inks.halt, "halt");
  live.write(pen, loops, left(n + 0.5), y(loops) - 10, inks.ink);
  live.stroke(pen, [[LEFT, y(FREE)], [width, y(FREE)]], inks.ink, fig.lit === "limit" ? 5 : 2.5, [6, 5]);
  live.write(pen, `if all go on: ${FREE}`, LEFT + 4, y(FREE) - 12, inks.ink, "left", inks.paper);
  if (!open) return;
  live.write(pen, "read in loop", LEFT - 6, bottom + 38, inks.soft, "right");
  read.forEach((i, loop) => live.write(pen, loop + 1, left(i + 0.5), bottom + 38, inks.ink));
}

const turn = (i) => i < n && fig.change(() => ([fig.cursor, staying[i]] = [i, !staying[i]]));
const all = (stay) => () => fig.change(() => staying.fill(stay));
fig = live.figure("leavers", {
  ask: `All ${n} statements leave after one loop, and so the question has to wait for ${need(staying)[0]} loops. How many must go on thinking, so that it is ready after ${FREE}?`,
  choices: {
    [FEWEST]: [live.number(FEWEST, "statement"), "The others may leave, if these stand where the question looks."],
    [n / 2]: [`Half of them: ${n / 2}`, "The question looks up few of them."],
    [n]: [`All ${n}`, "The question looks up few of them."],
  },
  wins: FEWEST,
  truth: FEWEST === 1 ? "One is enough. Which one?" : "Two are enough. Which two?",
  task: `let the question be ready after ${FREE} loops, while as few statements as possible go on.`,
  found: ({ need, loops }) => (need === FREE && loops === FREE ? staying.filter(Boolean).length : null),
  form: /^([01]{8}|[01]{12})$/,
  state: () => staying.map(Number).join(""),
  restore: (text) => staying.forEach((_, i) => (staying[i] = text[i] === "1")),
  height: () => PANEL.top + PANEL.height + 52,
  count: () => n,
  press: { Space: () => turn(fig.cursor) },
  think, say, draw, tap: ({ x }) => turn(live.clamp(Math.floor((x - LEFT) / column), 0, n)),
  apart: () => column,
});
fig.button("All leave", all(false));
fig.button("All go on", all(true));
fig.start();
