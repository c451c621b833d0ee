// What all live figures share: the box with its bet, tools, canvas, legend and sentence; theme inks; the reader's hands.
const set = (element, attributes) => Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
function make(tag, attributes, inside = null, text = "") {
  const element = document.createElement(tag);
  set(element, attributes);
  element.textContent = text;
  inside?.append(element);
  return element;
}
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const INKS = ["ink", "soft", "paper", "line", "answer", "pale", "halt", "wrong", "prior", "second", "ponder", "wall", "open"];

const inDeck = () => "deck" in document.body.dataset;
live.onPhone = innerWidth < 640; // there fewer things are shown at first, so that a finger finds each

// What the page keeps of a bet; without storage, as in some pages opened as files, nothing; nor in a deck, where the bet
// of a rehearsal would spoil that of the class.
function keep(name, bet) {
  try {
    if (inDeck()) return bet ?? null;
    if (bet !== undefined) localStorage.setItem(`live-${name}`, bet ?? "");
    return localStorage.getItem(`live-${name}`) || null;
  } catch {
    return null;
  }
}

// A figure in the box with NAME.html; spec says what it shows, and the rest is done here.
//   ask, choices {bet: [words, what is said to who chose it]}, wins (a bet), truth (a sentence): the bet, if any.
//   opened(bet): called when it is made, and, without it, by a button, whose word is verb, or Think.
//   apart(): how far apart stand two things to tap: 24 pixels at least, also on a phone.
//   task (a sentence), found(seen) -> what was found, in a word, or null: the goal. Different finds are counted; or, where
//   they are numbers, the least is kept.
//   state() -> what the reader has set, as a short text of A-Z a-z 0-9 . _ - for the address; form: how it looks, a
//   RegExp with groups; restore(...groups): sets all of it, controls too. Thus figures have undo, reset and a link. A
//   text that the restored state would not write itself is ignored, so restore need not check what state() would show;
//   but it must leave something that can be thought about.
//   think() -> what is shown, plain data, kept as fig.seen; say(seen) -> the sentence above the canvas.
//   height(), draw(pen, width, inks): the picture, in pixels of the page.
//   grab(point) -> what a hand takes hold of there, or null; pull(it, point); tap(point, it or null);
//   hover(point or null) -> a note; press {key: function}; where(i) -> the point of the thing that keys have chosen.
//   count(): arrow keys choose among so many things, fig.cursor; across(): of which so many stand in a row; nudge(from,
//   to): shift and arrow move one.
live.figure = (name, spec) => {
  const box = document.getElementById(`live-${name}`);
  const [lead, legend, keys] = ["lead", "legend", "keys"].map((part) => box.querySelector(`.live-${part}`));
  const bets = make("div", { class: "live-bet", role: "group", "aria-label": "Your bet" });
  const tools = make("div", { class: "live-tools" });
  const title = box.querySelector(".live-title").textContent;
  const canvas = make("canvas", { tabindex: 0, role: "application", "aria-label": title, "aria-describedby": `${box.id}-keys` });
  const words = make("p", { class: "live-words", "aria-live": "polite" });
  const goal = make("p", { class: "live-goal", "aria-live": "polite" });
  const back = make("div", { class: "live-tools live-back" });
  const note = make("p", { class: "live-note", ...(spec.where && { "aria-live": "polite" }) });
  lead.after(bets, tools, words, canvas);
  note.hidden = !spec.hover;
  legend.after(note, back);
  keys.id = `${box.id}-keys`;
  const pen = canvas.getContext("2d");
  const fig = { box, spec, bet: spec.ask ? keep(name) : "none", lit: null, cursor: 0, focused: false, seen: null };
  live[name] = fig;
  fig.update = () => {
    fig.seen = spec.think();
    fig.cursor = live.clamp(fig.cursor, 0, spec.count() - 1);
    fig.say(spec.say(fig.seen));
    fig.redraw();
    clearTimeout(settling);
    settling = setTimeout(settle, 400); // not at every step of a hand
  };
  fig.change = (act) => {
    fig.stop();
    act?.();
    fig.update();
  };

  fig.redraw = () => {
    const width = canvas.clientWidth;
    if (!width) return;
    const height = spec.height(width);
    canvas.style.height = `${height}px`;
    const sharp = devicePixelRatio * Math.max(1, canvas.getBoundingClientRect().width / width);
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    pen.scale(canvas.width / width, canvas.height / height);
    const style = getComputedStyle(box);
    const inks = Object.fromEntries(INKS.map((ink) => [ink, style.getPropertyValue(`--live-${ink}`).trim()]));
    pen.font = `14px ${style.fontFamily}`;
    spec.draw(pen, width, inks);
  };

  // "It {halt:halts at step 3}": words that light a part of the picture, and have its colour.
  fig.say = (sentence, into = words) => {
    into.replaceChildren();
    for (const piece of sentence.split(/(\{\w+:[^}]*\})/)) {
      const found = piece.match(/^\{(\w+):(.*)\}$/);
      into.append(found ? part(found[1], make("b", {}, null, found[2])) : piece);
    }
    if (into === words && words.offsetHeight) words.style.minHeight = `${words.offsetHeight}px`; // the canvas below moves down, never up
  };
  function part(ink, element) {
    element.dataset.part = ink;
    for (const [event, lit] of [["pointerenter", ink], ["pointerleave", null], ["focus", ink], ["blur", null]])
      element.addEventListener(event, () => {
        fig.lit = lit;
        fig.redraw();
      });
    return element;
  }
  for (const button of legend.children) part(button.dataset.part, button);

  // The bet: until it is made, or declined, the figure keeps its answer to itself.
  function askForBet() {
    const open = fig.bet !== null;
    box.classList.toggle("live-open", open);
    bets.replaceChildren();
    if (spec.ask) {
      const [, answer = ""] = spec.choices[fig.bet] ?? [];
      const verdict = fig.bet === "none" ? "" : `${fig.bet === String(spec.wins) ? "Won." : "Lost."} ${answer} `;
      const told = fig.bet === "link" ? "You came by a link. The bet is about another picture." : verdict + spec.truth;
      fig.say(open ? told : `Bet first. ${spec.ask}`, make("p", {}, bets));
      const choices = open ? { "": ["Bet again"] } : { ...spec.choices, none: ["Just show me"] };
      for (const [bet, [label]] of Object.entries(choices)) fig.button(label, () => place(open ? null : bet), bets).dataset.bet = bet;
    }
    if (!open) return;
    bets.append(goal);
    count();
  }
  function place(bet) {
    keep(name, bet);
    fig.bet = bet;
    if (bet === null) reset(); // the question is about the first picture
    askForBet();
    if (bet === null) return bets.querySelector("button").focus({ preventScroll: true });
    fig.redraw();
    spec.opened?.(bet);
    canvas.focus({ preventScroll: true });
  }

  // The goal: what was found is counted, each thing once.
  const finds = new Set();
  function count() {
    if (fig.bet === null) return;
    const found = spec.found(fig.seen);
    if (found !== null) finds.add(found);
    const fewest = typeof [...finds][0] === "number" ? `Fewest so far: ${Math.min(...finds)}.` : finds.size ? `Found so far: ${finds.size}.` : "";
    const text = `Goal: ${spec.task} ${found !== null ? "You found it! " : ""}${fewest}`;
    if (goal.textContent !== text) goal.textContent = text;
  }

  // What the reader has set, as a text: where it came to rest is written into the address, and can be undone.
  let [settling, first, here] = [0, null, null];
  const past = [];
  function settle() {
    clearTimeout(settling);
    count();
    const now = spec.state();
    if (now === here) return;
    past.push(here);
    arrive(now);
  }
  function arrive(now) {
    here = now;
    for (const button of back.children) set(button, { "aria-disabled": button.value === "undo" && !past.length });
    if (!inDeck() && (here !== first || location.hash.startsWith(`#${name}=`))) history.replaceState(null, "", `#${name}=${here}`);
  }
  // Whether a text is a state: if so, it is restored.
  function restore(text) {
    const [before, groups] = [spec.state(), text.match(spec.form)];
    if (!groups) return false;
    fig.change(() => spec.restore(...groups.slice(1)));
    if (spec.state() === text) return true;
    fig.change(() => spec.restore(...before.match(spec.form).slice(1)));
    return false;
  }
  function undo() {
    settle();
    if (!past.length) return;
    const text = past.pop();
    restore(text);
    arrive(text);
  }
  const reset = () => restore(first);
  // A link to a state opens the figure there; the bet, which is about another picture, can still be made.
  function openLink() {
    const [, of, text] = location.hash.match(/^#(\w+)=(.*)$/) ?? [];
    if (inDeck() || of !== name || !restore(text)) return;
    fig.bet ??= "link";
    askForBet();
    settle();
    box.scrollIntoView();
  }

  fig.button = (label, act, where = tools) => {
    const button = make("button", { type: "button" }, where, label);
    button.addEventListener("click", act);
    return button;
  };
  if (spec.opened) fig.button(spec.verb ?? "Think", () => spec.opened());
  fig.slider = (label, [min, max, step], value, show, act) => {
    const whole = make("label", { class: "live-slider" }, tools, `${label} `);
    const input = make("input", { type: "range", min, max, step, value, autocomplete: "off" }, whole);
    const output = make("output", {}, whole);
    input.show = (now) => {
      input.value = now;
      output.textContent = show(Number(input.value));
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.show(value);
    input.addEventListener("input", () => {
      input.show(input.value);
      fig.change(() => act(Number(input.value)));
    });
    return input;
  };

  // Buttons of which one is chosen, or, if that is allowed, none (null): {value: words}.
  fig.choose = (label, choices, value, act, none = false) => {
    const group = make("div", { class: "live-choice", role: "group", "aria-label": label }, tools, `${label} `);
    const press = (chosen) => [...group.children].forEach((one) => set(one, { "aria-pressed": one.value === chosen }));
    for (const [one, words] of Object.entries(choices)) {
      const button = fig.button(words, () => {
        const chosen = none && button.getAttribute("aria-pressed") === "true" ? null : one;
        press(chosen);
        act(chosen);
      }, group);
      button.value = one;
    }
    press(value);
    return { show: press };
  };

  // Calls tick(0), tick(1), ..., tick(last), one each `pace` milliseconds; the last alone where motion is not wanted.
  let playing = 0;
  fig.play = (last, pace, tick) => {
    fig.stop();
    const start = performance.now();
    let was = -1;
    const frame = (now) => {
      const at = still() ? last : Math.min(last, Math.max(0, Math.floor((now - start) / pace)));
      if (at !== was) {
        tick(at);
        fig.redraw();
      }
      was = at;
      if (at < last) playing = requestAnimationFrame(frame);
      else fig.stop();
    };
    words.setAttribute("aria-busy", "true");
    frame(start);
  };
  // Takes each value of a path in turn, as if by the reader's hand.
  fig.follow = (path, pace, act) =>
    fig.play(path.length - 1, pace, (i) => {
      act(path[i]);
      fig.update();
    });
  fig.stop = () => {
    cancelAnimationFrame(playing);
    if (words.ariaBusy && fig.focused && spec.where) hover(spec.where(fig.cursor)); // true again, now that it is at rest
    words.removeAttribute("aria-busy");
  };

  // Hands. A finger scrolls the page unless it takes hold of something.
  let [held, from] = [null, null];
  // A slide is scaled, and the canvas with it.
  const at = ({ clientX, clientY }, { left, top, width } = canvas.getBoundingClientRect(), scale = canvas.clientWidth / width) =>
    ({ x: (clientX - left) * scale, y: (clientY - top) * scale });
  function hover(point) {
    note.textContent = (fig.bet !== null && spec.hover?.(point)) || "";
    fig.redraw();
  }
  const grab = (point) => (fig.bet === null ? null : (spec.grab?.(point) ?? null));
  canvas.addEventListener("touchstart", (event) => grab(at(event.touches[0])) !== null && event.preventDefault(), { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    fig.focused = false;
    from = at(event);
    held = grab(from);
    if (held === null) return;
    canvas.setPointerCapture(event.pointerId);
    hover(null); // what a note says of the place may soon be false
  });
  canvas.addEventListener("pointermove", (event) => {
    const point = at(event);
    if (from && Math.hypot(point.x - from.x, point.y - from.y) > 5) from.moved = true;
    if (held !== null && from?.moved) spec.pull(held, point);
    else if (held === null) hover(point);
    canvas.style.cursor = grab(point) !== null ? "grab" : "";
  });
  canvas.addEventListener("pointerup", (event) => {
    if (from && !from.moved && fig.bet !== null) spec.tap?.(at(event), held);
    from = held = null;
  });
  canvas.addEventListener("pointercancel", () => (from = held = null));
  canvas.addEventListener("pointerleave", () => held === null && hover(null));
  const walk = (by) => (shift) => {
    const to = fig.cursor + by();
    if (to >= 0 && to < spec.count()) fig.cursor = shift && spec.nudge ? spec.nudge(fig.cursor, to) : to;
  };
  const arrows = { ArrowLeft: walk(() => -1), ArrowRight: walk(() => 1) };
  if (spec.across) Object.assign(arrows, { ArrowUp: walk(() => -spec.across()), ArrowDown: walk(() => spec.across()) });
  canvas.addEventListener("keydown", (event) => {
    const act = { ...arrows, ...spec.press }[event.key === " " ? "Space" : event.key];
    if (event.key === "z" && (event.ctrlKey || event.metaKey)) return undo(event.preventDefault());
    if (!act || fig.bet === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    fig.focused = true;
    act(event.shiftKey);
    if (spec.where) hover(spec.where(fig.cursor));
    else fig.redraw();
  });
  canvas.addEventListener("blur", () => {
    fig.focused = false;
    fig.redraw();
  });

  const dark = matchMedia("(prefers-color-scheme: dark)");
  function dye() {
    const { theme } = document.body.dataset;
    box.classList.toggle("live-dark", theme === "dark" || (theme !== "light" && dark.matches));
    fig.redraw();
  }

  fig.start = () => {
    fig.change();
    dye();
    askForBet();
    first = here = spec.state();
    set(fig.button("Undo", undo, back), { value: "undo", "aria-disabled": true });
    fig.button("Reset", reset, back);
    openLink();
    addEventListener("hashchange", openLink);
    let wide = 0;
    new ResizeObserver(() => {
      if (wide !== canvas.clientWidth) words.style.minHeight = ""; // lines break elsewhere
      wide = canvas.clientWidth;
      fig.redraw();
    }).observe(canvas);
    new MutationObserver(dye).observe(document.body, { attributeFilter: ["data-theme"] });
    dark.addEventListener("change", dye);
  };
  return fig;
};

// Words in the middle of the height; with paper, on whatever is behind them.
live.write = (pen, text, x, y, ink, align = "center", paper = null) => {
  Object.assign(pen, { textAlign: align, textBaseline: "middle", lineWidth: 4, lineJoin: "round", strokeStyle: paper, fillStyle: ink });
  if (paper) pen.strokeText(text, x, y);
  pen.fillText(text, x, y);
};
live.fill = (pen, ink, ...box) => {
  pen.fillStyle = ink;
  pen.fillRect(...box);
};
live.shape = (pen, ink, trace) => {
  pen.fillStyle = ink;
  pen.beginPath();
  trace();
  pen.fill();
};
live.stroke = (pen, points, ink, width, dash = []) => {
  pen.strokeStyle = ink;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  points.forEach(([x, y]) => pen.lineTo(x, y));
  pen.stroke();
  pen.setLineDash([]);
};
// Something to take hold of: across, or upwards.
live.handle = (pen, x, y, inks, ink, upward = false) => {
  const [width, height] = upward ? [30, 12] : [14, 18];
  live.shape(pen, ink, () => pen.roundRect(x - width / 2, y - height / 2, width, height, 4));
  for (const shift of [-4, 0, 4])
    live.fill(pen, inks.paper, ...(upward ? [x + 1.5 * shift - 1, y - 3, 2, 6] : [x - 3, y + shift - 1, 6, 1.5]));
};
live.dot = (pen, x, y, radius, ink) => live.shape(pen, ink, () => pen.arc(x, y, radius, 0, 2 * Math.PI));
live.title = (pen, words, x, { top }, inks, align = "left") => live.write(pen, words, x, top - 12, inks.ink, align, inks.paper);
// A panel {top, height} from x to the right edge: two lines, a title, and marks [[y, words], ...] at its left.
live.frame = (pen, x, panel, right, inks, title, marks) => {
  for (const [y, words] of marks) live.write(pen, words, x - 6, y, inks.soft, "right");
  for (const y of [panel.top, panel.top + panel.height]) live.stroke(pen, [[x, y], [right, y]], inks.line, 1);
  live.title(pen, title, x, panel, inks);
};
live.faint = (pen, alpha, draw) => {
  pen.globalAlpha = alpha;
  draw();
  pen.globalAlpha = 1;
};
// The numbers of steps, 1 and every so many, each at [x, y] = at(step); the word stands at(0).
live.numbers = (pen, every, last, at, inks, align) => {
  live.write(pen, "step", ...at(0), inks.soft, "right");
  for (let step = 1; step <= last; step += 1) if (step === 1 || step % every === 0) live.write(pen, step, ...at(step), inks.soft, align);
};
// Bars of heights from 0 to 1 in a panel, the first at place(1).
live.bars = (pen, heights, place, width, { top, height }, ink) =>
  heights.forEach((share, i) => live.fill(pen, ink, place(i + 1) - width / 2, top + (1 - share) * height, width, share * height));
// An arrow from a point, so far along x and along y, of which one is 0.
live.arrow = (pen, x, y, [along, down], ink) => {
  const length = Math.abs(along + down);
  const [i, j] = [Math.sign(along), Math.sign(down)];
  const head = Math.min(9, length);
  live.stroke(pen, [[x, y], [x + i * (length - head), y + j * (length - head)]], ink, 3.5);
  const corner = ([back, aside]) => pen.lineTo(x + along - i * back + j * aside, y + down - j * back + i * aside);
  live.shape(pen, ink, () => [[0, 0], [head, 7], [head, -7]].forEach(corner));
};
live.ring = (pen, ink, x, y, w, h, width = 2, dash = []) =>
  live.stroke(pen, [[x, y], [x + w, y], [x + w, y + h], [x, y + h], [x, y], [x + w, y]], ink, width, dash);
// Which of some positions is nearest to x, if it is within reach: its index, or null.
live.nearest = (positions, x, reach) => {
  const away = positions.map((position) => Math.abs(position - x));
  const least = Math.min(...away);
  return least < reach ? away.indexOf(least) : null;
};
live.clamp = (value, least, greatest) => Math.max(least, Math.min(greatest, value));
// An axis of probabilities by their logit, as training moves them: x of p, and many p from end to end.
live.logits = ([from, to], left, right) => {
  const share = (p) => (Math.log(p / (1 - p)) - from) / (to - from);
  const x = (p) => left + live.clamp(share(p), 0, 1) * (right - left);
  return { x, all: Array.from({ length: 401 }, (_, i) => live.sigmoid(from + ((to - from) * i) / 400)) };
};
live.percent = (fraction) => `${Math.round(100 * fraction)}\u00a0%`;
live.number = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
