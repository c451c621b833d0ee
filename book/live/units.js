// Lesson 01: two pulls on lambda_1, ACT's first halting value (equation 7), in a network of two steps.
const [LEFT, PULLS] = [46, { top: 40, height: 190 }];
const KNOWS = 4; // the logit that step 2 answers if it knows; step 1 answers 0, and 1 is true
const ENOUGH = 0.99; // from here on step 1 counts alone
let [first, tau, know] = [0.73, 0.5, true]; // first: lambda_1
let axis = null;
const set = (value) => fig.change(() => (first = live.clamp(Math.round(1000 * value) / 1000, 0.02, 0.998)));

// How hard the price pulls lambda_1 up, and the answer pulls it down.
function pulls(first) {
  if (first >= ENOUGH) return { up: 0, down: 0 };
  const later = know ? KNOWS : 0;
  return { up: tau, down: later * live.sigmoid(-later * (1 - first)) };
}
const think = () => ({ first, tau, know, ...pulls(first) });

const two = (number) => number.toFixed(2);
function say({ first, up, down }) {
  if (first >= ENOUGH) return "Step 1 counts alone, so there is no step 2, and {limit:nothing pulls}: whatever step 2 knows, or could learn, λ₁ stays.";
  const net = Math.abs(up - down) < 0.005 ? "They balance" : `So λ₁ moves ${up > down ? "up, towards one step" : "down, towards step 2"}`;
  return `The price pulls λ₁ up with {act:${two(up)}}. The answer of step 2 pulls it down with {answer:${two(down)}}. ${net}.`;
}

const height = (pull) => PULLS.top + (1 - pull / 2.2) * PULLS.height;
function draw(pen, width, inks) {
  const { first, up, down } = fig.seen;
  const right = width - 4;
  const [here, bottom] = [(axis = live.logits([-4, 7], LEFT, right)).x(first), height(0)];
  const end = axis.x(ENOUGH);
  live.fill(pen, fig.lit === "limit" ? inks.soft : inks.line, end, PULLS.top, right - end, PULLS.height);
  for (const [y, words] of [[20, "one step:"], [40, "nothing"], [58, "pulls"]]) live.write(pen, words, (end + right) / 2, PULLS.top + y, inks.ink);
  live.frame(pen, LEFT, PULLS, right, inks, "how hard each pulls on λ₁", [0, 1, 2].map((pull) => [height(pull), pull]));
  if (fig.bet !== null)
    for (const [who, part, ink] of [["up", "act", inks.second], ["down", "answer", inks.answer]])
      live.stroke(pen, axis.all.map((first) => [axis.x(first), height(pulls(first)[who])]), ink, fig.lit === part ? 6 : 3);
  for (const tick of [0.05, 0.5, 0.9, 0.99]) live.write(pen, tick, axis.x(tick), bottom + 42, inks.soft);
  live.stroke(pen, [[here, PULLS.top], [here, bottom + 18]], inks.ink, 2, [3, 4]);
  for (const [pull, ink, words] of [[up, inks.second, "price"], [-down, inks.answer, "answer"]]) {
    if (pull === 0) continue;
    const y = height(Math.abs(pull));
    live.arrow(pen, here, y, [60 * pull, 0], ink);
    live.write(pen, words, here + 60 * pull + (pull > 0 ? 6 : -6), y, inks.ink, pull > 0 ? "left" : "right", inks.paper);
  }
  live.handle(pen, here, bottom + 18, inks, inks.ink, true);
  live.write(pen, `λ₁ = ${Number(first.toFixed(3))}`, ...(first < 0.9 ? [here + 22, bottom + 18, inks.ink, "left"] : [here - 22, bottom + 18, inks.ink, "right"]));
  if (fig.focused) live.ring(pen, inks.ink, here - 18, bottom + 8, 36, 20);
}

const logit = (p) => Math.log(p / (1 - p));
const nudge = (sign) => (shift) => set(live.sigmoid(logit(first) + sign * (shift ? 0.5 : 0.1)));
const grab = ({ x, y }) => (y > height(0) && Math.abs(x - axis.x(first)) < 24 ? {} : null);
const pull = (_, { x }) => set(live.sigmoid(-4 + (11 * (x - LEFT)) / (axis.x(0.9999) - LEFT)));
const tap = (point) => point.y > PULLS.top && pull(null, point);
function letGo() {
  const path = [first];
  for (let i = 0; i < 300; i++) {
    const { up, down } = pulls(path[i]);
    path.push(live.clamp(path[i] + 0.02 * (up - down), 0.02, 0.998));
  }
  fig.follow(path, 12, (value) => (first = value));
}

const fig = live.figure("units", {
  ask: "Step 1 knows nothing, step 2 knows the answer, and each step has a price. Now λ₁ stands at 0.73, and we let go. Where does it come to rest?",
  choices: {
    low: ["Near 0: step 2 alone counts", "The further λ₁ falls, the less the answer gains; the price pulls on."],
    middle: ["Near 0.5: half and half", "There the answer pulls as hard as the price."],
    high: ["At 0.99: one step is enough", "The answer pulls it down; from above 0.99 it could not."],
  },
  wins: "middle",
  truth: "The pulls balance at 0.51. But if step 2 knows nothing yet, only the price pulls: try it.",
  task: "make it take one step for ever, though step 2 knows the answer.",
  found: ({ first, know }) => (know && first >= ENOUGH ? "trap" : null),
  form: /^(\d+)\.([kn])\.(\d+)$/,
  state: () => `${Math.round(1000 * first)}.${know ? "k" : "n"}.${Math.round(100 * tau)}`,
  restore(value, knows, cost) {
    [first, know, tau] = [live.clamp(value / 1000, 0.02, 0.998), knows === "k", live.clamp(cost / 100, 0, 2)];
    later.show(know ? "on" : null);
    price.show(tau);
  },
  height: () => height(0) + 54,
  count: () => 1,
  press: { ArrowUp: nudge(1), ArrowDown: nudge(-1), ArrowRight: nudge(1), ArrowLeft: nudge(-1) },
  opened: letGo, verb: "Let go", think, say, draw, grab, pull, tap,
});
const later = fig.choose("", { on: "Step 2 knows the answer" }, "on", (chosen) => fig.change(() => (know = chosen !== null)), true);
const price = fig.slider("Price τ", [0, 2, 0.05], tau, two, (value) => (tau = value));
fig.start();
