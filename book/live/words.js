// Lesson 12: two networks walk up a tree, word by word. The reader draws the tree, and puts a word into the mouth of one.
const KINDS = { word: "word", state: "state" }; // what a network hands on from step to step
const [LEFT, ROW, WORDS] = [56, 62, { word: 126, state: 160 }];
const NAMES = 32; // of the networks
const networks = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, live.walker(live.weights[`words_${kind}`].weights)]));
const tree = live.tree(live.onPhone ? 8 : 16, LEFT, ROW, true);
const n = () => tree.parents.length; // also the words at most
let [asked, slip, chosen, shown] = [n() - 1, null, null, n() + 1]; // slip: {step, word}, of the reader
let fig = null;

// The words that a network writes: each is the likeliest, but the reader's.
function walk(kind) {
  const { step, token } = networks[kind](tree.all(NAMES));
  const words = [];
  for (let thought = token(asked); words.length < n(); ) {
    const { state, chances } = step(thought);
    const isYours = kind === "word" && slip?.step === words.length + 1;
    if (!isYours && live.largest(chances) === NAMES) return { words, stops: true };
    words.push(isYours ? slip.word : live.largest(chances.slice(0, -1)));
    thought = kind === "state" ? state : token(words.at(-1));
  }
  return { words, stops: false };
}

function think() {
  const parents = [...tree.parents];
  const path = live.pathUp(parents, asked);
  const seen = { parents, asked, slip, path };
  for (const kind in KINDS) {
    const { words, stops } = walk(kind);
    const before = [asked, ...words];
    const right = words.map((word, i) => word === parents[before[i]] && word !== before[i]);
    seen[kind] = { words, stops, right, done: stops && before.at(-1) === path.at(-1) };
  }
  shown = n() + 1;
  return seen;
}

function sayOf({ words, stops, done }) {
  const wrote = `{${done ? "answer" : "wrong"}:${live.number(words.length, "word")}}`;
  return `${wrote} and ${!stops ? "no STOP" : `{halt:STOP}${done ? ", at the root" : ", not at the root"}`}`;
}
function say({ path, word, state, slip }) {
  const yours = slip && slip.step <= word.words.length ? ` At step ${slip.step} you put {prior:${slip.word}} in its mouth, and it went on from there.` : "";
  return `Node ${asked} stands {limit:${live.number(path.length - 1, "arrow")}} below its root. Handing on its last word, a network writes ${sayOf(word)}. ` +
    `Handing on its state, it writes ${sayOf(state)}.${yours}`;
}

function draw(pen, width, inks) {
  const { seen } = fig;
  const count = fig.bet === null ? 0 : shown;
  tree.fitWords(width);
  tree.parents.forEach((_, i) => tree.draw(pen, i, inks, i === asked ? inks.ink : null));
  for (const kind in KINDS) {
    live.write(pen, KINDS[kind], LEFT - 6, WORDS[kind], inks.soft, "right");
    tree.drawWords(pen, WORDS[kind], inks, { asked, ...seen[kind] }, count, fig.lit);
  }
  const ring = (step, ink, thick, dash) => live.ring(pen, ink, tree.word(step) - 15, WORDS.word - 12, 30, 24, thick, dash);
  if (slip && slip.step <= Math.min(count, seen.word.words.length)) ring(slip.step, inks.prior, fig.lit === "prior" ? 5 : 2.5, [2, 4]);
  if (fig.focused && chosen !== null) ring(chosen, inks.ink, 2);
}

const ask = (i) => fig.change(() => ([asked, slip, chosen] = [live.clamp(i, 0, n() - 1), null, null]));
const turn = (i) => (tree.pick(i) ? ask(i) : ask(asked));
// A word of the reader's in place of the network's own; at the next tap its own is back.
const change = (step) => fig.change(() => (slip = slip?.step === step ? null : { step, word: other(fig.seen.word.words[step - 1]) }));
const other = (word) => (word + 1 + Math.floor((n() - 1) * Math.random())) % n();
function tap(point) {
  const node = tree.at(point);
  const step = tree.wordAt(point);
  if (node !== null) turn(node);
  else if (Math.abs(point.y - WORDS.word) < 17 && step >= 1 && step <= fig.seen.word.words.length) change(step);
}
const choose = (by) => () => (chosen = live.clamp((chosen ?? 0) + by, 1, Math.max(1, fig.seen.word.words.length)));
const replay = () => fig.play(n() + 1, 250, (step) => (shown = step));
const first = think();
fig = live.figure("words", {
  ask: `Both networks were trained on trees of one arrow, where they wrote one word and STOP, or STOP alone. Node ${asked} stands ${asked} arrows below its root. Which of them will get there?`,
  choices: {
    word: ["The one that hands on its word", "Each word that it writes is a question like those of its training."],
    state: ["The one that hands on its state", ""],
    neither: ["Neither", "Each word is a question like those of the training."],
  },
  wins: first.word.done ? "word" : "neither",
  truth: "The other network stops: in training, whenever it had handed on a state, the right answer was STOP.",
  task: "tap a word to put another in its place, until it gets to the root in fewer words than it needs.",
  found: ({ word, path }) => (slip && word.done && word.words.length < path.length - 1 ? `${slip.step}_${slip.word}` : null),
  form: /^([0-9a-f]{8}|[0-9a-f]{16})\.(\d+)\.(?:(\d+)_(\d+))?$/,
  state: () => `${tree.text()}.${asked}.${slip ? `${slip.step}_${slip.word}` : ""}`,
  restore(text, node, step, word) {
    tree.restore(text);
    asked = live.clamp(Number(node), 0, n() - 1);
    [slip, chosen] = [step ? { step: live.clamp(Number(step), 1, n()), word: live.clamp(Number(word), 0, n() - 1) } : null, null];
  },
  height: () => WORDS.state + 20,
  count: n,
  press: {
    Space: () => turn(asked), ArrowLeft: () => ask(asked + 1), ArrowRight: () => ask(asked - 1),
    ArrowUp: choose(-1), ArrowDown: choose(1), Enter: () => chosen && change(chosen),
  },
  opened: replay, think, say, draw, tap,
  apart: () => tree.word(1) - tree.word(0),
});
tree.buttons(fig, () => ask(n() - 1));
fig.start();
