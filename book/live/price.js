// Lesson 14: the walker of lesson 12, with networks that paid for each word while they were rewarded. Words are drawn.
const PRICES = { 2: "0.02", 20: "0.2", 25: "0.25", 28: "0.28", 32: "0.32" };
const [LEFT, PANEL] = [44, { top: 214, height: 130 }];

function pick(chances) {
  let left = Math.random();
  return chances.findIndex((chance, i) => (left -= chance) < 0 || i === chances.length - 1);
}

// How many words a network writes after each name, on average, by its table of what follows a name.
function more(network, names) {
  const table = names.map((_, name) => network(names, name, 1)[0].chances);
  let means = names.map(() => 0);
  for (let n = 0; n < 100; n++) means = table.map((row) => live.total(means.map((after, name) => row[name] * (1 + after))));
  return { means };
}

const short = (number) => String(Number(number.toFixed(2))).replace("-", "\u2212");
function paid({ kind, words, done }) {
  const earned = done ? 1 : 0;
  return ` Its reward is ${earned} \u2212 ${words.length} × ${PRICES[kind]} = ${short(earned - words.length * PRICES[kind])}.`;
}

function below(pen, width, inks, { lit, seen: { parents, means, asked } }) {
  const most = parents.length;
  const x = (need) => LEFT + ((need + 0.5) / most) * (width - LEFT);
  const y = (words) => PANEL.top + (1 - words / most) * PANEL.height;
  live.frame(pen, LEFT, PANEL, width, inks, "mean words, by need (the line: as many)", [0, most / 2, most].map((words) => [y(words), words]));
  live.stroke(pen, [[x(0), y(0)], [x(most - 1), y(most - 1)]], inks.ink, 2.5);
  parents.forEach((_, i) => {
    const radius = (i === asked ? 8 : 5) + (lit === "halt" ? 2 : 0);
    live.dot(pen, x(live.pathUp(parents, i).length - 1), y(means[i]), radius, inks.halt);
  });
}

live.words("price", {
  kinds: PRICES,
  first: "20",
  label: "A word costs",
  names: 16,
  height: PANEL.top + PANEL.height - 168,
  how: (kind) => `Rewarded at a price of ${PRICES[kind]}`,
  bet: (top, { means }) => ({
    ask: `A right answer earns 1. While this network was rewarded, each word cost 0.2. Node ${top} needs ${top} words, which cost ${short(0.2 * top)}. What will the network write?`,
    choices: {
      all: [`${top} words, at a loss`, "It reads a name, and does not see how far it still is."],
      five: ["Five words at most", "It does not count what it has paid."],
      stop: ["STOP at once", "It does not see how far it still is."],
    },
    verb: "Write again",
    wins: means[top] > 5 ? "all" : means[top] > 0.5 ? "five" : "stop",
    truth: `On average it writes ${means[top].toFixed(1)} words. Now raise the price.`,
    task: "ask about a node five arrows deep. At how many prices does it still write four words or more, on average?",
    found: ({ kind, path, means, asked }) => (path.length === 6 && means[asked] >= 4 ? kind : null),
  }),
  pick, more, paid, below,
});
