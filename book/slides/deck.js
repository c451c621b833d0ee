// Next, back, and the speaker's window; the slide's number stands in the address.
"use strict";
const slides = [...document.querySelectorAll("section")];
const stage = document.getElementById("stage");
const started = Date.now();
let at = 0;
let speaker = null;
const later = () => slides[at].querySelectorAll(".later:not(.seen)");

function show(number) {
  at = Math.max(0, Math.min(slides.length - 1, number));
  slides.forEach((slide, i) => slide.classList.toggle("on", i === at));
  history.replaceState(null, "", `#${at + 1}`);
  document.getElementById("number").textContent = `${at + 1} / ${slides.length}`;
  document.getElementById("notes").innerHTML = slides[at].querySelector("aside").innerHTML;
  tell();
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
  s: openSpeaker, f: () => document.documentElement.requestFullscreen(),
};

function pressed(event) {
  const action = KEYS[event.key];
  if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  action();
}

addEventListener("keydown", pressed);
addEventListener("resize", fit);
addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));
stage.addEventListener("click", event => (event.clientX > innerWidth / 3 ? next() : show(at - 1)));
addEventListener("load", () => MathJax.startup.promise.then(() => { // long formulas become smaller
  for (const formula of document.querySelectorAll("section > .points mjx-container[display]")) {
    const room = formula.parentElement.clientWidth / formula.scrollWidth;
    if (room < 1) formula.style.fontSize = `${0.98 * room * parseFloat(formula.style.fontSize)}%`;
  }
}));
setInterval(tell, 20000);
fit();
show(Number(location.hash.slice(1) || 1) - 1);
