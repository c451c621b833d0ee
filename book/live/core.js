"use strict";
// What the networks of lessons 03 (one place), 05 and 06 (a line), 07 (a maze) and 09 (digits) share: at every place
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
    else if (weights["from_h.weight"].shape.length > 2) place = (c, k, o) => (c * channels + k) * offsets + o; // LocalStep, MazeStep
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

  // Adds W[offset] times the state h of a place to the sums of another: four channels at a time, which is fastest.
  function add(sums, h, { channels, hear }, offset) {
    let w = offset * channels * channels;
    for (let c = 0; c < channels; c += 4) {
      let [a, b, d, e] = [0, 0, 0, 0];
      for (let k = 0; k < channels; k++, w += 4) {
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

  // x: [place][input] -> a function (step n, place) -> {h, answer, halt}, which thinks no more than it is asked for.
  // before: {x, h}, the input of the first step and the states before it, if they are others; {known, until}: another
  // thought, whose state of place i is the same at all steps before until[i], since no news that differs has come.
  live.thought = (network, near, x, { x: first = x, h: start, known, until } = {}) => {
    const { channels, base, fromX, heads, headsBias } = network;
    const [kept, z] = [[], []];
    const encode = (inputs) => base.map((sum, c) => inputs.reduce((all, value, k) => all + value * fromX[c * inputs.length + k], sum));
    const of = (n, i) => (known && n < until[i] ? known(n, i) : ((kept[n] ??= [])[i] ??= think(n, i)));
    function think(n, i) {
      const h = n === 1 ? encode(first[i]) : (z[i] ??= encode(x[i])).slice();
      for (const [offset, j] of near[i]) {
        const heard = n > 1 ? of(n - 1, j).h : start?.[j];
        if (heard) add(h, heard, network, offset);
      }
      let [answer, halt] = headsBias;
      for (let c = 0; c < channels; c++) {
        h[c] = Math.tanh(h[c]);
        answer += heads[c] * h[c];
        halt += heads[channels + c] * h[c];
      }
      return { h, answer, halt };
    }
    return of;
  };

  // What all places read after each of so many steps: [{answer: [place], halt: [place], h: [place][channel]}].
  live.think = (network, near, x, steps, before) => {
    const thought = live.thought(network, near, x, before);
    return Array.from({ length: steps }, (_, n) => {
      const places = x.map((_, i) => thought(n + 1, i));
      return Object.fromEntries(["answer", "halt", "h"].map((name) => [name, places.map((place) => place[name])]));
    });
  };

  live.sigmoid = (a) => 1 / (1 + Math.exp(-a));
})();
