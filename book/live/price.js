// Lesson 14: what is still written at a price. It depends on the tree and on the last word: so one table holds all of it.
const PRICES = { 2: "0.02", 20: "0.2", 28: "0.28", 32: "0.32" };
const [LEFT, ROW, WORDS, PANEL] = [56, 62, 126, { top: 184, height: 130 }];
const NAMES = 16; // of the networks
const networks = Object.fromEntries(Object.keys(PRICES).map((price) => [price, live.walker(live.weights[`price_${price}`].weights)]));
const tree = live.tree(live.onPhone ? 8 : NAMES, LEFT, ROW, true);
const n = () => tree.parents.length; // also the words that are shown at most
let [price, asked, shown] = ["20", n() - 1, n() + 1];
let fig = null;

function drawn(chances) {
  let left = Math.random();
  const at = chances.findIndex((chance) => (left -= chance) < 0);
  return at < 0 ? NAMES : at;
}
function write(table) {
  const words = [];
  for (let word = asked; words.length < n(); words.push(word)) {
    word = drawn(table[word]);
    if (word === NAMES) return { words, stops: true };
  }
  return { words, stops: false };
}
// How many words it writes after each name, on average: none at first, and then one more step after the other.
function meanWords(table) {
  let means = Array(NAMES).fill(0);
  for (let i = 0; i < 200; i++) means = table.map((chances) => means.reduce((sum, after, name) => sum + chances[name] * (1 + after), 0));
  return means;
}

function think() {
  const parents = [...tree.parents];
  const { step, token } = networks[price](tree.all(NAMES));
  const table = Array.from({ length: NAMES }, (_, name) => step(token(name)).chances);
  const { words, stops } = write(table);
  const path = live.pathUp(parents, asked);
  const before = [asked, ...words];
  const right = words.map((word, i) => word === parents[before[i]] && word !== before[i]);
  shown = n() + 1;
  return { parents, price, asked, table, words, stops, right, path, means: meanWords(table), done: stops && before.at(-1) === path.at(-1) };
}

const short = (number) => String(Number(number.toFixed(2))).replace("-", "\u2212");
function say({ path, words, stops, done, means }) {
  const paid = words.length * PRICES[price];
  const end = !stops ? "and does not stop here" : done ? "and {halt:STOP}, at the root" : "and {halt:STOP}, not at the root";
  return `Node ${asked} needs {limit:${live.number(path.length - 1, "word")}}. The network writes {${done ? "answer" : "wrong"}:${words.length}} ${end}: ` +
    `its reward is ${Number(done)} \u2212 ${short(paid)} = ${short(done - paid)}. On average it writes {halt:${means[asked].toFixed(1)}}.` +
    (means[asked] < 0.5 && path.length > 1 ? " A short way would still pay; but it cannot tell a short way from a long one." : "");
}

function draw(pen, width, inks) {
  const { parents, means } = fig.seen;
  tree.fitWords(width);
  parents.forEach((_, i) => tree.draw(pen, i, inks, i === asked ? inks.ink : null));
  live.write(pen, "words", LEFT - 6, WORDS, inks.soft, "right");
  tree.drawWords(pen, WORDS, inks, fig.seen, fig.bet === null ? 0 : shown, fig.lit);
  if (fig.bet === null) return;
  const x = (need) => LEFT + ((need + 0.5) / n()) * (width - LEFT);
  const y = (words) => PANEL.top + (1 - words / n()) * PANEL.height;
  live.frame(pen, LEFT, PANEL, width, inks, "mean words of each node (line: as many as it needs)", [0, n() / 2, n()].map((words) => [y(words), words]));
  live.stroke(pen, [[x(0), y(0)], [x(n() - 1), y(n() - 1)]], inks.ink, fig.lit === "limit" ? 5 : 2.5);
  parents.forEach((_, i) => live.dot(pen, x(live.pathUp(parents, i).length - 1), y(means[i]), i === asked ? 8 : 5, inks.halt));
  live.write(pen, "words that a node needs", width, PANEL.top + PANEL.height + 14, inks.soft, "right");
}

const ask = (i) => fig.change(() => (asked = live.clamp(i, 0, n() - 1)));
const turn = (i) => (tree.pick(i) ? ask(i) : ask(asked));
const tap = (point) => tree.at(point) !== null && turn(tree.at(point));
const replay = () => {
  fig.change();
  fig.play(fig.seen.words.length + 1, 250, (step) => (shown = step));
};
const first = think().means.slice(0, n()).at(-1);
fig = live.figure("price", {
  ask: `While this network was rewarded, a right answer earned 1, and each word cost 0.2. Node ${asked} needs ${asked} words: they cost ${short(0.2 * asked)}. What will the network write?`,
  choices: {
    all: [`All ${asked} words, at a loss`, ""],
    some: ["Five words at most", "It does not count what it has paid."],
    silent: ["STOP at once", ""],
  },
  wins: first > 5 ? "all" : first > 0.5 ? "some" : "silent",
  truth: `It writes ${first.toFixed(1)} on average, since it reads a name, and does not see how far it still is. In its training most nodes stood nearer to their root, where going on pays. Now raise the price.`,
  task: "find the lowest price at which it is silent.",
  found: ({ means, path }) => (means[asked] < 0.5 && path.length > 1 ? PRICES[price] : null),
  form: /^(2|20|28|32)\.([0-9a-f]{8}|[0-9a-f]{16})\.(\d+)$/,
  state: () => `${price}.${tree.text()}.${asked}`,
  restore(cost, text, node) {
    prices.show((price = cost));
    tree.restore(text);
    asked = live.clamp(Number(node), 0, n() - 1);
  },
  height: () => (fig.bet === null ? WORDS + 20 : PANEL.top + PANEL.height + 26),
  count: n,
  press: { Space: () => turn(asked), ArrowLeft: () => ask(asked + 1), ArrowRight: () => ask(asked - 1) },
  opened: replay, verb: "Write again", think, say, draw, tap,
  apart: () => tree.word(1) - tree.word(0),
});
const prices = fig.choose("A word cost", PRICES, price, (cost) => replay((price = cost)));
tree.buttons(fig, () => ask(n() - 1));
fig.start();
