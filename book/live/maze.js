// A maze that thinks, as on the first page and in lesson 07: the reader draws walls and stars, and moves the step that is
// shown. bet(need, steps taken) of the place that needs the most: the figure's bet, if there is one. Returns the figure.
live.maze = (name, bet) => {
  const [TRAINED, BEYOND, PATIENCE] = [24, 80, 40]; // steps: the most in training; so far it thinks on; then it is stopped
  const COLOURS = ["no", "blue", "pink"];
  const { isOpen, around, truth, generator, strange } = live.mazes;
  const network = live.read(live.weights.maze.weights);
  const picture = live.mazePicture(TRAINED);
  const { middle, placeAt, starAt } = picture;
  const KINDS = { t: "tree", r: "room" }; // in the address
  let [kind, side, seed] = live.onPhone ? ["t", 13, 568] : ["t", 29, 58]; // the first maze is the same for all
  let [tool, mode] = [matchMedia("(pointer: coarse)").matches ? null : "wall", "each"];
  let pointed = null;
  let maze, made, near, walls, base, thought, facts, taken, end, shown; // made: the maze as it was before the reader's hand

  function changed() {
    const open = maze.floor.map((_, place) => Number(isOpen(maze, place)));
    if (open.join() !== walls) {
      walls = open.join();
      near = around(maze);
      base = live.thought(network, near, open.map(() => [1, 0, 0])); // without stars: until their news comes, the same
    }
    facts = truth(maze, near);
    const x = maze.star.map((star) => [1, Number(star === 1), Number(star === 2)]);
    thought = live.thought(network, near, x, { known: base, until: facts.need });
    taken = facts.asked.map((asked, place) => (asked ? halt(place) : 0));
    end = Math.max(1, ...taken);
    shown = mode === "each" ? end : Math.min(shown, end + BEYOND);
  }

  // A place halts at the first step with lambda >= 1/2; its answer stays, while it goes on and passes news.
  function halt(place) {
    for (let n = 1; n < facts.last + PATIENCE; n++) if (thought(n, place).halt >= 0) return n;
    return facts.last + PATIENCE;
  }

  // now: what each place answers at the step shown, 0 if nothing yet; own: when each halts by itself.
  function think() {
    const says = (n, place) => (thought(n, place).answer > 0 ? 2 : 1);
    const own = taken.map((n, place) => n && says(n, place));
    const now = own.map((answer, place) => (mode === "all" && answer ? says(shown, place) : taken[place] <= shown ? answer : 0));
    step.max = mode === "all" ? end + BEYOND : end;
    step.show(shown);
    return { ...maze, ...facts, taken, own, now, mode, shown, end };
  }

  function say({ need, answer, last, own, now }) {
    if (!last) return "Nothing is asked: set a star.";
    const places = [...now.keys()].filter((place) => own[place]);
    const count = (test) => places.filter(test).length;
    const all = live.number(places.length, "place");
    const isWrong = (place) => now[place] && now[place] !== answer[place];
    const wrong = count(isWrong);
    const verdict = wrong ? `${places.length - wrong} of ${all} are right, {wrong:${wrong} wrong}` : `All ${all} are {answer:right}`;
    if (mode === "all") {
      const [deaf, alone] = [count((place) => isWrong(place) && need[place] > shown), count((place) => own[place] !== answer[place])];
      const forgot = count((place) => isWrong(place) && need[place] <= shown && own[place] === answer[place]);
      const why = [deaf && `${deaf} cannot know yet`, forgot && `{wrong:${forgot} had halted in time, and ${forgot === 1 ? "has" : "have"} forgotten}`];
      const ofWrong = why.filter(Boolean).join(", and ");
      return `All stop at step ${shown}: ${verdict}. ${ofWrong && `Of the wrong, ${ofWrong}. `}Each by itself, ${alone ? `${alone} ${alone === 1 ? "is" : "are"} wrong` : "all are right"}.`;
    }
    if (shown < end) return `Step ${shown}: ${count((place) => now[place])} of ${all} have {halt:halted}.`;
    const [early, late] = [count((place) => taken[place] < need[place]), count((place) => taken[place] > need[place])];
    const rest = [early && `, ${early} before it`, late && `, ${late} after it`].filter(Boolean).join("");
    const { breaks, loops } = strange(maze);
    const odd = breaks ? ` In training all corridors kept to a grid; ${live.number(breaks, "place")} here ${breaks === 1 ? "breaks" : "break"} it.`
      : loops ? " In training there were no loops." : last > TRAINED ? ` The farthest needs {limit:${last} steps}; in training, ${TRAINED} at most.` : "";
    return `${verdict} after ${live.number(end, "step")}. {halt:${rest ? places.length - early - late : "All"} halted at the very step} at which they could know${rest}.${odd}`;
  }

  function describe(place) {
    const { need, asked, answer, now } = fig.seen;
    const it = `Place (${Math.floor(place / maze.side) + 1}, ${(place % maze.side) + 1})`;
    const star = maze.star[place] ? ` It holds a ${COLOURS[maze.star[place]]} star.` : "";
    if (!isOpen(maze, place)) return `${it} is a wall.`;
    if (!asked[place]) return `${it} ${need[place] < Infinity ? "is as far from both colours" : "can reach no star"}, so it is not asked.${star}`;
    const says = now[place] ? `says ${COLOURS[now[place]]}, ${now[place] === answer[place] ? "right" : "wrong"}` : "is still thinking";
    return `${it} needs ${live.number(need[place], "step")}. It ${says}; by itself it halts at step ${taken[place]}.${star}`;
  }

  // Hands
  const lay = (act) => fig.change(() => changed(act()));
  const turnStar = (place) => lay(() => (maze.star[place] = (maze.star[place] + 1) % 3)); // none, blue, pink
  const setFloor = (place, floor) => maze.star[place] || lay(() => (maze.floor[place] = floor));

  function grab(point) {
    const [place, star] = [placeAt(point), starAt(point)];
    if (place === null) return null;
    if (star !== null) return { star };
    return tool && { place, floor: 1 - maze.floor[place] };
  }
  function pull(held, point) {
    const to = placeAt(point);
    if (to === null) return;
    if (held.star === undefined && tool === "wall") {
      for (const at of between(held.place, to)) setFloor(at, held.floor);
      held.place = to;
    } else if (held.star !== undefined && maze.floor[to] && !maze.star[to]) { // it keeps to the corridors, and leaps over others
      lay(() => ([maze.star[held.star], maze.star[to], held.star] = [0, maze.star[held.star], to]));
    }
  }
  // The places on the straight line between two, both among them.
  function between(from, to) {
    const [rows, columns] = [Math.floor(to / maze.side) - Math.floor(from / maze.side), (to % maze.side) - (from % maze.side)];
    const most = Math.max(1, Math.abs(rows), Math.abs(columns));
    return Array.from({ length: most + 1 }, (_, i) => from + maze.side * Math.round((rows * i) / most) + Math.round((columns * i) / most));
  }
  function tap(_, held) {
    if (!held || !tool) return;
    if (held.star !== undefined || tool === "star") turnStar(held.star ?? held.place);
    else setFloor(held.place, held.floor);
  }
  function hover(point) {
    pointed = point && placeAt(point);
    return pointed === null ? "" : describe(pointed);
  }
  function replay() {
    const [from, to] = mode === "all" ? [Math.min(shown, end), end + BEYOND] : [1, end];
    fig.follow(Array.from({ length: to - from + 1 }, (_, i) => from + i), 80, (n) => (shown = n));
  }

  function load() {
    made = live.mazes[KINDS[kind]](side, generator(seed));
    maze = structuredClone(made);
    pointed = null;
    changed();
  }
  load();

  // How many walls were opened, and none was drawn, where by itself a place is wrong.
  function found({ own, answer }) {
    const isWrong = own.some((says, place) => says && says !== answer[place]);
    return isWrong && turned().length && addsNone() ? turned().length : null;
  }

  // In the address: which maze, its stars, the places that the reader turned, and the step at which all stop, if they do.
  const turned = () => [...maze.floor.keys()].filter((place) => maze.floor[place] !== made.floor[place]);
  function state() {
    const stars = [...maze.star.entries()].map(([place, star]) => star && `${"bp"[star - 1]}${place}`).filter(Boolean);
    return `${kind}${seed}.${side}.${stars.join("")}.${turned().join("_")}.${mode === "all" ? shown : ""}`;
  }
  function restore(first, number, size, stars, places, step) {
    [kind, seed, side] = [first, Number(number), Number(size)];
    load();
    maze.star.fill(0);
    for (const [, colour, place] of stars.matchAll(/([bp])(\d+)/g)) if (place in maze.star) maze.star[place] = "bp".indexOf(colour) + 1;
    for (const place of places.split("_")) if (place in maze.floor) maze.floor[place] = 1 - maze.floor[place];
    modes.show((mode = step ? "all" : "each"));
    shown = Number(step);
    changed();
  }
  const addsNone = () => turned().every((place) => maze.floor[place]);
  const counts = () => (kind === "r" ? "A maze without walls does not count: take a new one." : addsNone() ? "How few walls are enough?" : "It does not count while a wall that you drew stands.");
  const farthest = facts.need.indexOf(facts.last);
  const fig = live.figure(name, {
    height: picture.layout,
    draw(pen, _, inks) {
      const hidden = fig.bet === null;
      const [shownNow, cursor] = [hidden ? { ...fig.seen, now: fig.seen.now.map(() => 0) } : fig.seen, fig.focused ? fig.cursor : null];
      picture.draw(pen, inks, shownNow, { lit: fig.lit, near, way: hidden ? farthest : (cursor ?? pointed), cursor });
    },
    press: {
      Enter: replay,
      Space: () => setFloor(fig.cursor, 1 - maze.floor[fig.cursor]),
      s: () => turnStar(fig.cursor),
      n: () => fig.change(() => (shown = Math.min(shown + 1, Number(step.max)))),
    },
    where: (place) => ({ x: middle(place)[0], y: middle(place)[1] }),
    apart: () => middle(1)[0] - middle(0)[0],
    count: () => maze.side ** 2, across: () => maze.side,
    get task() { return `click walls open until a place names the wrong colour. ${counts()}`; },
    form: /^([tr])([1-9]\d{0,4})\.(9|13|29|39)\.((?:[bp]\d+)*)\.([\d_]*)\.([1-9]\d*|)$/,
    opened: replay, found, state, restore, think, say, grab, pull, tap, hover, ...bet?.(facts.last, taken[farthest]),
  });
  fig.choose("Draw", { wall: "Walls", star: "Stars" }, tool, (chosen) => fig.change(() => (tool = chosen)), true);
  const modes = fig.choose("Stop", { each: "Each by itself", all: "All at this step" }, mode, (chosen) => fig.change(() => (shown = (mode = chosen) === "each" ? end : shown)));
  const step = fig.slider("Step", [1, end, 1], 1, String, (n) => (shown = n));
  function renew() {
    seed = 1 + Math.floor(99999 * Math.random());
    fig.change(load);
    fig.cursor = Math.floor(maze.side / 2) * (maze.side + 1);
    replay();
  }
  const more = fig.box.querySelector(".live-more");
  for (const [one, words] of Object.entries({ t: "New maze", r: "No walls" })) fig.button(words, () => renew((kind = one)), more);
  for (const n of [9, 13, 29, 39]) fig.button(`${n} × ${n}`, () => renew((side = n)), more);
  fig.start();
  return fig;
};
