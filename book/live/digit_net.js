// Lesson 04: strokes of a pen as 28 x 28 pixels, and the two networks that read them step by step.
const SIDE = 28;

// Digits as strokes, [x, y] in a box of 20 x 20.
live.digits = [
  [[[10, 0], [5, 2], [3, 7], [3, 13], [5, 18], [10, 20], [15, 18], [17, 13], [17, 7], [15, 2], [10, 0]]],
  [[[11, 0], [9, 20]]],
  [[[4, 5], [6, 1], [11, 0], [15, 3], [14, 8], [9, 13], [3, 19], [10, 18], [17, 19]]],
  [[[4, 2], [10, 0], [15, 3], [14, 7], [9, 9], [15, 11], [16, 16], [11, 20], [4, 18]]],
  [[[6, 0], [4, 10], [16, 10]], [[14, 2], [13, 20]]],
  [[[15, 0], [6, 0], [5, 8], [11, 8], [16, 12], [14, 18], [8, 20], [3, 18]]],
  [[[13, 0], [8, 4], [4, 11], [4, 17], [9, 20], [14, 18], [15, 13], [10, 11], [5, 14]]],
  [[[2, 3], [9, 2], [17, 2], [15, 6], [11, 13], [9, 20]]],
  [[[10, 10], [5, 6], [6, 1], [11, 0], [15, 3], [13, 7], [10, 10], [5, 14], [5, 18], [10, 20], [15, 17], [14, 13], [10, 10]]],
  [[[15, 4], [10, 1], [5, 4], [6, 9], [11, 10], [15, 5], [14, 12], [12, 20]]],
];

// Points of strokes, turned anticlockwise about the middle of the image.
live.turned = (strokes, degrees) => {
  const [cos, sin, middle] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180), SIDE / 2];
  const turn = ([x, y]) => [middle + cos * (x - middle) + sin * (y - middle), middle - sin * (x - middle) + cos * (y - middle)];
  return strokes.map((stroke) => stroke.map(turn));
};

function distance([x, y], [[ax, ay], [bx, by]]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = live.clamp(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0, 1);
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}
// Strokes [[x, y], ...] in pixels -> the ink in each pixel, row by row, from 0 to 1: all up to a distance of 1, none from 2.
live.pixels = (strokes) => {
  const parts = strokes.flatMap((stroke) => stroke.map((point, i) => [stroke[Math.max(0, i - 1)], point]));
  const ink = (point) => parts.reduce((most, part) => Math.max(most, live.clamp(2 - distance(point, part), 0, 1)), 0);
  return Array.from({ length: SIDE ** 2 }, (_, i) => ink([(i % SIDE) + 0.5, Math.floor(i / SIDE) + 0.5]));
};

// The windows of an image [place][channel] under a kernel, each [channel][row][column] as PyTorch's weights are.
function windows(x, channels, side, kernel, stride = 1, padding = 0) {
  const n = (side + 2 * padding - kernel) / stride + 1;
  const seen = new Float64Array(n * n * channels * kernel ** 2);
  let to = 0;
  for (let place = 0; place < n * n; place++)
    for (let c = 0; c < channels; c++)
      for (let k = 0; k < kernel ** 2; k++, to++) {
        const row = Math.floor(place / n) * stride + Math.floor(k / kernel) - padding;
        const column = (place % n) * stride + (k % kernel) - padding;
        if (row >= 0 && row < side && column >= 0 && column < side) seen[to] = x[(row * side + column) * channels + c];
      }
  return seen;
}
const relu = (x) => x.map((value) => Math.max(0, value));
// Of each channel the largest of each 2 x 2 places, and at least 0.
function pooled(x, channels, side) {
  const most = new Float64Array(x.length / 4);
  x.forEach((value, i) => {
    const [place, c] = [Math.floor(i / channels), i % channels];
    const to = (Math.floor(place / side / 2) * (side / 2) + Math.floor((place % side) / 2)) * channels + c;
    most[to] = Math.max(most[to], value);
  });
  return most;
}

// Weights of either network -> pixels -> a step: (h) -> [h, ten answers and the halting logit]; h is null before the first.
live.reader = (weights) => ("cnn.0.weight" in weights ? cnnFirst(weights) : patches(weights));

function patches(weights) {
  const [fromX, fromH, heads] = ["from_x", "from_h", "heads"].map((name) => live.linear(weights, name));
  const channels = weights["from_h.bias"].shape[0];
  return (pixels) => {
    const z = fromX(windows(pixels, 1, SIDE, 4, 4));
    return (before) => {
      const h = before ?? z.map(() => 0);
      const heard = fromH(windows(h, channels, SIDE / 4, 3, 1, 1));
      const next = h.map((value, i) => value + Math.max(0, heard[i] + z[i]));
      const [mean, most] = [new Float64Array(channels), new Float64Array(channels).fill(-Infinity)];
      next.forEach((value, i) => {
        mean[i % channels] += (value * channels) / next.length;
        most[i % channels] = Math.max(most[i % channels], value);
      });
      return [next, heads(Float64Array.from([...mean, ...most]))];
    };
  };
}

function cnnFirst(weights) {
  const [first, second, last] = [0, 3, 8].map((i) => live.linear(weights, `cnn.${i}`));
  const [fromX, fromH, toH, heads] = ["from_x", "from_h", "to_h", "heads"].map((name) => live.linear(weights, name));
  return (pixels) => {
    const strokes = pooled(first(windows(pixels, 1, SIDE, 5)), 10, 24);
    const shapes = pooled(second(windows(strokes, 10, 12, 5)), 20, 8);
    const x = fromX(relu(last(shapes.map((_, i) => shapes[(i % 16) * 20 + Math.floor(i / 16)])))); // [channel][place]
    return (h) => {
      const heard = fromH(h ?? x.map(() => 0));
      const next = relu(toH(relu(x.map((value, i) => value + heard[i]))));
      return [next, heads(next)];
    };
  };
}

// What a network makes of pixels in so many steps: [{answer: [10], halt}].
live.reading = (network, pixels, steps) => {
  const step = network(pixels);
  let [h, out] = [null, null];
  return Array.from({ length: steps }, () => {
    [h, out] = step(h);
    return { answer: [...out.subarray(0, 10)], halt: out[10] };
  });
};
