"use strict";
const all = (selector, part = document) => [...part.querySelectorAll(selector)];

function make(tag, attributes, parent) {
  const part = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
  parent.append(part);
  return part;
}

// A figure opens at its full size. On a phone it stays so large that its letters have 9 pixels, and scrolls.
for (const picture of all("article img:not(a img)")) {
  const link = document.createElement("a");
  link.href = picture.src;
  picture.replaceWith(link);
  link.append(picture);
}
for (const picture of all(".cell_output img[width]")) picture.style.minWidth = `${0.65 * picture.width}px`;

// What scrolls is reached by keys, and fades where it goes on.
function mark(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  if (hidden > 1) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
  box.classList.toggle("more-left", hidden > 1 && box.scrollLeft > 1);
  box.classList.toggle("more-right", hidden > 1 && box.scrollLeft < hidden - 1);
}
const sizes = new ResizeObserver((boxes) => boxes.forEach(({ target }) => mark(target)));
addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  for (const box of all('article :is(pre, mjx-container[display="true"], .cell_output, .text_html, .table-wrapper)')) {
    sizes.observe(box);
    box.addEventListener("scroll", () => mark(box), { passive: true });
  }
});

// A page that is shown at any address has a base, to which a link within the page must not lead.
if (document.querySelector("base")) for (const link of all('a[href^="#"]')) link.href = location.pathname + link.hash;

// A bet: until it is made, what lies between it and the end of its answer is closed, but for other bets and live figures.
const STAYS = ".bet, .bet-end, .live";
const isBefore = (a, b) => a.compareDocumentPosition(b) === Node.DOCUMENT_POSITION_FOLLOWING;
const bets = all(".bet").map((box) => {
  const name = `Bet ${box.dataset.bet}`;
  const end = document.querySelector(`.bet-end[data-bet="${box.dataset.bet}"]`);
  const closes = (part) => {
    const whole = part.matches("h2, h3") ? part.parentElement : part; // a heading stays where its section is not closed
    return isBefore(box, part) && isBefore(part, end) && !part.closest(STAYS) && !whole.querySelector(STAYS);
  };
  box.id = name.toLowerCase().replace(" ", "-");
  const tools = make("div", { class: "bet-tools", role: "group", "aria-label": name }, box);
  const note = make("p", { "aria-live": "polite" }, box);
  return { box, name, end, tools, note, between: all("article *").filter(closes), made: keep(box.id) };
});

// What the page keeps of a bet; without storage, as in some pages opened as files, nothing.
function keep(id, made) {
  const key = `${id} of ${location.pathname.split("/").pop()}`;
  try {
    if (made === null) localStorage.removeItem(key);
    else if (made !== undefined) localStorage.setItem(key, made);
    return localStorage.getItem(key);
  } catch {
    return made ?? null;
  }
}

function place(bet, made) {
  bet.made = made;
  keep(bet.box.id, made);
  show();
  bet.tools.querySelector("button, input").focus();
}

function button(words, made, bet) {
  make("button", { type: "button" }, bet.tools).textContent = words;
  bet.tools.lastChild.addEventListener("click", () => place(bet, made));
}

function ask(bet) {
  const choices = bet.box.dataset.choices.split("|").filter(Boolean);
  for (const words of choices) button(words, words, bet);
  if (!choices.length) {
    const form = make("form", {}, bet.tools);
    const field = make("input", { "aria-label": `Your answer to ${bet.name}`, placeholder: "your answer", autocomplete: "off" }, form);
    make("button", {}, form).textContent = "Bet";
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      place(bet, field.value.trim());
    });
  }
  button("Just show me", "", bet);
}

function show() {
  const waiting = bets.filter(({ made }) => made === null);
  for (const part of all(".closed")) part.classList.remove("closed");
  for (const { between } of waiting) for (const part of between) part.classList.add("closed");
  for (const bet of bets) {
    const open = bet.made !== null;
    const other = waiting.find(({ box, end }) => isBefore(box, bet.end) && isBefore(bet.end, end));
    bet.tools.replaceChildren();
    bet.end.replaceChildren();
    if (open) button("Bet again", null, bet);
    else ask(bet);
    if (!open) make("a", { href: `#${bet.box.id}` }, bet.end).textContent = `What stands here opens with ${bet.name}.`;
    bet.note.textContent = !open ? "" : `${bet.made && `You bet: ${bet.made}. `}Its answer ${other ? `opens with ${other.name}` : "stands below"}.`;
  }
}

// A link to what is closed leads to its bet.
function turn() {
  const closed = document.getElementById(location.hash.slice(1))?.closest(".closed");
  bets.find(({ made, between }) => made === null && between.includes(closed))?.box.scrollIntoView();
}
show();
addEventListener("load", turn);
addEventListener("hashchange", turn);
