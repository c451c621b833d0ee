"use strict";
// A maze that thinks, as on the first page and in lesson 07: the reader draws walls and stars, and moves the step that is
// shown. live.maze(name, places on a side, seed, bet(need, steps taken) of the place that needs the most -> the figure's
// bet, if there is one) -> {fig, renew(kind, side), replay()}.
live.maze = (name, side, seed, bet) => {
  const [TRAINED, BEYOND, PATIENCE] = [24, 80, 40]; // steps: the most in training; so far it thinks on; then it is stopped
  const { isOpen, around, truth, generator, strange } = live.mazes;
  const COLOURS = ["no", "blue", "pink"];
  const network = live.read(live.weights.maze.weights);
  let random = generator(seed); // the first maze is the same for all
  let [tool, mode, view] = [matchMedia("(pointer: coarse)").matches ? null : "wall", "each", "chart"];
  let maze, near, walls, base, thought, facts, taken, end, shown, pointed;
  let size, panel; // of the maze; and where the other picture is

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
  const says = (n, place) => (thought(n, place).answer > 0 ? 2 : 1);

  // now: what each place answers at the step shown, 0 if nothing yet; own: when each halts by itself.
  function think() {
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
    const wrong = count((place) => now[place] && now[place] !== answer[place]);
    const verdict = (n) => (n ? `${places.length - n} of ${all} are right, {wrong:${n} wrong}` : `All ${all} are {answer:right}`);
    const own_wrong = count((place) => own[place] !== answer[place]);
    if (mode === "all") {
      const deaf = count((place) => now[place] !== answer[place] && need[place] > shown);
      const forgot = count((place) => now[place] !== answer[place] && need[place] <= shown && own[place] === answer[place]);
      const why = [deaf && `${deaf} cannot know yet`, forgot && `{wrong:${forgot} had halted in time, and ${forgot === 1 ? "has" : "have"} forgotten}`];
      const ofWrong = why.filter(Boolean).join(", and ");
      return `All stop at step ${shown}: ${verdict(wrong)}. ${ofWrong && `Of the wrong, ${ofWrong}. `}` +
        `Each by itself, ${own_wrong ? `${own_wrong} ${own_wrong === 1 ? "is" : "are"} wrong` : "all are right"}.`;
    }
    if (shown < end) return `Step ${shown}: ${count((place) => now[place])} of ${all} have {halt:halted}.`;
    const early = count((place) => taken[place] < need[place]);
    const late = count((place) => taken[place] > need[place]);
    const rest = [early && `${early} too early`, late && `${late} later`].filter(Boolean);
    const exact = places.length - early - late;
    const odd = strange(maze);
    const training = odd.breaks
      ? ` In training all corridors kept to a grid; ${live.number(odd.breaks, "place")} here ${odd.breaks === 1 ? "breaks" : "break"} it.`
      : odd.loops ? " In training there were no loops." : last > TRAINED ? ` The farthest needs {limit:${last} steps}, and in training nobody needed more than ${TRAINED}.` : "";
    return `${verdict(wrong)} after ${live.number(end, "step")}. {halt:${exact < places.length ? exact : "All"} halted at the very step} at which they could know${rest.map((part) => `, ${part}`).join("")}.${training}`;
  }

  const named = (place) => `Place (${Math.floor(place / maze.side) + 1}, ${(place % maze.side) + 1})`;
  function describe(place) {
    const { need, asked, answer, now } = fig.seen;
    const star = maze.star[place] ? ` It holds a ${COLOURS[maze.star[place]]} star.` : "";
    if (!isOpen(maze, place)) return `${named(place)} is a wall.`;
    if (!asked[place]) return `${named(place)} ${need[place] < Infinity ? "is as far from both colours" : "can reach no star"}, so it is not asked.${star}`;
    const right = now[place] === answer[place] ? "right" : "wrong";
    const says = now[place] ? `says ${COLOURS[now[place]]}, ${right}` : "is still thinking";
    return `${named(place)} needs ${live.number(need[place], "step")}. It ${says}; by itself it halts at step ${taken[place]}.${star}`;
  }

  // Pictures
  const box = (place, x = 0, y = 0) => {
    const [left, right, top, bottom] = [place % maze.side, (place % maze.side) + 1, Math.floor(place / maze.side), Math.floor(place / maze.side) + 1]
      .map((i) => Math.round((i * size) / maze.side));
    return [x + left, y + top, right - left, bottom - top];
  };
  const middle = (place) => [((place % maze.side) + 0.5) * (size / maze.side), (Math.floor(place / maze.side) + 0.5) * (size / maze.side)];
  function cells(pen, inks, x, y, inkOf) {
    pen.fillStyle = inks.wall;
    pen.fillRect(x, y, size, size);
    for (const [place, heard] of near.entries()) {
      if (!heard.length) continue;
      pen.fillStyle = inkOf(place);
      const [left, top, width, height] = box(place, x, y);
      pen.fillRect(left, top, width + 0.4, height + 0.4); // no seams
    }
  }
  const mix = (one, other, part) => `color-mix(in oklab, ${one} ${Math.round(100 * part)}%, ${other})`;

  // Where a star is drawn: near the border of a large maze it stands a little beside its place. x, y, radius.
  function starShape(place) {
    const radius = Math.max((0.75 * size) / maze.side, 12);
    return [...middle(place).map((at) => live.clamp(at, radius, size - radius)), radius];
  }
  function drawStars(pen, inks) {
    for (const [place, star] of maze.star.entries()) {
      if (!star) continue;
      const [x, y, radius] = starShape(place);
      pen.beginPath();
      for (let i = 0; i < 10; i++) {
        const [angle, r] = [(Math.PI * i) / 5 - Math.PI / 2, i % 2 ? 0.45 * radius : radius];
        pen.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
      }
      pen.closePath();
      pen.lineJoin = "round";
      for (const [width, ink] of [[6, "#ffffff"], [2, "#000000"]]) {
        pen.lineWidth = width;
        pen.strokeStyle = ink;
        pen.stroke();
      }
      pen.fillStyle = star === 1 ? inks.answer : inks.second;
      pen.fill();
    }
  }

  // The way of the news to a place from its nearest star.
  function drawWay(pen, inks, place) {
    const { need } = facts;
    const points = [];
    for (let at = place; need[at] < Infinity; at = near[at].find(([, q]) => need[q] === need[at] - 1)[1]) {
      points.push(middle(at));
      if (need[at] === 1) break;
    }
    for (const [width, ink] of [[5, "#ffffff"], [2.5, "#000000"]]) {
      live.stroke(pen, points, ink, width);
      pen.strokeStyle = ink;
      pen.lineWidth = width;
      pen.strokeRect(...box(place));
    }
  }

  function drawAnswers(pen, inks) {
    const { now, answer, asked } = fig.seen;
    const hidden = fig.bet === null;
    const isWrong = (place) => !hidden && now[place] && now[place] !== answer[place];
    cells(pen, inks, 0, 0, (place) => {
      if (hidden || !now[place]) return inks.open;
      if (fig.lit === "wrong" && !isWrong(place)) return inks.line;
      const ink = isWrong(place) ? inks.wrong : [inks.answer, inks.second][now[place] - 1];
      const age = mode === "each" && shown < end ? shown - taken[place] : 3; // those that halt now, and a pale wake
      return age < 3 ? mix(age ? inks.paper : inks.halt, ink, age ? 0.6 / age : 1) : ink;
    });
    const rings = []; // around those that have forgotten
    for (const [place, heard] of near.entries()) {
      const [left, top, width, height] = box(place);
      const cross = (part) => [[[part, part], [1 - part, 1 - part]], [[part, 1 - part], [1 - part, part]]]
        .map((line) => line.map(([i, j]) => [left + i * width, top + j * height]));
      if (isWrong(place)) {
        live.stroke(pen, cross(0.2)[1], "#ffffff", 2);
        if (mode === "all" && facts.need[place] <= shown) rings.push(middle(place));
      }
      if (heard.length && !asked[place] && facts.last) for (const line of cross(0.32)) live.stroke(pen, line, inks.soft, 1.5);
    }
    const place = hidden ? facts.need.indexOf(facts.last) : fig.focused ? fig.cursor : pointed;
    if (place !== null && near[place].length) drawWay(pen, inks, place);
    for (const [width, ink] of [[7, "#ffffff"], [4, inks.wrong]])
      for (const [x, y] of rings) {
        pen.beginPath();
        pen.arc(x, y, 14, 0, 2 * Math.PI);
        pen.strokeStyle = ink;
        pen.lineWidth = width;
        pen.stroke();
      }
    pen.strokeStyle = inks.soft;
    pen.lineWidth = 1;
    pen.strokeRect(0.5, 0.5, size - 1, size - 1);
    if (fig.focused) live.ring(pen, inks.halt, ...box(fig.cursor));
    drawStars(pen, inks);
  }

  // Steps taken against steps needed: a dot for all places with both alike, and the line on which nobody waits in vain.
  function drawChart(pen, inks) {
    const { need, now, answer, own } = fig.seen;
    const [left, top, right, bottom] = [panel.x + 34, panel.y + 26, panel.x + panel.width - 8, panel.y + panel.height - 44];
    const most = Math.max(4, facts.last);
    const high = Math.max(most, mode === "all" ? shown : end) * 1.06;
    const x = (n) => left + ((right - left) * n) / (most * 1.04);
    const y = (n) => bottom - ((bottom - top) * n) / high;
    if (facts.last > TRAINED) {
      pen.fillStyle = inks.line;
      pen.globalAlpha = 0.45;
      pen.fillRect(x(TRAINED + 0.5), top, right - x(TRAINED + 0.5), bottom - top);
      pen.globalAlpha = 1;
    }
    live.stroke(pen, [[left, top], [left, bottom], [right, bottom]], inks.soft, 1.5);
    live.stroke(pen, [[x(0), y(0)], [x(most), y(most)]], inks.ink, fig.lit === "limit" ? 5 : 2);
    pen.fillStyle = inks.soft;
    pen.textBaseline = "middle";
    const ticks = (last) => {
      const stride = [1, 2, 5, 10, 20, 50, 100].find((n) => last / n <= 5) ?? 200;
      return Array.from({ length: Math.floor(last / stride) }, (_, i) => (i + 1) * stride);
    };
    pen.textAlign = "center";
    for (const n of ticks(most)) pen.fillText(n, x(n), bottom + 14);
    pen.textAlign = "right";
    for (const n of ticks(high)) pen.fillText(n, left - 6, y(n));
    const dots = new Map();
    if (fig.bet !== null)
      for (const place of own.keys()) {
        if (!own[place] || !now[place]) continue;
        const dot = [need[place], mode === "all" ? shown : taken[place], now[place] !== answer[place]];
        dots.set(dot.join(), [...dot, 1 + (dots.get(dot.join())?.[3] ?? 0)]);
      }
    for (const [needed, steps, isWrong, count] of [...dots.values()].sort((a, b) => a[2] - b[2])) {
      const radius = (isWrong ? 5 : 3) + Math.min(4, 0.6 * Math.sqrt(count)) + (fig.lit === (isWrong ? "wrong" : "halt") ? 3 : 0);
      live.dot(pen, x(needed), y(steps), radius, fig.lit === "wrong" && !isWrong ? inks.line : isWrong ? inks.wrong : inks.halt);
    }
    live.center(pen, "steps that a place needs", (left + right) / 2, panel.y + panel.height - 10, inks.ink);
    pen.textAlign = "left";
    live.write(pen, "steps taken", panel.x, panel.y + 9, inks.ink, inks.paper);
    if (facts.last > TRAINED) {
      pen.textAlign = "right";
      pen.fillStyle = inks.ink;
      pen.fillText("more than in training", right - 4, bottom - 12);
    }
  }

  // The map of thought: how long each place thinks.
  function drawMap(pen, inks) {
    const steps = fig.lit === "limit" ? facts.need : mode === "all" ? taken.map((n) => n && shown) : taken;
    const ink = (n) => (n < end / 2 ? mix(inks.halt, inks.open, 0.08 + (1.84 * n) / end) : mix(inks.ink, inks.halt, (1.2 * n) / end - 0.6));
    const bar = panel.width - 120;
    for (let i = 0; i < bar; i++) {
      pen.fillStyle = ink(1 + ((end - 1) * i) / bar);
      pen.fillRect(panel.x + 22 + i, panel.y + size + 8, 1.5, 12);
    }
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.fillStyle = inks.ink;
    pen.fillText("1", panel.x + 4, panel.y + size + 14);
    pen.fillText(live.number(end, "step"), panel.x + bar + 30, panel.y + size + 14);
    cells(pen, inks, panel.x, panel.y, (place) => (fig.seen.now[place] && fig.bet !== null ? ink(Math.min(steps[place], end)) : inks.open));
  }

  // Hands
  function placeAt({ x, y }) {
    const [row, column] = [y, x].map((at) => Math.floor((at * maze.side) / size));
    return x >= 0 && y >= 0 && row < maze.side && column < maze.side ? row * maze.side + column : null;
  }
  function starAt(point) {
    const place = placeAt(point);
    if (place !== null && maze.star[place]) return place;
    const reach = (at) => starShape(at)[2] * (isOpen(maze, place ?? 0) ? 0.45 : 0.8);
    const found = maze.star.findIndex((star, at) => star && Math.hypot(point.x - starShape(at)[0], point.y - starShape(at)[1]) < reach(at));
    return found < 0 ? null : found;
  }
  const lay = (act) => fig.change(() => {
    act();
    changed();
  });
  const setStar = (place, star) => lay(() => (maze.star[place] = star));
  const setFloor = (place, floor) => maze.star[place] || lay(() => (maze.floor[place] = floor));

  function grab(point) {
    const [place, star] = [placeAt(point), starAt(point)];
    if (place === null) return null;
    if (star !== null) return { star };
    if (tool === null) return null;
    return tool === "wall" ? { place, floor: 1 - maze.floor[place] } : { place, put: COLOURS.indexOf(tool) };
  }
  function pull(held, point) {
    const to = placeAt(point);
    if (to === null) return;
    if (held.put) {
      setStar(held.place, held.put);
      Object.assign(held, { star: held.place, put: 0 });
    }
    if (held.star !== undefined) {
      if (!maze.floor[to] || maze.star[to]) return; // a star keeps to the corridors, and leaps over others
      lay(() => ([maze.star[held.star], maze.star[to], held.star] = [0, maze.star[held.star], to]));
    } else {
      for (const at of between(held.place, to)) setFloor(at, held.floor);
      held.place = to;
    }
  }
  // The places on the straight line between two, both among them.
  function between(from, to) {
    const [rows, columns] = [Math.floor(to / maze.side) - Math.floor(from / maze.side), (to % maze.side) - (from % maze.side)];
    const most = Math.max(1, Math.abs(rows), Math.abs(columns));
    return Array.from({ length: most + 1 }, (_, i) => from + maze.side * Math.round((rows * i) / most) + Math.round((columns * i) / most));
  }
  // A tap on a star takes its own colour's tool to remove it, the other's to recolour it; with the walls' tool it goes round.
  function tap(point, held) {
    if (held?.star !== undefined && tool) {
      const [now, colour] = [maze.star[held.star], COLOURS.indexOf(tool)];
      setStar(held.star, tool === "wall" ? (now + 1) % 3 : now === colour ? 0 : colour);
    } else if (held?.put) setStar(held.place, held.put);
    else if (held && tool) setFloor(held.place, held.floor);
  }
  function hover(point) {
    pointed = point && placeAt(point);
    return pointed === null ? "" : describe(pointed);
  }
  function walk(down, right) {
    const [row, column] = [Math.floor(fig.cursor / maze.side) + down, (fig.cursor % maze.side) + right].map((i) => live.clamp(i, 0, maze.side - 1));
    fig.cursor = row * maze.side + column;
  }

  function replay() {
    const [from, to] = mode === "all" ? [Math.min(shown, end), end + BEYOND] : [1, end];
    fig.follow(Array.from({ length: to - from + 1 }, (_, i) => from + i), 80, (n) => (shown = n));
  }
  function load(kind, newSide = maze.side) {
    maze = live.mazes[kind](newSide, random);
    random = Math.random;
    pointed = null;
    changed();
  }
  const center = () => Math.floor(maze.side / 2) * (maze.side + 1);
  load("tree", side);
  const fig = live.figure(name, {
    height(width) {
      const beside = width >= 560;
      size = beside ? Math.min(460, Math.floor((width - 28) / 2)) : width;
      panel = beside ? { x: size + 28, y: 0, width: size } : { x: 0, y: size + 20, width };
      panel.height = view === "map" ? size + 24 : beside ? size : 0.75 * size;
      return panel.y + panel.height;
    },
    draw(pen, _, inks) {
      drawAnswers(pen, inks);
      (view === "map" ? drawMap : drawChart)(pen, inks);
    },
    press: {
      ArrowUp: () => walk(-1, 0), ArrowDown: () => walk(1, 0), ArrowLeft: () => walk(0, -1), ArrowRight: () => walk(0, 1),
      Space: () => setFloor(fig.cursor, 1 - maze.floor[fig.cursor]),
      s: () => setStar(fig.cursor, (maze.star[fig.cursor] + 1) % 3),
      n: () => fig.change(() => (shown = Math.min(shown + 1, Number(step.max)))),
      Enter: replay,
    },
    where: (place) => ({ x: middle(place)[0], y: middle(place)[1] }),
    count: () => maze.side ** 2,
    opened: replay, think, say, grab, pull, tap, hover, ...bet?.(facts.last, taken[facts.need.indexOf(facts.last)]),
  });
  fig.choose("Draw", { wall: "Walls", blue: "Blue star", pink: "Pink star" }, tool, (chosen) => (tool = chosen), true);
  fig.choose("Stop", { each: "Each by itself", all: "All at step n" }, mode, (chosen) => {
    mode = chosen;
    if (mode === "each") shown = end;
  });
  fig.choose("Show", { chart: "Compare", map: "Map of steps" }, view, (chosen) => (view = chosen));
  fig.button("Think", replay);
  const step = fig.slider("Step", [1, 9, 1], 1, String, (n) => (shown = n));
  fig.cursor = center();
  const renew = (...how) => {
    fig.change(() => load(...how));
    fig.cursor = center();
    replay();
  };
  return { fig, renew, replay };
};
