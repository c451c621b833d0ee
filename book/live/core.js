"use strict";
// What the networks of lessons 03 (one place), 05 (a line) and 09 (digits) share: at every place
//     h' = tanh(z + sum over neighbours W[offset] h),
// where z is computed from the input once, and two heads read an answer and a halting logit from h'. Numbers are doubles.
window.live = { weights: {} };
(() => {
  function numbers(weight) {
    const bytes = Uint8Array.from(atob(weight.float32), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
  }

  // weights: {name: {shape, float32}} of a LocalStep, an RNNStep or a ColumnStep, as live_networks.py writes them.
  live.read = (weights) => {
    const isCell = "cell.from_h.weight" in weights;
    const of = (name) => numbers(weights[isCell && !name.startsWith("heads") ? `cell.${name}` : name]);
    const bias = of("from_h.bias");
    const base = of("from_x.bias").map((b, c) => b + bias[c]);
    const fromH = of("from_h.weight");
    const channels = bias.length;
    const offsets = fromH.length / channels ** 2;
    // Where the weight stands from channel k of the neighbour at this offset to channel c.
    let place = (c, k, o) => (c * offsets + o) * channels + k; // ColumnStep: [c, o and k]
    if (isCell) place = (c, k) => k * channels + c; // RNNStep: [k, c]
    else if (weights["from_h.weight"].shape.length === 3) place = (c, k, o) => (c * channels + k) * offsets + o; // LocalStep
    const hear = new Float64Array(fromH.length); // [offset, channel / 4, from channel, channel % 4]
    let at = 0;
    for (let o = 0; o < offsets; o++)
      for (let group = 0; group < channels; group += 4)
        for (let k = 0; k < channels; k++) for (let c = group; c < group + 4; c++) hear[at++] = fromH[place(c, k, o)];
    return { channels, hear, base, fromX: of("from_x.weight"), heads: of("heads.weight"), headsBias: of("heads.bias") };
  };

  // A line of n places: near[place] = [[offset, place], ...], itself in the middle.
  live.row = (n) =>
    Array.from({ length: n }, (_, i) => [-1, 0, 1].map((d) => [d + 1, i + d]).filter(([, j]) => j >= 0 && j < n));

  // Adds W[offset] times the state of one place to the sums of another: four channels at a time, which is fastest.
  function add(sums, to, h, from, { channels, hear }, offset) {
    let w = offset * channels * channels;
    for (let c = to; c < to + channels; c += 4) {
      let [a, b, d, e] = [0, 0, 0, 0];
      for (let k = from; k < from + channels; k++, w += 4) {
        a += hear[w] * h[k];
        b += hear[w + 1] * h[k];
        d += hear[w + 2] * h[k];
        e += hear[w + 3] * h[k];
      }
      sums[c] += a;
      sums[c + 1] += b;
      sums[c + 2] += d;
      sums[c + 3] += e;
    }
  }

  // x: [place][input] -> after each of n_steps what all places read, and the state, [{answer: [place], halt: [place], h}].
  // before: {x: the input of the first step, h: the state}, if the first step is another.
  live.think = (network, near, x, steps, before = {}) => {
    const { channels, base, fromX, heads, headsBias } = network;
    const heardOfX = (values, c) => values.reduce((sum, value, k) => sum + value * fromX[c * values.length + k], base[c]);
    const encode = (inputs) => Float64Array.from(inputs.flatMap((values) => Array.from(base, (_, c) => heardOfX(values, c))));
    const z = encode(x);
    const first = before.x ? encode(before.x) : z;
    let h = before.h ?? new Float64Array(z.length);
    return Array.from({ length: steps }, (_, n) => {
      const next = (n ? z : first).slice();
      const [answer, halt] = [new Float64Array(x.length), new Float64Array(x.length)];
      near.forEach((heard, i) => {
        for (const [offset, j] of heard) add(next, i * channels, h, j * channels, network, offset);
        answer[i] = headsBias[0];
        halt[i] = headsBias[1];
        for (let c = 0; c < channels; c++) {
          const state = Math.tanh(next[i * channels + c]);
          next[i * channels + c] = state;
          answer[i] += heads[c] * state;
          halt[i] += heads[channels + c] * state;
        }
      });
      h = next;
      return { answer, halt, h };
    });
  };

  live.sigmoid = (a) => 1 / (1 + Math.exp(-a));
})();
