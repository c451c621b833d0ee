"use strict";
// The page around the network: what the reader draws, what is drawn, and what is said of it. think.js does the thinking.
(() => {
  const { Thought, around, generator, kind, read, truth } = window.ponder;
  const { colours, known, weights } = window.ponderNetwork;
  const network = read(window.ponderNetwork);
  const root = document.getElementById("front");
  const $ = (id) => document.getElementById(`front-${id}`);
  const [maze, map] = [$("maze"), $("map")];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const PATIENCE = 40; // steps beyond the last need; who has not halted then is stopped
  const GLOW = 3; // steps for which a place that has halted still glows
  const NAMES = ["no", "blue", "pink"];

  let random = generator(7); // the first maze is the same for all
  let laby; // the maze, as think.js has it; and `walled`, the stars that stand on walls
  let facts; // what is true of it: need, asked, answer, last
  let thought;
  let shown = 0; // the step that is shown, at most thought.n
  let after = 0; // part of a step since, for the glow
  let playing = false;
  let inView = false;
  let touched = false; // the reader has drawn something
  let cursor = -1; // place under the keys
  let pointed = -1; // place that the words are about
  let byKeys = false; // the cursor is shown
  let shows = "taken";
  let ink = {};

  // Mazes

  function load(name) {
    letGo();
    const side = Number($("side").value);
    laby = window.ponder[name](side, random);
    laby.walled = new Set();
    random = generator(Math.floor(2 ** 32 * Math.random()));
    cursor = pointed = -1;
    changed();
  }

  function changed() {
    facts = truth(laby);
    thought = new Thought(network, laby, facts.asked, facts.last + PATIENCE);
    shown = after = 0;
    $("kind").textContent = ofItsKind();
    $("last").textContent = plural(facts.last || 1, "step");
    $("border").style.left = `${(100 * (known.trained_steps - 1)) / Math.max(1, facts.last - 1)}%`;
    $("border").hidden = facts.last <= known.trained_steps;
    write("live", "");
    play(!thought.done);
  }

  // Time

  function play(on) {
    playing = on;
    if (on) request();
    controls();
    draw();
  }

  let asked = 0; // the animation frame that is waited for
  let last = 0;
  let drawn = -1; // the step that the map shows
  function request() {
    if (!asked && inView && !document.hidden) asked = requestAnimationFrame(frame);
  }

  function frame(now) {
    asked = 0;
    const passed = Math.min(100, now - last);
    last = now;
    const ended = thought.done && shown === thought.n;
    if (calm.matches) {
      for (const end = performance.now() + 20; playing && performance.now() < end; ) advance();
      if (!playing) draw();
      controls();
    } else {
      after += (passed * Number($("rate").value)) / 1000;
      for (const end = performance.now() + 25; playing && after >= 1 && performance.now() < end; after--) advance();
      after = Math.min(after, ended ? GLOW : 1);
      drawMaze(); // the glow fades between steps, too
      if (shown !== drawn) {
        drawMap();
        controls();
      }
    }
    if (playing || (ended && after < GLOW && !calm.matches)) request();
  }

  function advance() {
    if (shown === thought.n && !thought.done) thought.step();
    shown = Math.min(shown + 1, thought.n);
    if (!(thought.done && shown === thought.n)) return;
    playing = false;
    after = 0;
    if (!touched) $("hint").hidden = false;
    request();
  }

  // Words

  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const percent = (span) => {
    const [worst, best] = span.map((part) => `${Math.round(100 * part)} %`);
    return worst === best ? `all` : `${worst} to ${best}`;
  };
  const isRight = (place) => (thought.answer[place] > 0 ? 2 : 1) === facts.answer[place];
  const halted = (place) => thought.steps[place] > 0 && thought.steps[place] <= shown;

  function counts() {
    const found = { asked: 0, right: 0, exact: 0, early: 0, late: 0, forced: 0 };
    for (const place of thought.places) {
      if (!facts.asked[place] || !thought.steps[place]) continue;
      found.asked += 1;
      found.right += isRight(place) ? 1 : 0;
      const over = thought.steps[place] - facts.need[place];
      if (thought.forced[place]) found.forced += 1;
      else found[over === 0 ? "exact" : over < 0 ? "early" : "late"] += 1;
    }
    return found;
  }

  function summary() {
    if (!facts.last) return "Nothing is asked: set a star.";
    const { asked: all, right, exact, early, late, forced } = counts();
    const rest = [];
    if (early) rest.push(`${early} too early`);
    if (late) rest.push(`${late} later`);
    if (forced) rest.push(`${forced} not by ${forced === 1 ? "itself" : "themselves"}`);
    const are = right === 1 || all === 1 ? "is" : "are";
    const some = `${right} of ${plural(all, "place")} ${are} right, ${all - right} wrong`;
    const who = right < all ? some : `${all === 1 ? "" : "All "}${plural(all, "place")} ${are} right`;
    const each = all === 1 ? "it" : "each";
    const know = "halted at the very step at which";
    const when = exact === all ? `${each} ${know} it could know` : `${exact} ${know} ${exact === 1 ? "it" : "they"} could know`;
    return `${who} after ${plural(thought.n, "step")}: ${[when, ...rest].join(", ")}.`;
  }

  function describe(place) {
    const name = `Place (${Math.floor(place / laby.side) + 1}, ${(place % laby.side) + 1})`;
    if (!laby.open[place]) return `${name} is a wall.`;
    const star = laby.star[place] ? ` It holds a ${NAMES[laby.star[place]]} star.` : "";
    const need = facts.need[place];
    if (need === Infinity) return `${name} can reach no star, so it is not asked.${star}`;
    if (!facts.asked[place]) return `${name} is as far from a blue star as from a pink one, so it is not asked.${star}`;
    if (!halted(place)) return `${name} is thinking at step ${shown}; it needs ${need}.${star}`;
    const steps = thought.steps[place];
    const verdict = isRight(place) ? "that is right" : "that is wrong";
    const says = `It says ${thought.answer[place] > 0 ? "pink" : "blue"}: ${verdict}.`;
    const how = thought.forced[place] ? `was stopped at step ${steps}` : `halted at step ${steps}`;
    const early = steps < need ? ", so it could not know" : "";
    return `${name} ${how}; it needs ${need}${early}. ${says}${star}`;
  }

  function ofItsKind() {
    const { side } = laby;
    const { breaks, islands, stars } = kind(laby);
    const of = (tests) => percent([Math.min(...tests.map((t) => known.mazes[t][0])), Math.max(...tests.map((t) => known.mazes[t][1]))]);
    const such = `In lesson 07, ${known.networks} networks trained like this one were right at every place of`;
    const trained = known.trained_side;
    const lines = [];
    if (breaks)
      lines.push(`In training, corridors kept to a grid; ${breaks === 1 ? "1 place here breaks" : `${breaks} places here break`} it. Nothing is promised: look for places that halt too early, and for red.`);
    else if (islands > 0.1 * side * side)
      lines.push(`It was never trained on open halls. ${such} ${of(["20, all passages"])} of halls with pillars. Look for red.`);
    else if (islands) lines.push(`It was never trained on loops. ${such} ${of(["20, loops"])} of mazes with some.`);
    else {
      const larger = side > trained ? `${side} × ${side} places, trained on ${trained} × ${trained} at most.` : `${side} × ${side} places, as in training.`;
      lines.push(`${larger} ${such} ${of(["5", "10", "20", "30"])} of mazes, up to ${known.largest_side} × ${known.largest_side}.`);
    }
    if (facts.last > known.trained_steps) lines.push(`The farthest place here needs ${facts.last} steps; in training there were ${known.trained_steps} at most.`);
    if (stars > 3) lines.push("In training there were at most three stars.");
    return lines.join(" ");
  }

  // A screen reader speaks when a text is written, even the same.
  function write(id, text) {
    if ($(id).textContent !== text) $(id).textContent = text;
  }

  function controls() {
    const ended = thought.done && shown === thought.n;
    $("run").textContent = playing ? "Pause" : ended ? "Again" : "Think";
    $("step").disabled = ended;
    $("time").max = String(thought.done ? thought.n : Math.max(facts.last, thought.n, 1));
    $("time").value = String(shown);
    write("count", `step ${shown}`);
    const those = thought.places.filter((place) => facts.asked[place]);
    write("words", ended ? summary() : "");
    const count = those.filter(halted).length;
    const have = count === 1 || those.length === 1 ? "has" : "have";
    write("progress", ended ? "" : `Step ${shown}: ${count} of ${plural(those.length, "place")} ${have} halted.`);
    write("place", pointed < 0 ? "Point at a place, or tap the map, to read when it halted." : describe(pointed));
  }

  // Pictures

  function mixed(from, to, part) {
    const [a, b] = [from, to].map((colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)));
    const parts = a.map((value, i) => Math.round(value + (b[i] - value) * part));
    return `#${parts.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
  }

  function colourOfSteps(n) {
    const where = Math.min(1, (n - 1) / Math.max(1, facts.last - 1)) * (ink.steps.length - 1);
    const i = Math.min(Math.floor(where), ink.steps.length - 2);
    return mixed(ink.steps[i], ink.steps[i + 1], where - i);
  }

  function sized(canvas) {
    const size = Math.max(1, Math.round(canvas.clientWidth * (window.devicePixelRatio || 1)));
    if (canvas.width !== size) canvas.width = canvas.height = size;
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, size, size);
    return [pen, size];
  }

  // The box of a place on a canvas of some pixels: left, top, width, height.
  function box(place, size) {
    const [row, column] = [Math.floor(place / laby.side), place % laby.side];
    const [left, top] = [column, row].map((i) => Math.round((i * size) / laby.side));
    const [right, bottom] = [column + 1, row + 1].map((i) => Math.round((i * size) / laby.side));
    return [left, top, right - left, bottom - top];
  }

  function line(pen, points, width, colour) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.lineCap = pen.lineJoin = "round";
    pen.beginPath();
    points.forEach(([x, y]) => pen.lineTo(x, y));
    pen.stroke();
  }

  function fillPlaces(pen, size, colourOf) {
    pen.fillStyle = ink.wall;
    pen.fillRect(0, 0, size, size);
    for (const place of thought.places) {
      pen.fillStyle = colourOf(place);
      pen.fillRect(...box(place, size));
    }
  }

  // Where a star is drawn, and how large: x, y, radius.
  function starShape(place, size) {
    const radius = Math.max((0.75 * size) / laby.side, 0.03 * size);
    const [left, top, width, height] = box(place, size);
    const [x, y] = [left + width / 2, top + height / 2].map((at) => Math.min(size - 1.1 * radius, Math.max(1.1 * radius, at)));
    return [x, y, radius];
  }

  function drawStars(pen, size) {
    laby.star.forEach((star, place) => {
      if (!star) return;
      const [x, y, radius] = starShape(place, size);
      pen.beginPath();
      for (let i = 0; i < 10; i++) {
        const [angle, r] = [(Math.PI * i) / 5 - Math.PI / 2, i % 2 ? 0.45 * radius : radius];
        pen.lineTo(x + r * Math.cos(angle), y + r * Math.sin(angle));
      }
      pen.closePath();
      pen.lineJoin = "round";
      pen.lineWidth = Math.max(2, 0.3 * radius);
      pen.strokeStyle = "#ffffff";
      pen.stroke();
      pen.fillStyle = star === 1 ? colours.first : colours.second;
      pen.fill();
      pen.lineWidth = Math.max(1, 0.06 * radius);
      pen.strokeStyle = "#000000";
      pen.stroke();
    });
  }

  // The way of the news, from the place that is pointed at to its nearest star.
  function drawWay(pen, size) {
    if (pointed < 0) return;
    const points = [];
    for (let place = pointed; laby.open[place] && facts.need[place] < Infinity; ) {
      const [left, top, width, height] = box(place, size);
      points.push([left + width / 2, top + height / 2]);
      if (facts.need[place] === 1) break;
      place = around(laby, place).find(([, near]) => facts.need[near] === facts.need[place] - 1)[1];
    }
    const width = Math.min(size / laby.side, 0.035 * size);
    line(pen, points, 0.34 * width, "#ffffff");
    line(pen, points, 0.16 * width, "#000000");
    const [left, top, w, h] = box(pointed, size);
    for (const [thick, colour] of [[0.3, "#ffffff"], [0.14, "#000000"]]) {
      pen.lineWidth = thick * width;
      pen.strokeStyle = colour;
      pen.strokeRect(left, top, w, h);
    }
  }

  function drawMaze() {
    const [pen, size] = sized(maze);
    fillPlaces(pen, size, (place) => {
      if (!facts.asked[place] || !halted(place)) return ink.open;
      const answer = isRight(place) ? (thought.answer[place] > 0 ? colours.second : colours.first) : colours.wrong;
      const age = (shown - thought.steps[place] + after) / GLOW;
      if (calm.matches || age >= 1) return answer;
      return age < 1 / GLOW ? colours.halting : mixed(ink.wake, answer, age); // a crest, and a pale wake
    });
    const width = size / laby.side;
    for (const place of thought.places) {
      const [left, top, w, h] = box(place, size);
      const cross = (part) => [[left + part * w, top + part * h], [left + (1 - part) * w, top + (1 - part) * h]];
      if (!facts.asked[place] && facts.last) {
        line(pen, cross(0.32), 0.1 * width, ink.soft);
        line(pen, cross(0.32).map(([x, y]) => [x, 2 * top + h - y]), 0.1 * width, ink.soft);
      } else if (halted(place) && !isRight(place)) line(pen, cross(0.2).map(([x, y]) => [x, 2 * top + h - y]), 0.14 * width, "#ffffff");
    }
    drawWay(pen, size);
    drawStars(pen, size);
    if (cursor >= 0 && byKeys && document.activeElement === maze) {
      const [left, top, w, h] = box(cursor, size);
      for (const [thick, colour] of [[0.42, "#000000"], [0.22, colours.halting]]) {
        pen.lineWidth = Math.max(3, thick * width);
        pen.strokeStyle = colour;
        pen.strokeRect(left, top, w, h);
      }
    }
  }

  function drawMap() {
    drawn = shown;
    const [pen, size] = sized(map);
    if (shows === "chart") return drawChart(pen, size);
    const isKnown = (place) => facts.asked[place] && (shows === "needed" ? facts.need[place] <= shown : halted(place));
    fillPlaces(pen, size, (place) => (isKnown(place) ? colourOfSteps(shows === "needed" ? facts.need[place] : thought.steps[place]) : ink.open));
    const width = size / laby.side;
    for (const place of thought.places)
      if (facts.asked[place] && halted(place) && thought.steps[place] !== facts.need[place]) {
        const [left, top, w, h] = box(place, size);
        pen.lineWidth = Math.max(1.5, 0.12 * width);
        pen.strokeStyle = "#000000";
        pen.strokeRect(left + 0.2 * w, top + 0.2 * h, 0.6 * w, 0.6 * h);
      }
    drawWay(pen, size);
    drawStars(pen, size);
  }

  // Steps taken against steps needed: a point for all places with both alike, and the line on which nobody waits in vain.
  function drawChart(pen, size) {
    pen.fillStyle = ink.page;
    pen.fillRect(0, 0, size, size);
    const unit = size / 360;
    const end = Math.max(4, 1.08 * facts.last);
    const [x, y] = [(n) => (46 + 296 * (n / end)) * unit, (n) => size - (44 + 288 * (n / end)) * unit];
    const letter = (text, left, top, align, colour = ink.ink) => {
      pen.fillStyle = colour;
      pen.textAlign = align;
      pen.font = `${13 * unit}px sans-serif`;
      pen.fillText(text, left, top);
    };
    if (facts.last > known.trained_steps) {
      pen.fillStyle = ink.button;
      pen.fillRect(x(known.trained_steps + 0.5), y(end), x(end) - x(known.trained_steps + 0.5), y(0) - y(end));
      letter("more than in training", x(end) - 4 * unit, y(0) - 8 * unit, "right", ink.soft);
    }
    line(pen, [[x(0), y(end)], [x(0), y(0)], [x(end), y(0)]], 1.5 * unit, ink.soft);
    line(pen, [[x(0), y(0)], [x(end), y(end)]], 1.5 * unit, ink.limit);
    const stride = [1, 2, 5, 10, 20, 50, 100, 200].find((n) => facts.last / n <= 5) || 500;
    for (let n = stride; n <= end; n += stride) {
      letter(String(n), x(n), y(0) + 18 * unit, "center");
      letter(String(n), x(0) - 7 * unit, y(n) + 5 * unit, "right");
    }
    letter("steps that a place needs", x(end / 2), size - 6 * unit, "center");
    letter("steps taken", 6 * unit, y(end) - 4 * unit, "left");
    const points = new Map();
    for (const place of thought.places)
      if (facts.asked[place] && halted(place)) {
        const key = `${facts.need[place]},${thought.steps[place]}`;
        points.set(key, [facts.need[place], thought.steps[place], 1 + (points.has(key) ? points.get(key)[2] : 0)]);
      }
    for (const [need, steps, count] of points.values()) {
      pen.beginPath();
      pen.arc(x(need), y(Math.min(steps, end)), (2.5 + Math.min(4, 0.6 * Math.sqrt(count))) * unit, 0, 7);
      pen.fillStyle = colours.halting;
      pen.fill();
      pen.lineWidth = 0.7 * unit;
      pen.strokeStyle = ink.limit;
      pen.stroke();
    }
  }

  function draw() {
    drawMaze();
    drawMap();
  }

  function themed() {
    for (const name of ["first", "second", "halting", "wrong"]) root.style.setProperty(`--front-${name}`, colours[name]);
    const style = getComputedStyle(root);
    ink = Object.fromEntries(["wall", "open", "soft", "ink", "page", "button", "limit"].map((name) => [name, style.getPropertyValue(`--front-${name}`).trim()]));
    ink.wake = mixed(colours.halting, "#ffffff", 0.75);
    ink.steps = colours.steps[ink.limit === "#ffffff" ? "dark" : "light"];
    root.style.setProperty("--front-steps", `linear-gradient(90deg, ${ink.steps.join()})`);
    if (laby) draw();
  }

  // Hands

  function setPlace(place, isOpen, star = 0) {
    if (below(place) === isOpen && laby.star[place] === star) return;
    lay(place, isOpen, star);
    touched = true;
    $("hint").hidden = true;
    changed();
  }

  // A place with a star is open. When the star goes, what was below it is back.
  function lay(place, isOpen, star) {
    laby.star[place] = star;
    laby.open[place] = isOpen || star ? 1 : 0;
    if (star && !isOpen) laby.walled.add(place);
    else laby.walled.delete(place);
  }

  const below = (place) => laby.open[place] === 1 && !laby.walled.has(place);
  const setStar = (place, star) => setPlace(place, below(place), star);

  function placeAt(canvas, event) {
    const area = canvas.getBoundingClientRect();
    const [row, column] = [event.clientY - area.top, event.clientX - area.left].map((at) => Math.floor((at * laby.side) / area.width));
    const inside = row >= 0 && column >= 0 && row < laby.side && column < laby.side;
    return inside ? row * laby.side + column : -1;
  }

  // The place of the star under the pointer, -1 if there is none. Near the border of a large maze a star is drawn beside its place.
  function starAt(event) {
    const place = placeAt(maze, event);
    if (place < 0 || laby.star[place]) return place;
    const area = maze.getBoundingClientRect();
    return laby.star.findIndex((star, at) => {
      const [x, y, radius] = starShape(at, area.width);
      return star && Math.hypot(event.clientX - area.left - x, event.clientY - area.top - y) < 0.45 * radius;
    });
  }

  function lookAt(place) {
    pointed = place;
    controls();
    draw();
  }

  const tool = () => root.querySelector("[name=front-tool]:checked").value;
  const hovers = (event) => event.pointerType !== "touch";

  // The one pointer that is down: its id, the place where it is, what it does at the next one (move), and what it does if it
  // is lifted before (tap). Others wait. Whatever else changes the page, or takes the pointer away, ends what it does.
  let hand = null;
  const letGo = () => (hand = null);

  maze.addEventListener("pointerdown", (event) => {
    const place = placeAt(maze, event);
    if (hand || place < 0 || event.button) return;
    cursor = place;
    byKeys = false;
    hand = { id: event.pointerId, place, ...begun(place, starAt(event)) };
  });

  function begun(place, star) {
    const chosen = tool();
    if (chosen !== "look" && star >= 0) return { move: carry(star), tap: () => setStar(star, afterTap(laby.star[star], chosen)) };
    const open = !laby.open[place];
    const move = { look: lookAt, wall: (at) => laby.star[at] || setPlace(at, open) }[chosen];
    if (move) move(place);
    else setStar(place, Number(chosen));
    return { move: move || carry(place) };
  }

  // A tap on a star takes its own colour's tool to remove it, the other's to recolour it; with the walls' tool it goes round.
  function afterTap(star, chosen) {
    if (chosen === "wall") return (star + 1) % 3;
    return Number(chosen) === star ? 0 : Number(chosen);
  }

  // Move a star from place to place; it leaps over others.
  function carry(at) {
    const star = laby.star[at];
    return (to) => {
      if (laby.star[to]) return;
      lay(at, below(at), 0);
      at = to;
      pointed = -1;
      setStar(at, star);
    };
  }

  maze.addEventListener("pointermove", (event) => {
    if (hand && event.pointerId !== hand.id) return;
    if (hand && hovers(event) && !(event.buttons & 1)) letGo(); // it was lifted where nobody saw it
    maze.classList.toggle("front-grabs", tool() !== "look" && starAt(event) >= 0);
    if (!hand && hovers(event) && placeAt(maze, event) !== pointed) lookAt(placeAt(maze, event));
    for (const part of event.getCoalescedEvents?.() ?? [event]) {
      const at = placeAt(maze, part);
      if (!hand || at === hand.place) continue;
      if (at < 0) return letGo();
      Object.assign(hand, { place: at, tap: null });
      hand.move(at);
    }
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave", "lostpointercapture"])
    maze.addEventListener(name, (event) => {
      if (event.pointerId !== hand?.id) return;
      if (name === "pointerup") hand.tap?.();
      letGo();
    });
  maze.addEventListener("contextmenu", (event) => hand && event.preventDefault()); // a long press
  root.addEventListener("change", letGo);
  for (const name of ["blur", "resize"]) window.addEventListener(name, letGo);
  for (const canvas of [maze, map]) canvas.addEventListener("pointerleave", (event) => hovers(event) && !hand && lookAt(-1));
  for (const name of ["pointermove", "pointerdown"]) map.addEventListener(name, (event) => !hand && shows !== "chart" && lookAt(placeAt(map, event)));

  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  maze.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!(key in ARROWS) && ![" ", "s", "n", "Enter"].includes(key)) return;
    event.preventDefault();
    letGo();
    byKeys = true;
    if (cursor < 0) cursor = Math.floor(laby.side / 2) * (laby.side + 1);
    if (key === "Enter") return $("run").click();
    if (key === "n") return $("step").click();
    if (key === "s") setStar(cursor, (laby.star[cursor] + 1) % 3);
    else if (key !== " ") cursor = beside(cursor, ...ARROWS[key]);
    else if (!laby.star[cursor]) setPlace(cursor, !laby.open[cursor]);
    lookAt(cursor);
    write("live", describe(cursor));
  });

  function beside(place, down, right) {
    const [row, column] = [Math.floor(place / laby.side) + down, (place % laby.side) + right].map((i) => Math.min(laby.side - 1, Math.max(0, i)));
    return row * laby.side + column;
  }

  maze.addEventListener("focus", () => {
    byKeys = maze.matches(":focus-visible");
    if (byKeys && cursor < 0) cursor = Math.floor(laby.side / 2) * (laby.side + 1);
  });
  for (const name of ["focus", "blur"]) maze.addEventListener(name, draw);

  $("run").addEventListener("click", () => {
    if (thought.done && shown === thought.n) shown = after = 0;
    play(!playing && facts.last > 0);
  });
  $("step").addEventListener("click", () => {
    playing = false;
    after = 0;
    if (facts.last) advance();
    play(false);
  });
  $("time").addEventListener("input", () => {
    const wanted = Number($("time").value);
    while (thought.n < wanted && !thought.done) thought.step();
    [shown, after] = [Math.min(wanted, thought.n), 0];
    play(false);
  });
  for (const button of root.querySelectorAll("[data-maze]"))
    button.addEventListener("click", () => {
      touched = true;
      $("hint").hidden = true;
      root.dataset.maze = button.dataset.maze;
      load(button.dataset.maze);
    });
  $("side").addEventListener("change", () => load(root.dataset.maze || "tree"));
  for (const choice of root.querySelectorAll("[name=front-map]"))
    choice.addEventListener("change", () => {
      shows = choice.value;
      $("scale").style.visibility = shows === "chart" ? "hidden" : "visible";
      draw();
    });
  for (const choice of root.querySelectorAll("[name=front-tool]"))
    choice.addEventListener("change", () => maze.classList.toggle("front-looks", tool() === "look"));

  const numbers = Object.values(weights).reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b), 0);
  $("works").textContent =
    `One step is one 3 × 3 convolution, ${network.channels} channels, masked by the walls; ${numbers.toLocaleString("en")} numbers in all, ` +
    "trained as in lesson 07. A place halts at the first step with a halting probability of one half or more. " +
    "Its answer stays, and it goes on passing news. A place needs one step more than its distance from the nearest star: before that, nobody can know.";
  $("side").value = root.clientWidth < 600 ? "19" : "29";
  new MutationObserver(themed).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
  new ResizeObserver(() => draw()).observe(maze);
  themed();
  load("tree");
  new IntersectionObserver(([seen]) => {
    inView = seen.isIntersecting;
    if (inView) request();
  }).observe(maze);
  document.addEventListener("visibilitychange", request);
  window.ponderPage = { load, get state() { return { laby, facts, thought, shown, playing, cursor, pointed }; }, setPlace }; // for the tests
})();
