// Next, back, an overview, and the speaker's window; the slide's number stands in the address.
"use strict";
const slides = [...document.querySelectorAll(".slide")];
const stage = document.getElementById("stage");
const started = Date.now();
let at = 0;
let speaker = null;
const later = () => slides[at].querySelectorAll(".later:not(.seen), .waits .headline:not(.seen)");

function show(number) {
  at = Math.max(0, Math.min(slides.length - 1, number));
  slides.forEach((slide, i) => slide.classList.toggle("on", i === at));
  history.replaceState(null, "", `#${at + 1}`);
  document.getElementById("number").textContent = `${at + 1} / ${slides.length}`;
  document.getElementById("notes").innerHTML = slides[at].querySelector("aside").innerHTML;
  slides[at].querySelectorAll(".live").forEach(enlarge);
  tell();
}
// A live figure as large as its slide allows: first what it draws, then the words beside it.
function enlarge(figure) {
  const canvas = figure.querySelector("canvas");
  if (!canvas) return; // its script comes later
  const fits = () => figure.scrollHeight <= figure.clientHeight;
  figure.style.fontSize = "10px";
  for (let zoom = 2; zoom > 0.7; zoom -= 0.1) {
    canvas.style.zoom = zoom;
    live[figure.id.slice("live-".length)].redraw();
    if (fits()) break;
  }
  for (let size = 24; size > 14; size -= 1) {
    figure.style.fontSize = `${size}px`;
    if (fits()) return;
  }
}
// Text becomes smaller until it fits its slide.
function reduce(text) {
  const end = (part) => part.getBoundingClientRect().bottom;
  for (let size = parseFloat(getComputedStyle(text).fontSize); size > 20 && end(text.lastElementChild) > end(text); size -= 1)
    text.style.fontSize = `${size}px`;
}

function next() {
  if (later().length) later().forEach(part => part.classList.add("seen"));
  else show(at + 1);
}

function fit() {
  const scale = Math.min(innerWidth / 1280, innerHeight / 720);
  const top = innerHeight > innerWidth ? 0 : (innerHeight - 720 * scale) / 2;
  stage.style.transform = `translate(${(innerWidth - 1280 * scale) / 2}px, ${top}px) scale(${scale})`;
}

function tell() {
  if (!speaker || speaker.closed) return;
  const minutes = Math.floor((Date.now() - started) / 60000);
  const after = slides[at + 1];
  speaker.document.body.innerHTML = `<p>${at + 1} / ${slides.length}, ${minutes} minutes</p>
    <h1>${slides[at].querySelector("h2").innerHTML}</h1>${slides[at].querySelector("aside").innerHTML}
    <hr><p>Next: ${after ? after.querySelector("h2").innerHTML : "the end"}</p>`;
}

function openSpeaker() {
  speaker = window.open("", "notes", "width=700,height=800");
  speaker.document.title = "Notes";
  const styles = document.querySelectorAll("style"); // MathJax's are among them
  speaker.document.head.innerHTML = "<style>body { font: 22px/1.5 sans-serif; margin: 1em 2em } h1 { font-size: 28px }</style>";
  styles.forEach(style => speaker.document.head.append(style.cloneNode(true)));
  speaker.addEventListener("keydown", pressed);
  tell();
}

const KEYS = {
  ArrowRight: next, ArrowDown: next, PageDown: next, " ": next, Enter: next,
  ArrowLeft: () => show(at - 1), ArrowUp: () => show(at - 1), PageUp: () => show(at - 1),
  Home: () => show(0), End: () => show(slides.length - 1),
  o: overview, s: openSpeaker, f: () => document.documentElement.requestFullscreen(),
};

// All slides, small; a click chooses one.
function overview() {
  document.body.classList.toggle("overview");
  slides[at].scrollIntoView({ block: "nearest" });
}
const isHeld = event => event.composedPath().some(part => part.classList?.contains("live")); // a figure, by the reader
function clicked(event) {
  const { clientX: x, clientY: y } = event;
  if (isHeld(event)) return;
  if (!document.body.classList.contains("overview")) return x > innerWidth / 3 ? next() : show(at - 1);
  const inside = ({ left, right, top, bottom }) => x > left && x < right && y > top && y < bottom;
  const chosen = slides.findIndex((slide) => inside(slide.getBoundingClientRect()));
  if (chosen < 0) return;
  overview();
  show(chosen);
}
// A finger that wipes to the side.
let touch = null;
function wiped(event) {
  const [end] = event.changedTouches;
  const [right, down] = [end.clientX - touch.clientX, end.clientY - touch.clientY];
  if (!isHeld(event) && Math.abs(right) > 50 && Math.abs(right) > 2 * Math.abs(down)) (right < 0 ? next() : show(at - 1));
}

function pressed(event) {
  const action = KEYS[event.key];
  if (!action || (isHeld(event) && !event.key.startsWith("Page")) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  action();
}

addEventListener("keydown", pressed);
addEventListener("resize", fit);
addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));
stage.addEventListener("click", clicked);
stage.addEventListener("touchstart", event => (touch = event.touches[0]), { passive: true });
stage.addEventListener("touchend", wiped);
addEventListener("load", () => MathJax.startup.promise.then(() => { // long formulas become smaller
  document.querySelectorAll(":is(.text, .bet) > .points").forEach(reduce);
  for (const formula of document.querySelectorAll(".slide > .points mjx-container[display]")) {
    const room = formula.parentElement.clientWidth / formula.scrollWidth;
    if (room < 1) formula.style.fontSize = `${0.98 * room * parseFloat(formula.style.fontSize)}%`;
  }
  slides[at].querySelectorAll(".live").forEach(enlarge);
}));
for (const figure of document.querySelectorAll(".live")) // more of it is shown once the bet is made
  new MutationObserver(() => enlarge(figure)).observe(figure, { attributeFilter: ["class"] });
setInterval(tell, 20000);
fit();
show(Number(location.hash.slice(1) || 1) - 1);
