// Layers; and what the networks of 03 (one place), 05, 06, 11 (a line), 07 (a maze) and 09 (digits) share: at every place
//     h' = tanh(z + sum over neighbours W[offset] h),
// where z is computed from the input once, and two heads, if there are any, read an answer and a halting logit from h'.
window.live = { weights: {} };

// The numbers of a weight, which are stored as float16: a sign, five bits of exponent, ten of fraction.
live.floats = ({ float16 }) => {
  const bytes = atob(float16);
  return Float64Array.from({ length: bytes.length / 2 }, (_, i) => {
    const bits = bytes.charCodeAt(2 * i) + 256 * bytes.charCodeAt(2 * i + 1);
    const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
    return sign * 2 ** (Math.max(1, exponent) - 25) * (fraction + (exponent ? 1024 : 0));
  });
};

// A matrix for `add`, of whose numbers at(output, input) is one: [output / 4, input, output % 4], filled up with zeros.
function matrix(outputs, inputs, at) {
  const turned = [];
  for (let o = 0; o < outputs; o += 4)
    for (let i = 0; i < inputs; i++) for (let k = o; k < o + 4; k++) turned.push(k < outputs ? at(k, i) : 0);
  return { outputs, inputs, turned: Float64Array.from(turned) };
}

// Adds a matrix times x, from an index on, to sums, from an index on: four at a time, which is fastest.
function add(sums, to, { outputs, inputs, turned }, x, from) {
  const end = from + inputs;
  for (let o = to, w = 0; o < to + outputs; o += 4) {
    let a = 0, b = 0, d = 0, e = 0; // no pattern here, which would cost a third of the speed
    for (let i = from; i < end; i++, w += 4) {
      const value = x[i];
      a += turned[w] * value;
      b += turned[w + 1] * value;
      d += turned[w + 2] * value;
      e += turned[w + 3] * value;
    }
    sums[o] += a;
    sums[o + 1] += b;
    sums[o + 2] += d;
    sums[o + 3] += e;
  }
}

// A layer: x [rows * inputs] -> [rows * outputs], one row after the other.
const layer = (live.layer = (weight, bias) => {
  const [outputs, inputs] = [bias.length, weight.length / bias.length];
  const turned = matrix(outputs, inputs, (o, i) => weight[o * inputs + i]);
  return (x) => {
    const out = new Float64Array((x.length / inputs) * outputs + 3); // 3: the last four may end behind it
    for (let from = 0, to = 0; from < x.length; from += inputs, to += outputs) {
      out.set(bias, to);
      add(out, to, turned, x, from);
    }
    return out.subarray(0, -3);
  };
});
live.linear = (weights, name) => layer(...["weight", "bias"].map((part) => live.floats(weights[`${name}.${part}`] ?? weights[`${name}_${part}`])));

// weights: {name: {shape, float16}} of a LocalStep, a MazeStep or an RNNStep, as live_networks.py writes them.
live.read = (weights) => {
  const isCell = "cell.from_h.weight" in weights;
  const of = (name) => live.floats(weights[isCell ? `cell.${name}` : name]);
  const [bias, fromH] = [of("from_h.bias"), of("from_h.weight")];
  const channels = bias.length;
  const offsets = fromH.length / channels ** 2;
  // Where the weight stands from channel k of the neighbour at this offset to channel c.
  const place = (c, k, o) => (isCell ? k * channels + c : (c * channels + k) * offsets + o);
  const hear = Array.from({ length: offsets }, (_, o) => matrix(channels, channels, (c, k) => fromH[place(c, k, o)]));
  const encode = layer(of("from_x.weight"), of("from_x.bias").map((b, c) => b + bias[c]));
  return { hear, encode, heads: "heads.weight" in weights ? live.linear(weights, "heads") : () => [] };
};

// A line of n places: near[place] = [[offset, place], ...], itself in the middle.
live.row = (n) =>
  Array.from({ length: n }, (_, i) => [-1, 0, 1].map((d) => [d + 1, i + d]).filter(([, j]) => j >= 0 && j < n));

// x: [place][input] -> a function (step n, place) -> {h, answer, halt}, which thinks no more than it is asked for.
// {known, until}: another thought, whose state of place i is the same at all steps before until[i], since no news that
// differs has come.
live.thought = (network, near, x, { known, until } = {}) => {
  const { hear, encode, heads } = network;
  const [kept, z] = [[], []];
  const of = (n, i) => (known && n < until[i] ? known(n, i) : ((kept[n] ??= [])[i] ??= think(n, i)));
  function think(n, i) {
    const sums = (z[i] ??= encode(new Float64Array(x[i]))).slice();
    for (const [offset, j] of near[i]) {
      if (n > 1) add(sums, 0, hear[offset], of(n - 1, j).h, 0);
    }
    for (let c = 0; c < sums.length; c++) sums[c] = Math.tanh(sums[c]);
    const read = heads(sums);
    return { h: sums, answer: read[0], halt: read[1] };
  }
  return of;
};

// A thought of all places: step n -> what they read.
live.together = (network, near, x) => {
  const thought = live.thought(network, near, x);
  return (n) => near.map((_, place) => thought(n, place));
};

// The first step at which no place votes below a level, or cap + 1 if there is none up to cap.
live.haltsAt = (together, level, cap) => {
  let n = 1;
  while (n <= cap && together(n).some((place) => place.halt < level)) n += 1;
  return n;
};

live.sigmoid = (a) => 1 / (1 + Math.exp(-a));
live.total = (values) => values.reduce((a, b) => a + b, 0);
live.largest = (values) => values.indexOf(Math.max(...values));
live.shares = (values, all = live.total(values)) => values.map((value) => value / all);
live.softmax = (logits, most = Math.max(...logits)) => live.shares(logits.map((logit) => Math.exp(logit - most)));

// Halting probabilities lambda_n -> the halting distribution p_n, whose last step takes what remains.
live.halting = (lambdas) => {
  let survival = 1;
  return lambdas.map((lambda, i) => {
    const p = i === lambdas.length - 1 ? survival : lambda * survival;
    survival *= 1 - lambda;
    return p;
  });
};
live.meanSteps = (p) => live.total(p.map((one, i) => (i + 1) * one));
live.prior = (rate, steps) => live.shares(Array.from({ length: steps }, (_, i) => rate * (1 - rate) ** i)); // rate: lambda_p
