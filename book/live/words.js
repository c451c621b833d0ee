// Lesson 12: a network walks up a tree, word by word. The reader draws the tree, and puts words into its mouth.
const KINDS = { word: "A word", state: "Its state", state_four: "Its state, trained on four arrows" };
const [LEFT, ROW, WORDS, N, PANEL] = [44, 78, 150, 16, { top: 220, height: 70 }]; // N: words at most
const networks = Object.fromEntries(Object.keys(KINDS).map((name) => [name, live.walker(live.weights[`words_${name}`].weights, name !== "word")]));
const tree = live.tree(16, LEFT, ROW, true);
let [kind, asked, slip, chosen, shown, column] = ["word", 15, null, null, N, 1]; // slip: {step, word}, of the reader

// The network knows 32 names; the nodes that are not shown are roots.
function think() {
  shown = N;
  const parents = [...tree.parents];
  const all = networks[kind]([...parents, ...parents.map((_, i) => i + 16)], asked, N, slip ? { [slip.step]: slip.word } : {});
  const end = all.findIndex(({ stops }, i) => stops && i + 1 !== slip?.step);
  const walk = end < 0 ? all : all.slice(0, end + 1); // its last step says STOP
  const words = walk.slice(0, end < 0 ? N : end).map(({ word }) => word);
  const path = live.pathUp(parents, asked);
  const before = (i) => (i === 0 ? asked : kind === "word" ? words[i - 1] : walk[i - 1].own); // what it goes on from
  const isRight = (word, i) => word === parents[before(i)] && word !== before(i);
  const own = words.slice(slip?.step ?? 0);
  const circles = kind === "word" && new Set(own).size < own.length;
  const [stops, done] = [end >= 0, end >= 0 && (words.at(-1) ?? asked) === path.at(-1)];
  return { parents, kind, asked, slip, walk, words, path, stops, circles, done, right: words.map(isRight) };
}

const trained = () => live.weights[`words_${kind}`].setting.max_depth;
function say({ path, words, stops, circles, done, slip }) {
  const depth = path.length - 1;
  const wrote = `it writes {${done ? "answer" : "wrong"}:${live.number(words.length, "word")}}`;
  const end = !stops ? `and no STOP: ${circles ? "it goes in circles" : "there is no room for more"}` : done ? "and then {halt:STOP}: the last is the root"
    : `and then {halt:STOP}: ${words.length ? `the last is ${words.at(-1)}` : "nothing was written"}, but the root is ${path.at(-1)}`;
  const what = kind === "word" ? "Carrying a word," : "Carrying its state,";
  const border = depth > trained() ? ` In training no tree was deeper than ${{ 1: "one arrow", 4: "four arrows" }[trained()]}.` : "";
  const yours = !slip || slip.step > words.length ? "" : kind === "word" ? ` At step ${slip.step} you put {prior:${slip.word}} in its mouth, and it went on from there.`
    : ` At step ${slip.step} you wrote {prior:${slip.word}}, but it does not read its words, so all others are as before.`;
  return `Node ${asked} has {limit:depth ${depth}}, so it needs ${live.number(depth, "word")}. ${what} ${wrote}, ${end}.${yours}${border}`;
}

const low = (step) => (column < 26 ? 16 * (step % 2) : 0); // on a small screen every other word stands lower
const at = (step) => LEFT + (step + 0.5) * column;
function draw(pen, width, inks) {
  const { walk, words, right, slip } = fig.seen;
  const count = fig.bet === null ? 0 : Math.min(shown, walk.length);
  column = (width - LEFT - 4) / (N + 1);
  tree.fit(LEFT + 4 + 16 * column); // on a chain each word stands below the node that is read
  const visible = words.slice(0, count);
  walk.slice(0, count).forEach(({ reads, weight }, i) => {
    const line = () => live.stroke(pen, [[at(i), WORDS - 14], [tree.x(reads), ROW + 16]], inks.soft, 1.5);
    if (reads < 16) live.faint(pen, live.clamp(weight, 0.1, 1), line);
  });
  tree.parents.forEach((_, i) => {
    const place = visible.lastIndexOf(i);
    const ink = place < 0 || fig.lit === (right[place] ? "wrong" : "answer") ? null : right[place] ? inks.answer : inks.wrong;
    tree.draw(pen, i, inks, i === asked ? inks.ink : ink, place >= 0 && fig.lit === (right[place] ? "answer" : "wrong") ? 3 : 0);
  });
  live.write(pen, "words", LEFT - 6, WORDS, inks.soft, "right");
  live.write(pen, `${asked}?`, at(0), WORDS, inks.ink, "center", inks.paper);
  visible.forEach((word, i) => {
    const [isSlip, y] = [slip?.step === i + 1, WORDS + low(i + 1)];
    live.write(pen, word, at(i + 1), y, isSlip ? inks.ink : right[i] ? inks.answer : inks.wrong, "center", inks.paper);
    const box = [[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]].map(([side, up]) => [at(i + 1) + (side * column) / 2.2, y + 12 * up]);
    if (isSlip || fig.lit === "prior") live.stroke(pen, box, inks.prior, isSlip && fig.lit === "prior" ? 5 : 2.5, [2, 4]);
    if (fig.focused && chosen === i + 1) live.stroke(pen, box, inks.ink, 2);
  });
  const last = words.length + 1;
  if (count === last) live.write(pen, "STOP", Math.min(at(last), width - 20), WORDS + low(last), inks.ink, "center", inks.paper);
  live.frame(pen, LEFT, PANEL, width, inks, "how likely it says STOP", [[PANEL.top + 6, "1"], [PANEL.top + PANEL.height - 6, "0"]]);
  live.bars(pen, walk.slice(0, count).map(({ stop }) => stop), at, column * (fig.lit === "halt" ? 0.9 : 0.6), PANEL, inks.halt);
  live.numbers(pen, column > 20 ? 1 : 5, N, (step) => [step ? at(step) : LEFT - 6, PANEL.top + PANEL.height + 14], inks);
}

const ask = (i) => fig.change(() => ([asked, slip, chosen] = [live.clamp(i, 0, 15), null, null]));
const turn = (i) => (tree.pick(i) ? ask(i) : ask(asked));
// A word of the reader's in place of the network's own; at the next tap its own is back.
const change = (step) => fig.change(() => (slip = slip?.step === step ? null : { step, word: other(fig.seen.words[step - 1]) }));
const other = (word) => (word + 1 + Math.floor(15 * Math.random())) % 16;
function tap(point) {
  const node = tree.at(point);
  const step = Math.floor((point.x - LEFT) / column);
  if (node !== null) turn(node);
  else if (Math.abs(point.y - WORDS - low(step)) < 18 && step >= 1 && step <= fig.seen.words.length) change(step);
}
const choose = (by) => () => (chosen = live.clamp((chosen ?? 0) + by, 1, Math.max(1, fig.seen.words.length)));
const replay = () => fig.play(fig.seen.walk.length, 350, (step) => {
  shown = step;
  fig.say(step < fig.seen.walk.length ? `Node ${asked} is asked. Step ${step}.` : say(fig.seen));
});
const first = think();
const fig = live.figure("words", {
  ask: "This network carries a word. It was trained on trees of one arrow, where it wrote one word and STOP, or STOP alone. Node 15 stands 15 arrows below its root. What will it write?",
  choices: { one: "One word, and STOP", all: "15 words, up to the root", circles: "Words without end" },
  wins: first.done ? "all" : "one",
  truth: `It writes ${live.number(first.words.length, "word")}, and STOP. Now let it carry its state; then put a wrong word into its mouth.`,
  height: () => PANEL.top + PANEL.height + 26,
  count: () => 16,
  press: {
    Space: () => turn(asked), ArrowLeft: () => ask(asked + 1), ArrowRight: () => ask(asked - 1),
    ArrowUp: choose(-1), ArrowDown: choose(1), Enter: () => chosen && change(chosen),
  },
  opened: replay, think, say, draw, tap,
  places: () => ({ node: tree.parents.map((_, i) => [tree.x(i), ROW]), word: [...Array(N + 1).keys()].map((step) => [at(step), WORDS]) }),
});
fig.choose("Carries", KINDS, kind, (name) => replay(fig.change(() => (kind = name))));
const draws = (make) => () => {
  make();
  ask(15);
};
fig.button("Chain", draws(tree.chain));
fig.button("Trees", draws(tree.scatter));
fig.start();
