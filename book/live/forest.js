// Lesson 08: whom a node reads, alone and together, and when it halts. The reader draws the arrows from nodes to parents.
const KINDS = ["together", "alone"];
const [LEFT, ROW, READS, STEPS] = [60, 62, [140, 160], [192, 222]]; // READS, STEPS: rows of words and numbers, as KINDS
const N = 16; // steps
const networks = Object.fromEntries(KINDS.map((kind) => [kind, live.tokens(live.weights[`forest_${kind}`].weights)]));
const tree = live.tree(live.onPhone ? 12 : 16, LEFT, ROW);
const { x } = tree;
let shown = 1;
let fig = null;

function think() {
  const parents = [...tree.parents];
  if (fig?.seen?.parents.join() === parents.join()) return fig.seen; // the step alone has changed
  const seen = { parents };
  for (const kind of KINDS) seen[kind] = live.climb(networks[kind], tree.all(), kind === "alone", N).slice(0, parents.length);
  return seen;
}
// Whom a node reads at the step shown, or read last; and how many arrows up that is.
function reading({ path, reads, taken }) {
  const read = reads[Math.min(shown, taken) - 1];
  const up = path.indexOf(read);
  return { read, up: up > 0 ? `${up} up` : up ? "elsewhere" : "itself" };
}
function say(seen) {
  const [together, alone] = KINDS.map((kind) => seen[kind][fig.cursor]);
  const depth = together.path.length - 1;
  const wrong = KINDS.flatMap((kind) => seen[kind].filter(({ right }) => !right)).length;
  return `Node ${fig.cursor} is ${live.number(depth, "arrow")} below its root. Alone it {halt:takes ${live.number(alone.taken, "step")}}, together {halt:${together.taken}}. ` +
    `${wrong ? `{wrong:${live.number(wrong, "answer")} of all nodes are wrong}` : "All nodes are {answer:right}"}.`;
}

function draw(pen, width, inks) {
  const { seen, cursor } = fig;
  tree.fit(width);
  seen.parents.forEach((_, i) => tree.draw(pen, i, inks, i === cursor ? inks.ink : null));
  if (fig.bet === null) return;
  const half = Math.min(11, (x(1) - x(0)) / 2 - 1);
  KINDS.forEach((kind, row) => {
    const { read, up } = reading(seen[kind][cursor]);
    const ink = row ? inks.soft : inks.ink;
    if (read !== cursor) tree.arc(pen, cursor, read, 1, ink, row ? 2 : 3.5);
    live.write(pen, `${kind}: ${up}`, live.clamp(x(read), 50, width - 50), READS[row], ink, "center", inks.paper);
    live.write(pen, kind, LEFT - 6, STEPS[row], inks.soft, "right");
    seen[kind].forEach(({ taken, right }, i) => {
      if (taken > shown) return;
      const grown = fig.lit === (right ? "halt" : "wrong") ? 3 : 0;
      live.fill(pen, right ? inks.halt : inks.wrong, x(i) - half - grown, STEPS[row] - 12 - grown, 2 * (half + grown), 24 + 2 * grown);
      live.write(pen, taken, x(i), STEPS[row], "#000000");
    });
  });
}

function show(n) {
  slider.show((shown = live.clamp(n, 1, N)));
  fig.redraw();
}
function choose(i) {
  const child = tree.picked;
  fig.change(() => (fig.cursor = tree.pick(i) ? i : child));
}
const tap = (point) => tree.at(point) !== null && choose(tree.at(point));
const walk = (by) => () => fig.change(() => (fig.cursor = live.clamp(fig.cursor + by, 0, fig.seen.parents.length - 1)));
const last = () => Math.max(...KINDS.flatMap((kind) => fig.seen[kind].map(({ taken }) => taken)));
const replay = () => fig.play(last() - 1, 500, (n) => show(n + 1));
const top = tree.parents.length - 1; // of the first chain
const first = think().together[top];
const ups = first.reads.slice(0, 4).map((node) => first.path.indexOf(node));
fig = live.figure("forest", {
  ask: `Node ${top} looks for its root, ${top} arrows up. Alone, it reads one node after the other: ${top} steps. Together, those whom it reads have been reading, too. How many steps will it take?`,
  choices: {
    [first.taken]: [`About ${first.taken}`, ""],
    [Math.ceil(top / 2)]: [`About ${Math.ceil(top / 2)}: half as many`, ""],
    [top]: [`About ${top}: as many`, "Those whom it reads know the way up from there."],
  },
  wins: first.taken,
  truth: `At steps 1 to 4 it reads ${ups.join(", ")} up: each step doubles the way. Now draw trees of your own.`,
  task: "draw trees on which thinking together saves nobody a step.",
  found: ({ parents, together, alone }) => (together.every(({ need }, i) => need === alone[i].need) ? parents.join() : null),
  form: /^([0-9a-f]{12}|[0-9a-f]{16})\.(\d+)$/,
  state: () => `${tree.text()}.${fig.cursor}`,
  restore(text, cursor) {
    tree.restore(text);
    fig.cursor = Number(cursor);
  },
  height: () => (fig.bet === null ? ROW + 30 : STEPS[1] + 14),
  count: () => tree.parents.length,
  press: { Space: () => choose(fig.cursor), ArrowLeft: walk(-1), ArrowRight: walk(1), ArrowUp: () => show(shown + 1), ArrowDown: () => show(shown - 1) },
  opened: replay, think, say, draw, tap,
  apart: () => x(1) - x(0),
});
fig.cursor = top;
tree.buttons(fig, () => replay(fig.change()));
const slider = fig.slider("Step", [1, N, 1], shown, String, show);
fig.start();
