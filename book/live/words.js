// Lessons 12 and 14: a network walks up a tree, word by word. The reader draws the tree, and puts words into its mouth.
// lesson: {kinds: {kind: words}, of which the first is `first`; label; names of the network; how(kind): a sentence begins;
// bet(node, seen, state): the figure's bet and its goal}; and if words are drawn, pick; more(network, names): more that is
// shown; paid(seen): one more sentence; below(pen, width, inks, fig): a picture below, of a height.
live.words = (name, lesson) => {
  const [LEFT, ROW, WORDS] = [44, 62, 134];
  const weights = (kind) => live.weights[`${name}_${kind}`].weights;
  const isWord = (kind) => !kind.startsWith("state");
  const networks = Object.fromEntries(Object.keys(lesson.kinds).map((kind) => [kind, live.walker(weights(kind), !isWord(kind), lesson.pick)]));
  const tree = live.tree(live.onPhone ? 8 : 16, LEFT, ROW, true);
  const n = () => tree.parents.length; // also the words at most
  let [kind, asked, slip, chosen, shown, column] = [lesson.first, n() - 1, null, null, 0, 1]; // slip: {step, word}, of the reader
  let [fig, slider] = [null, null];
  const state = () => `${kind}.${tree.text()}.${asked}.${slip ? `${slip.step}_${slip.word}` : ""}`;

  function think() {
    if (fig?.seen?.state === state()) return fig.seen; // the step alone has changed
    const parents = [...tree.parents];
    const names = tree.all(lesson.names);
    const all = networks[kind](names, asked, n(), slip ? { [slip.step]: slip.word } : {});
    const end = all.findIndex(({ stops }, i) => stops && i + 1 !== slip?.step);
    const walk = end < 0 ? all : all.slice(0, end + 1); // its last step says STOP
    const words = walk.slice(0, end < 0 ? n() : end).map(({ word }) => word);
    const path = live.pathUp(parents, asked);
    const before = (i) => (i === 0 ? asked : isWord(kind) ? words[i - 1] : walk[i - 1].own); // what it goes on from
    const isRight = (word, i) => word === parents[before(i)] && word !== before(i);
    const own = words.slice(slip?.step ?? 0);
    const circles = isWord(kind) && new Set(own).size < own.length;
    const [stops, done] = [end >= 0, end >= 0 && (words.at(-1) ?? asked) === path.at(-1)];
    shown = walk.length;
    slider?.show(shown);
    return { state: state(), parents, kind, asked, slip, walk, words, path, stops, circles, done, right: words.map(isRight), ...lesson.more?.(networks[kind], names) };
  }

  const trained = () => live.weights[`${name}_${kind}`].setting.max_depth;
  function say(seen) {
    const { path, words, walk, stops, circles, done, slip } = seen;
    if (shown < walk.length) return `Node ${asked} is asked. Step ${shown}.`;
    const depth = path.length - 1;
    const wrote = `it writes {${done ? "answer" : "wrong"}:${live.number(words.length, "word")}}`;
    const end = !stops ? `and no STOP: ${circles ? "it goes in circles" : "there is no room for more"}` : done ? "and then {halt:STOP}: the last is the root"
      : `and then {halt:STOP}: ${words.length ? `the last is ${words.at(-1)}` : "nothing was written"}, but the root is ${path.at(-1)}`;
    const border = depth > trained() ? ` In training no tree was deeper than ${{ 1: "one arrow", 4: "four arrows" }[trained()]}.` : "";
    const yours = !slip || slip.step > words.length ? "" : isWord(kind) ? ` At step ${slip.step} you put {prior:${slip.word}} in its mouth, and it went on from there.`
      : ` At step ${slip.step} you wrote {prior:${slip.word}}, but it does not read its words, so all others are as before.`;
    return `Node ${asked} has {limit:depth ${depth}}, so it needs ${live.number(depth, "word")}. ${lesson.how(kind)}, ${wrote}, ${end}.${lesson.paid?.(seen) ?? ""}${yours}${border}`;
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
    if (fig.bet !== null) lesson.below?.(pen, width, inks, fig);
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
  function replay() {
    fig.seen = null; // where words are drawn, they are drawn anew
    fig.change();
    fig.play(fig.seen.walk.length, 350, show);
  }
  fig = live.figure(name, {
    form: RegExp(`^(${Object.keys(lesson.kinds).join("|")})\\.([0-9a-f]{8}|[0-9a-f]{16})\\.(\\d+)\\.(?:(\\d+)_(\\d+))?$`),
    state,
    restore(one, text, node, step, word) {
      kinds.show((kind = one));
      tree.restore(text);
      asked = live.clamp(Number(node), 0, n() - 1);
      [slip, chosen] = [step ? { step: live.clamp(Number(step), 1, n()), word: live.clamp(Number(word), 0, n() - 1) } : null, null];
    },
    height: () => WORDS + 46 + (fig.bet === null ? 0 : (lesson.height ?? 0)),
    count: n,
    press: {
      Space: () => turn(asked), ArrowLeft: () => ask(asked + 1), ArrowRight: () => ask(asked - 1),
      ArrowUp: choose(-1), ArrowDown: choose(1), Enter: () => chosen && change(chosen),
    },
    opened: replay, think, say, draw, tap,
    apart: () => column,
    ...lesson.bet(n() - 1, think(), state),
  });
  const kinds = fig.choose(lesson.label, lesson.kinds, kind, (one) => replay((kind = one)));
  const draws = (make) => () => {
    make();
    ask(n() - 1);
  };
  fig.button("Chain", draws(tree.chain));
  fig.button("Trees", draws(tree.scatter));
  slider = fig.slider("Step", [1, n(), 1], n(), String, show);
  fig.start();
};

// Lesson 12's networks carry a word, or their state.
if (document.getElementById("live-words"))
  live.words("words", {
    kinds: { word: "A word", state: "Its state", state_four: "Its state, trained on four arrows" },
    first: "word",
    label: "Carries",
    names: 32,
    how: (kind) => (kind === "word" ? "Carrying a word" : "Carrying its state"),
    bet: (top, first, state) => ({
      ask: `This network carries a word. It was trained on trees of one arrow, where it wrote one word and STOP, or STOP alone. Node ${top} stands ${top} arrows below its root. What will it write?`,
      choices: {
        one: ["One word, and STOP", "So it was in training; but its word is a question of the kind that it knows."],
        all: [`${top} words, up to the root`, "Each of its words is a question of the kind that it knows."],
        circles: ["Words without end", "At the root it knows that nothing is above."],
      },
      wins: first.done ? "all" : "one",
      truth: `It writes ${live.number(first.words.length, "word")}, and STOP. Now let it carry its state; then put a wrong word into its mouth.`,
      task: "put a wrong word in its mouth, and let it still end at the root.",
      found: ({ slip, done, right }) => (slip && done && right[slip.step - 1] === false ? state() : null),
    }),
  });
