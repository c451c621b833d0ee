// Lesson 10: the step whose places hear their groups, and what elimination can know. A place is (row, column, digit).

// The groups of places: the digits of a cell, first; and the places of a digit in a row, a column and a box.
live.groups = (side) => {
  const box = Math.sqrt(side);
  const place = (row, column, digit) => (row * side + column) * side + digit;
  const inBox = (b, digit, i) => place(box * Math.floor(b / box) + Math.floor(i / box), box * (b % box) + (i % box), digit);
  const kinds = [place, (row, digit, i) => place(row, i, digit), (column, digit, i) => place(i, column, digit), inBox];
  const all = [...Array(side).keys()];
  return kinds.flatMap((kind) => all.flatMap((a) => all.map((b) => all.map((i) => kind(a, b, i)))));
};

// In which round elimination knows that a place is on; 0: never. A place is off if another of a group is on, and on if
// all others of a group are off. signs: 1 given on, -1 given off, 0 open.
live.rounds = (signs, groups) => {
  const [known, found] = [[...signs], signs.map(Math.abs)];
  for (let [n, news] = [2, null]; !news || news.size; n++) {
    news = new Map();
    for (const group of groups) {
      const open = group.filter((place) => !known[place]);
      if (group.some((place) => known[place] === 1)) open.forEach((place) => news.set(place, -1));
      else if (open.length === 1 && !news.has(open[0])) news.set(open[0], 1);
    }
    news.forEach((sign, place) => ([known[place], found[place]] = [sign, n]));
  }
  return found.map((n, place) => (known[place] === 1 ? n : 0));
};

// A network, as live_networks.py writes it: (signs, groups) -> a step, which returns answer and halting logits in turn.
live.cover = (weights) => {
  const layer = (name) => live.linear(weights, name);
  const [fromX, own, heard, fromH, fromM, heads] = ["from_x", "own", "heard", "from_h", "from_m", "heads"].map(layer);
  const [channels, ears] = [weights["own.bias"].shape[0], live.floats(weights["heard.weight"])];
  return (signs, groups) => {
    const z = fromX(Float64Array.from(signs.flatMap((sign) => [sign > 0, sign < 0])));
    let h = new Float64Array(z.length);
    const side = groups[0].length;
    const [first, news] = [1, side].map((rows) => new Float64Array(rows * channels));
    return () => {
      const [message, mine] = [new Float64Array(h.length), own(h)];
      for (const group of groups) {
        // A place hears the largest states of all others: those of all, but in the channels in which it leads.
        const leads = [];
        for (let c = 0; c < channels; c++) {
          let largest = -1, next = -1, leader = 0;
          for (let m = 0; m < side; m++) {
            const value = h[group[m] * channels + c];
            if (value > largest) {
              next = largest;
              largest = value;
              leader = m;
            } else if (value > next) next = value;
          }
          first[c] = largest;
          if (largest > next) leads.push({ c, from: leader * channels, gap: largest - next });
        }
        const all = heard(first);
        for (let m = 0; m < side; m++) news.set(all, m * channels);
        for (const { c, from, gap } of leads) for (let o = 0; o < channels; o++) news[from + o] -= gap * ears[o * channels + c];
        for (let i = 0, m = 0; m < side; m++)
          for (let at = group[m] * channels, c = 0; c < channels; c++, at++, i++) message[at] = Math.max(message[at], mine[at] + news[i]);
      }
      const [kept, told] = [fromH(h), fromM(message)];
      h = kept.map((value, i) => Math.tanh(value + told[i] + z[i]));
      return heads(h);
    };
  };
};

// What the network finds of a board of digits, row by row, 0 where a cell is open: how many cells are open, and have
// halted; their answers, steps taken, rounds needed; the last step with a halt, and all steps; cells that clash; the cell
// that asks for a guess, or -1, and the digits left there. It stops when no cell has halted for four steps, as in the
// lesson.
live.fillBoard = (network, board) => {
  const side = Math.sqrt(board.length);
  const groups = live.groups(side);
  const cells = groups.slice(0, board.length);
  const signs = board.flatMap((digit) => Array.from({ length: side }, (_, d) => digit && (digit === d + 1 ? 1 : -1)));
  const rounds = live.rounds(signs, groups);
  const need = cells.map((places) => Math.max(...places.map((place) => rounds[place])));
  const [answers, taken, step] = [[...board], board.map(() => 0), network(signs, groups)];
  let [last, steps] = [0, 0];
  while (answers.includes(0) && steps < last + 4) {
    const [read, n] = [step(), ++steps];
    cells.forEach((places, i) => {
      if (answers[i] || places.every((place) => read[2 * place + 1] < 0)) return;
      [answers[i], taken[i], last] = [live.largest(places.map((place) => read[2 * place])) + 1, n, n];
    });
  }
  const forbidden = new Set(); // places of a digit that stands elsewhere in the row, column or box
  for (const group of groups.slice(board.length)) {
    const on = group.filter((place) => answers[Math.floor(place / side)] === (place % side) + 1);
    group.forEach((place) => on.some((other) => other !== place) && forbidden.add(place));
  }
  const left = cells.map((places) => places.flatMap((place, d) => (forbidden.has(place) ? [] : d + 1)));
  const clash = left.flatMap((some, i) => ((answers[i] ? some.includes(answers[i]) : some.length) ? [] : i));
  const fewest = Math.min(...left.map((some, i) => (answers[i] ? Infinity : some.length)));
  const asks = clash.length ? -1 : left.findIndex((some, i) => !answers[i] && some.length === fewest);
  const [open, halted] = [board.filter((digit) => !digit).length, taken.filter(Boolean).length];
  return { board: [...board], open, halted, answers, taken, need, last, steps, clash, asks, left: left[asks] ?? [] };
};

// The lesson's search, thought by thought: where it asks for a guess it tries the digits that are left, the smallest
// first, and thinks again; at a contradiction it goes back. A thought also says from which other it came, or -1, and
// what was put where: {cell, digit, isGuess}, null for the first.
live.solve = function* (network, board) {
  const toDo = [{ board, parent: -1, put: null }];
  for (let number = 0; toDo.length; number++) {
    const next = toDo.pop();
    const thought = { ...next, ...live.fillBoard(network, next.board) };
    yield thought;
    const { answers, asks, left, clash } = thought;
    if (asks < 0 && !clash.length) return; // solved
    for (const digit of [...left].reverse())
      toDo.push({ board: answers.with(asks, digit), parent: number, put: { cell: asks, digit, isGuess: left.length > 1 } });
  }
};
