"use strict";
const all = (selector, part = document) => [...part.querySelectorAll(selector)];

function make(tag, attributes, parent) {
  const part = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
  parent.append(part);
  return part;
}

// A figure opens at its full size. On a phone a wide one stays so large that its letters have 9 pixels, and scrolls.
for (const picture of all("article img:not(a img)")) {
  const link = document.createElement("a");
  link.href = picture.src;
  picture.replaceWith(link);
  link.append(picture);
}
for (const picture of all(".cell_output img[width]"))
  if (picture.getAttribute("width") > 730) picture.style.minWidth = `${0.65 * picture.getAttribute("width")}px`;

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
  for (const box of all("article :is(pre, .math-wrapper, .cell_output, .text_html, .table-wrapper, .image-reference)")) {
    sizes.observe(box);
    box.addEventListener("scroll", () => mark(box), { passive: true });
  }
});

// A page that is shown at any address has a base, to which a link within the page must not lead.
if (document.querySelector("base")) for (const link of all('a[href^="#"]')) link.href = location.pathname + link.hash;

// A bet: what lies between it and the end of its answer is closed until it is made. Headings and live figures stay.
const STAYS = ".bet, .bet-end, .live, h2, h3";
const isBefore = (a, b) => a.compareDocumentPosition(b) === Node.DOCUMENT_POSITION_FOLLOWING;
const bets = all(".bet").map((box) => {
  const name = `Bet ${box.dataset.bet}`;
  const key = `${name} of ${location.pathname.split("/").pop()}`;
  const end = document.querySelector(`.bet-end[data-bet="${box.dataset.bet}"]`);
  while (end.nextElementSibling?.matches(".cell")) end.nextElementSibling.after(end); // figures belong to their answer
  const closes = (part) => isBefore(box, part) && isBefore(part, end) && !part.closest(STAYS) && !part.querySelector(STAYS);
  const tools = make("form", { "aria-label": name }, box);
  const note = make("p", { "aria-live": "polite" }, box);
  return { box, name, key, end, tools, note, between: all("article *").filter(closes), made: localStorage.getItem(key) };
});

function button(words, { tools }, made = words) {
  make("button", { value: made }, tools).textContent = words;
}

function ask(bet) {
  const choices = bet.box.dataset.choices.split("|").filter(Boolean);
  for (const words of choices) button(words, bet);
  if (!choices.length) {
    const field = make("input", { "aria-label": `Your answer to ${bet.name}`, placeholder: "your answer" }, bet.tools);
    button("Bet", bet, "");
    field.oninput = () => (field.nextSibling.value = field.value.trim());
  }
  button("Just show me", bet, "");
}

function show() {
  const waiting = bets.filter(({ made }) => made === null);
  for (const part of all(".closed")) part.classList.remove("closed");
  for (const { between } of waiting) for (const part of between) part.classList.add("closed");
  for (const bet of bets) {
    const other = waiting.find(({ box, end }) => isBefore(box, bet.end) && isBefore(bet.end, end));
    const where = other ? `opens with ${other.name}` : "stands below";
    bet.tools.replaceChildren();
    bet.note.textContent = bet.made === null ? "" : `${bet.made && `You bet: ${bet.made}. `}Its answer ${where}.`;
    if (bet.made === null) ask(bet);
    else button("Bet again", bet);
  }
}

for (const bet of bets)
  bet.tools.onsubmit = ({ submitter }) => {
    bet.made = bet.made === null ? submitter.value : null;
    if (bet.made === null) localStorage.removeItem(bet.key);
    else localStorage.setItem(bet.key, bet.made);
    show();
    bet.tools.firstChild.focus();
    return false; // nothing is sent
  };
show();
