// Lesson 08: whom nodes read, alone and together, and when they halt. The reader draws the arrows from nodes to parents.
const KINDS = { together: "“Together”", alone: "“Alone”", awake: "“Together”, never slept" };
const [LEFT, ROW, STEPS] = [44, 62, [154, 182]]; // STEPS: rows of numbers
const [N, TRAINED] = [16, 8]; // steps; depth
const networks = Object.fromEntries(Object.keys(KINDS).map((name) => [name, live.tokens(live.weights[`forest_${name}`].weights)]));
const tree = live.tree(live.onPhone ? 12 : 16, LEFT, ROW);
const { x } = tree;
let [kind, shown] = ["together", 1];

function think() {
  const parents = [...tree.parents];
  if (fig?.seen?.kind === kind && fig.seen.parents.join() === parents.join()) return fig.seen; // the step alone has changed
  const nodes = live.climb(networks[kind], tree.all(), kind === "alone", N).slice(0, parents.length);
  return { parents, kind, nodes };
}
const far = ({ path, reads }, up = path.indexOf(reads[shown - 1])) => (up > 0 ? `${up} up` : up ? "elsewhere" : "itself");
function say({ nodes }) {
  const [node, wrong] = [nodes[fig.cursor], nodes.filter(({ right }) => !right).length];
  const [depth, all] = [node.path.length - 1, wrong ? `{wrong:${wrong} of ${nodes.length} nodes are wrong}` : `{answer:all ${nodes.length} nodes are right}`];
  const trained = wrong ? ` It halts as if no tree were deeper than in training: ${TRAINED}.` : depth > TRAINED ? ` In training no tree was deeper than ${TRAINED}.` : "";
  return `Node ${fig.cursor} has {limit:depth ${depth}}; at step ${shown} it reads ${far(node)}. To know its root it needs {limit:${live.number(node.need, "step")}}. ` +
    `It {halt:halts at step ${node.taken}}, and is ${node.right ? "right" : "wrong"}; ${all}.${trained}`;
}

function draw(pen, width, inks) {
  const [{ nodes }, open] = [fig.seen, fig.bet !== null];
  tree.fit(width);
  nodes.forEach(({ reads, weights, taken, right }, i) => {
    const arc = () => tree.arc(pen, i, reads[shown - 1], 1, inks.soft, 1);
    if (open && i !== fig.cursor && reads[shown - 1] !== i && reads[shown - 1] < nodes.length) live.faint(pen, live.clamp(weights[shown - 1], 0.15, 1), arc);
    const isDone = open && taken <= shown && fig.lit !== (right ? "wrong" : "answer");
    tree.draw(pen, i, inks, isDone ? (right ? inks.answer : inks.wrong) : null, fig.lit === (right ? "answer" : "wrong") ? 3 : 0);
  });
  if (!open) return;
  const mine = nodes[fig.cursor];
  const end = tree.arc(pen, fig.cursor, mine.reads[shown - 1], 1, inks.ink, 3);
  live.write(pen, far(mine), live.clamp((x(fig.cursor) + x(mine.reads[shown - 1])) / 2, 40, width - 40), end + 11, inks.ink, "center", inks.paper);
  ["needs", "takes"].forEach((word, row) => live.write(pen, word, LEFT - 6, STEPS[row], inks.soft, "right"));
  nodes.forEach(({ need, taken, right }, i) => {
    live.write(pen, need, x(i), STEPS[0], inks.ink);
    if (fig.lit === "limit") live.ring(pen, inks.ink, x(i) - 11, STEPS[0] - 12, 22, 24);
    if (taken > shown) return;
    live.fill(pen, right ? inks.halt : inks.wrong, x(i) - 11, STEPS[1] - 12, 22, 24);
    live.write(pen, taken, x(i), STEPS[1], "#000000");
  });
}

function show(n) {
  slider.show((shown = live.clamp(n, 1, N)));
  fig.say(say(fig.seen));
}
function choose(i) {
  const child = tree.picked;
  fig.change(() => (fig.cursor = tree.pick(i) ? i : child));
}
const tap = (point) => tree.at(point) !== null && choose(tree.at(point));
const walk = (by) => () => fig.change(() => (fig.cursor = live.clamp(fig.cursor + by, 0, fig.seen.nodes.length - 1)));
const replay = () => fig.play(Math.max(...fig.seen.nodes.map((node) => node.taken)) - 1, 700, (n) => show(n + 1));
let fig = null;
const top = tree.parents.length - 1; // of the first chain
const { path, reads } = think().nodes[top];
const ups = reads.slice(0, 4).map((node) => path.indexOf(node));
fig = live.figure("forest", {
  ask: `A chain of ${top + 1} nodes; node 0 is the root. In “together”, node ${top} reads its parent at step 1: 1 up. How far up will it read at step 4?`,
  choices: {
    4: ["4 up", "That would be one arrow a step; but those whom it reads have read, too."],
    8: ["8 up", "Those whom it reads have read, too: each step doubles the way."],
    [top]: [`${top} up: the root`, "Each step doubles the way, and does no more."],
  },
  wins: ups[3],
  truth: `At steps 1 to 4 it reads ${ups.join(", ")} up. Now try “alone”, and then the network that never slept.`,
  task: "make the network that never slept wrong. How few arrows deep can the deepest node be?",
  found: ({ nodes }) => (kind === "awake" && nodes.some(({ right }) => !right) ? Math.max(...nodes.map((node) => node.path.length - 1)) : null),
  form: /^(together|alone|awake)\.([0-9a-f]{12}|[0-9a-f]{16})\.(\d+)$/,
  state: () => `${kind}.${tree.text()}.${fig.cursor}`,
  restore(name, text, cursor) {
    kinds.show((kind = name));
    tree.restore(text);
    fig.cursor = Number(cursor);
  },
  height: () => (fig.bet === null ? ROW + 20 : STEPS[1] + 14),
  count: () => tree.parents.length,
  press: { Space: () => choose(fig.cursor), ArrowLeft: walk(-1), ArrowRight: walk(1), ArrowUp: () => show(shown + 1), ArrowDown: () => show(shown - 1) },
  opened: replay, think, say, draw, tap,
  apart: () => x(1) - x(0),
});
fig.cursor = top;
const kinds = fig.choose("Network", KINDS, kind, (name) => replay(fig.change(() => (kind = name))));
fig.button("Chain", () => replay(fig.change(tree.chain)));
fig.button("Trees", () => replay(fig.change(tree.scatter)));
const slider = fig.slider("Step", [1, N, 1], shown, String, show);
fig.start();
