// Lesson 10: a sudoku of the reader's own, by a network that was trained on 4 x 4 cells; its weights fit every size.
const PRESETS = {
  "17 digits": "000000010400000000020000000000050407008000300001090000300400200050100000000806000",
  "The newspapers’ hardest": "800000000003600000070090200050007000000045700000100030001000068008500010090000400",
  "4 × 4": "3000040010300000",
  Empty: "0".repeat(81),
};
const network = live.cover(live.weights.sudoku.weights);
const digits = (text) => [...text].map(Number); // 0: open
let board = digits("530070000600195000098000060800060003400803001700020006060000080000419005000080079");
let shown, seen, side, cell, pad, tree;
let search = null; // {coming, thoughts, timer} from "Let it guess" on; coming is null when all is thought

function think() {
  if (search?.thoughts.length) seen = search.thoughts.at(-1);
  else if (seen?.board.join() !== board.join()) [seen, side] = [live.fillBoard(network, board), Math.sqrt(board.length)];
  return seen;
}
const isSolved = ({ answers, clash }) => !answers.includes(0) && !clash.length;
const guesses = () => search.thoughts.filter(({ put }) => put?.isGuess).length;
const place = (i) => `row ${Math.floor(i / side) + 1}, column ${(i % side) + 1}`;
function sayGuess({ put: { cell, digit, isGuess }, clash }) {
  const many = live.number(guesses(), "guess", "guesses");
  const steps = live.total(search.thoughts.map((thought) => thought.steps));
  if (isSolved(seen)) return `{answer:Solved}, with {halt:${many}}. In all it has thought for ${steps} steps.`;
  if (!search.coming) return `Each guess led to {wrong:a contradiction}: these digits have no solution.`;
  const what = isGuess ? `{halt:Guess ${guesses()}}: ${digit} in ${place(cell)}.` : `Only ${digit} is left in ${place(cell)}.`;
  return `${what} ${clash.length ? "That leads to {wrong:a contradiction}, so it goes back." : "Nothing contradicts it, so it goes on."}`;
}

function say({ open, halted, taken, need, last, clash, asks, left, put }) {
  if (put) return sayGuess(seen);
  if (clash.length) return "These digits {wrong:contradict each other}: take one back.";
  const strays = taken.filter((n, i) => n && n !== need[i]).length;
  const when = strays ? `{wrong:${strays} of them not in the round} in which elimination knows them` : "each in the very round in which elimination knows it";
  const found = halted ? `{answer:${halted} of ${open} open cells ${halted === 1 ? "halts" : "halt"}}, ${when}, the last at step ${last}.` : "{answer:No cell halts}: by elimination nothing follows from these digits.";
  if (asks < 0) return found;
  return `${found} Then all is quiet: {halt:it asks for a guess} in ${place(asks)}, where ${left.join(" or ")} may stand.`;
}

const corner = (i) => [(i % side) * cell + 1, Math.floor(i / side) * cell + 1];
function draw(pen, width, inks) {
  const { answers, taken, last, clash, asks, put } = seen;
  const font = pen.font;
  const [now, isEnd] = fig.bet === null ? [0, false] : [search ? last : shown, search || shown >= last];
  board.forEach((given, i) => {
    const [x, y] = corner(i);
    const halted = put ? answers[i] && !given : taken[i] && taken[i] <= now;
    const strong = isEnd && clash.includes(i) ? "wrong" : halted && fig.lit === "answer" ? "answer" : null;
    live.fill(pen, inks[strong ?? (halted && fig.lit !== "wrong" ? "pale" : "paper")], x, y, cell, cell);
    const word = (text, size, height) => {
      pen.font = font.replace("14px", size);
      live.write(pen, text, x + cell / 2, y + height * cell, strong ? inks.paper : inks.ink);
    };
    const large = `${Math.round(0.44 * cell)}px`;
    if (given || (isEnd && i === asks)) word(given || "?", `bold ${large}`, 0.5);
    if (halted) word(answers[i], large, taken[i] ? 0.34 : 0.5);
    if (halted && taken[i]) word(taken[i], "13px", 0.78);
  });
  pen.font = font;
  for (let k = 0; k <= side; k++) {
    const [at, end, thick] = [k * cell + 1, side * cell + 1, k % Math.sqrt(side) === 0];
    for (const line of [[[at, 1], [at, end]], [[1, at], [end, at]]]) live.stroke(pen, line, thick ? inks.soft : inks.line, thick ? 2 : 1);
  }
  const frame = ([x, y], ink, thick, dash) => live.ring(pen, ink, x + 2, y + 2, cell - 5, cell - 5, thick, dash);
  const thick = fig.lit === "halt" ? 7 : 4;
  if (!put) taken.forEach((n, i) => n && n === now && frame(corner(i), inks.halt, thick));
  for (let at = seen; at?.put; at = search.thoughts[at.parent]) frame(corner(at.put.cell), inks.halt, at === seen ? thick : 2);
  if (isEnd && asks >= 0) frame(corner(asks), inks.halt, thick, [7, 4]);
  if (search) return drawTree(pen, inks);
  frame(corner(fig.cursor), inks.ink, 2.5);
  pad.keys.forEach(([x, y], d) => {
    live.ring(pen, inks.line, x + 2, y + 2, pad.size - 4, pad.size - 4);
    live.write(pen, d < side ? d + 1 : "×", x + pad.size / 2, y + pad.size / 2, inks.ink);
  });
}
// The thoughts, each below the one from which it came; the first guess straight below, others in a column of their own.
function drawTree(pen, inks) {
  const [columns, depths] = [[], []];
  for (const [n, { parent }] of search.thoughts.entries()) {
    columns.push(n && (parent === n - 1 ? columns[parent] : columns[n - 1] + 1));
    depths.push(n && depths[parent] + 1);
  }
  const gap = Math.min(16, tree.width / (columns.at(-1) + 1));
  const at = (n) => [tree.left + gap * (columns[n] + 0.5), tree.top + 20 + depths[n] * Math.min(24, (tree.height - 30) / (Math.max(...depths) + 1))];
  live.write(pen, "thoughts: a line down is a guess", tree.left, tree.top, inks.soft, "left");
  search.thoughts.forEach(({ parent }, n) => {
    if (n) live.stroke(pen, [at(parent), [at(n)[0], at(parent)[1]], at(n)], inks.prior, 1);
  });
  const radius = live.clamp(gap / 2 - 0.5, 1.5, 5);
  search.thoughts.forEach(({ clash }, n) => live.dot(pen, ...at(n), radius, clash.length ? inks.wrong : inks.answer));
  live.dot(pen, ...at(columns.length - 1), 7, inks.halt);
}
// The keys, or the tree of guesses: beside the board, the keys in rows of three; or below it, the keys in one row.
function height(width) {
  const wide = width > 640;
  cell = Math.min(72, (Math.min(wide ? 436 : width, width) - 3) / side);
  const [row, left, top, size] = wide ? [3, side * cell + 40, 0, 56] : [side + 1, 0, side * cell + 12, Math.min(46, width / (side + 1))];
  pad = { size, keys: Array.from({ length: side + 1 }, (_, d) => [left + (d % row) * size, top + Math.floor(d / row) * size]) };
  tree = wide ? { left, top: 10, width: width - left - 8, height: side * cell } : { left: 6, top: top + 6, width: width - 14, height: 180 };
  return search ? tree.top + tree.height : Math.max(side * cell + 3, pad.keys.at(-1)[1] + size);
}

// Thinks one thought after the other, the first ones slowly, so that they can be followed.
function guessOn() {
  const { value, done } = search.coming.next();
  if (done) search.coming = null;
  else search.thoughts.push(value);
  search.timer = done ? 0 : setTimeout(guessOn, Math.max(40, 700 - 60 * search.thoughts.length));
  fig.update();
  label();
}
function label() {
  guess.textContent = search?.timer ? "Pause" : search?.coming ? "Guess on" : "Let it guess";
  fig.box.querySelector(".live-words").ariaBusy = search?.timer ? "true" : null; // or else each guess is read out
}
function quit() {
  if (!search) return;
  clearTimeout(search.timer);
  search = seen = null;
  label();
}
function startOrPause() {
  if (search?.timer) {
    clearTimeout(search.timer);
    search.timer = 0;
    return label();
  }
  if (!search?.coming) {
    fig.change(quit);
    search = { coming: live.solve(network, board), thoughts: [], timer: 0 };
  }
  guessOn();
}

const show = (n) => slider.show((shown = n));
const renew = (cells) => {
  quit();
  fig.change(() => (board = cells));
  slider.max = Math.max(1, seen.last);
  show(seen.last);
  fig.redraw();
};
const set = (digit) => renew(board.with(fig.cursor, digit));
const replay = () => {
  fig.change(quit);
  fig.play(seen.last, live.clamp(4000 / seen.last, 120, 400), show);
};
function tap({ x, y }) {
  const [row, column] = [Math.floor(y / cell), Math.floor(x / cell)];
  const key = pad.keys.findIndex(([left, top]) => x > left && x < left + pad.size && y > top && y < top + pad.size);
  if (key >= 0 && !search) set((key + 1) % (side + 1));
  else if (row < side && column < side) fig.cursor = row * side + column;
  fig.redraw();
}
const typed = Object.fromEntries([..."0123456789"].map((key) => [key, () => key <= side && set(Number(key))]));
const { open, halted, last } = think();
const fig = live.figure("sudoku", {
  ask: `A sudoku of which one digit is gone: the 2 of the framed cell. How many of the ${open} open cells will the network still find?`,
  choices: {
    all: [`All ${open}, some of them later`, "Some of them no longer follow."],
    half: ["About half", ""],
    few: ["Hardly any", "Much follows without the 2, too."],
  },
  wins: halted > 0.8 * open ? "all" : "half",
  truth: `It finds ${halted} of ${open} cells, and waits in the others: without its 2 six solutions fit. Now let it guess one of them.`,
  task: "find sudokus that take it ten guesses or more.",
  found: (thought) => (search && isSolved(thought) && guesses() >= 10 ? board.join("") : null),
  form: /^([0-4]{16}|\d{81})$/,
  state: () => board.join(""),
  restore: (text) => renew(digits(text)),
  count: () => board.length, across: () => side,
  press: { ...typed, Space: typed[0], Backspace: typed[0] },
  opened: replay, think, say, draw, height, tap,
  apart: () => Math.min(cell, pad.size),
});
fig.cursor = 60;
const guess = fig.button("Let it guess", startOrPause);
for (const [name, text] of Object.entries(PRESETS))
  fig.button(name, () => {
    renew(digits(text));
    fig.cursor = Math.max(0, seen.asks); // there the reader's next digit goes
    replay();
  });
const slider = fig.slider("Step", [1, last, 1], (shown = last), String, (n) => {
  quit();
  shown = n;
});
fig.start();
