// Lesson 12: a network walks up a tree, word by word. The reader draws the tree, and puts words into its mouth.
const KINDS = { word: "A word", state: "Its state", state_four: "Its state, trained on four arrows" };
const [LEFT, ROW, WORDS] = [44, 62, 134];
const networks = Object.fromEntries(Object.keys(KINDS).map((name) => [name, live.walker(live.weights[`words_${name}`].weights, name !== "word")]));
const tree = live.tree(live.onPhone ? 8 : 16, LEFT, ROW, true);
const n = () => tree.parents.length; // also the words at most
let [kind, asked, slip, chosen, shown, column] = ["word", n() - 1, null, null, 0, 1]; // slip: {step, word}, of the reader
let [fig, slider] = [null, null];
const state = () => `${kind}.${tree.text()}.${asked}.${slip ? `${slip.step}_${slip.word}` : ""}`;

function think() {
  if (fig?.seen?.state === state()) return fig.seen; // the step alone has changed
  const parents = [...tree.parents];
  const all = networks[kind](tree.all(), asked, n(), slip ? { [slip.step]: slip.word } : {});
  const end = all.findIndex(({ stops }, i) => stops && i + 1 !== slip?.step);
  const walk = end < 0 ? all : all.slice(0, end + 1); // its last step says STOP
  const words = walk.slice(0, end < 0 ? n() : end).map(({ word }) => word);
  const path = live.pathUp(parents, asked);
  const before = (i) => (i === 0 ? asked : kind === "word" ? words[i - 1] : walk[i - 1].own); // what it goes on from
  const isRight = (word, i) => word === parents[before(i)] && word !== before(i);
  const own = words.slice(slip?.step ?? 0);
  const circles = kind === "word" && new Set(own).size < own.length;
  const [stops, done] = [end >= 0, end >= 0 && (words.at(-1) ?? asked) === path.at(-1)];
  shown = walk.length;
  slider?.show(shown);
  return { state: state(), parents, kind, asked, slip, walk, words, path, stops, circles, done, right: words.map(isRight) };
}

const trained = () => live.weights[`words_${kind}`].setting.max_depth;
function say({ path, words, walk, stops, circles, done, slip }) {
  if (shown < walk.length) return `Node ${asked} is asked. Step ${shown}.`;
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

const at = (step) => LEFT + (step + 0.5) * column;
function draw(pen, width, inks) {
  const { walk, words, right, slip } = fig.seen;
  const count = fig.bet === null ? 0 : Math.min(shown, walk.length);
  column = (width - LEFT - 4) / (n() + 1);
  tree.fit(LEFT + 4 + n() * column); // on a chain each word stands below the node that is read
  const visible = words.slice(0, count);
  walk.slice(0, count).forEach(({ reads, weight }, i) => {
    const line = () => live.stroke(pen, [[at(i), WORDS - 14], [tree.x(reads), ROW + 16]], inks.soft, 1.5);
    if (reads < n()) live.faint(pen, live.clamp(weight, 0.1, 1), line);
  });
  tree.parents.forEach((_, i) => {
    const place = visible.lastIndexOf(i);
    const ink = place < 0 || fig.lit === (right[place] ? "wrong" : "answer") ? null : right[place] ? inks.answer : inks.wrong;
    tree.draw(pen, i, inks, i === asked ? inks.ink : ink, place >= 0 && fig.lit === (right[place] ? "answer" : "wrong") ? 3 : 0);
  });
  live.write(pen, "words", LEFT - 6, WORDS, inks.soft, "right");
  live.write(pen, `${asked}?`, at(0), WORDS, inks.ink, "center", inks.paper);
  visible.forEach((word, i) => {
    const isSlip = slip?.step === i + 1;
    live.write(pen, word, at(i + 1), WORDS, isSlip ? inks.ink : right[i] ? inks.answer : inks.wrong, "center", inks.paper);
    const box = [at(i + 1) - column / 2.2, WORDS - 12, column / 1.1, 24];
    if (isSlip || fig.lit === "prior") live.ring(pen, inks.prior, ...box, isSlip && fig.lit === "prior" ? 5 : 2.5, [2, 4]);
    if (fig.focused && chosen === i + 1) live.ring(pen, inks.ink, ...box);
  });
  const last = words.length + 1;
  if (count === last) {
    const [x, grown] = [Math.min(at(last), width - 24), fig.lit === "halt" ? 4 : 0];
    live.fill(pen, inks.halt, x - 22 - grown, WORDS - 12 - grown, 44 + 2 * grown, 24 + 2 * grown);
    live.write(pen, "STOP", x, WORDS, "#000000");
  }
  live.numbers(pen, 1, n(), (step) => [step ? at(step) : LEFT - 6, WORDS + 34], inks);
}

const ask = (i) => fig.change(() => ([asked, slip, chosen] = [live.clamp(i, 0, n() - 1), null, null]));
const turn = (i) => (tree.pick(i) ? ask(i) : ask(asked));
// A word of the reader's in place of the network's own; at the next tap its own is back.
const change = (step) => fig.change(() => (slip = slip?.step === step ? null : { step, word: other(fig.seen.words[step - 1]) }));
const other = (word) => (word + 1 + Math.floor((n() - 1) * Math.random())) % n();
function tap(point) {
  const node = tree.at(point);
  const step = Math.floor((point.x - LEFT) / column);
  if (node !== null) turn(node);
  else if (Math.abs(point.y - WORDS) < 18 && step >= 1 && step <= fig.seen.words.length) change(step);
}
const choose = (by) => () => (chosen = live.clamp((chosen ?? 0) + by, 1, Math.max(1, fig.seen.words.length)));
function show(step) {
  slider.show((shown = Math.min(step, fig.seen.walk.length)));
  fig.say(say(fig.seen));
}
const replay = () => fig.play(fig.seen.walk.length, 350, show);
const first = think();
fig = live.figure("words", {
  ask: `This network carries a word. It was trained on trees of one arrow, where it wrote one word and STOP, or STOP alone. Node ${asked} stands ${asked} arrows below its root. What will it write?`,
  choices: {
    one: ["One word, and STOP", "So it was in training; but its word is a question of the kind that it knows."],
    all: [`${asked} words, up to the root`, "Each of its words is a question of the kind that it knows."],
    circles: ["Words without end", "At the root it knows that nothing is above."],
  },
  wins: first.done ? "all" : "one",
  truth: `It writes ${live.number(first.words.length, "word")}, and STOP. Now let it carry its state; then put a wrong word into its mouth.`,
  task: "put a wrong word in its mouth, and let it still end at the root.",
  found: ({ done, right }) => (slip && done && right[slip.step - 1] === false ? state() : null),
  form: /^(word|state|state_four)\.([0-9a-f]{8}|[0-9a-f]{16})\.(\d+)\.(?:(\d+)_(\d+))?$/,
  state,
  restore(name, text, node, step, word) {
    kinds.show((kind = name));
    tree.restore(text);
    asked = live.clamp(Number(node), 0, n() - 1);
    [slip, chosen] = [step ? { step: live.clamp(Number(step), 1, n()), word: live.clamp(Number(word), 0, n() - 1) } : null, null];
  },
  height: () => WORDS + 46,
  count: n,
  press: {
    Space: () => turn(asked), ArrowLeft: () => ask(asked + 1), ArrowRight: () => ask(asked - 1),
    ArrowUp: choose(-1), ArrowDown: choose(1), Enter: () => chosen && change(chosen),
  },
  opened: replay, think, say, draw, tap,
  apart: () => column,
});
const kinds = fig.choose("Carries", KINDS, kind, (name) => replay(fig.change(() => (kind = name))));
const draws = (make) => () => {
  make();
  ask(n() - 1);
};
fig.button("Chain", draws(tree.chain));
fig.button("Trees", draws(tree.scatter));
slider = fig.slider("Step", [1, n(), 1], n(), String, show);
fig.start();
