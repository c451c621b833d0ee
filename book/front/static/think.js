"use strict";
// Lesson 07's network in plain JavaScript: mazes, distances, and the thought itself. Nothing here draws.
//
// A maze is {side, open, star}: open[place] is 1 or 0, star[place] is 0 (none), 1 (blue) or 2 (pink); place = row * side
// + column. Numbers are doubles, as in PyTorch's float64; the weights are float32.
window.ponder = (() => {
  const FORMAT = 1; // of network.js, as book/front/export.py writes it

  function numbers(weight) {
    const bytes = Uint8Array.from(atob(weight.float32), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Float64Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
  }

  // The weights in the order in which they are used: hear[offset][channel / 4][from channel][channel % 4].
  function read(exported) {
    if (exported.format !== FORMAT) throw new Error(`network.js must have format ${FORMAT}; got ${exported.format}`);
    const of = (name) => numbers(exported.weights[name]);
    const channels = exported.weights["from_x.bias"].shape[0];
    const fromH = of("from_h.weight"); // [channel, from channel, 3, 3]
    const hear = new Float64Array(fromH.length);
    let at = 0;
    for (let offset = 0; offset < 9; offset++)
      for (let group = 0; group < channels; group += 4)
        for (let from = 0; from < channels; from++)
          for (let one = group; one < group + 4; one++) hear[at++] = fromH[(one * channels + from) * 9 + offset];
    const bias = of("from_h.bias");
    const fromX = of("from_x.weight"); // [channel, open or blue or pink]
    const base = of("from_x.bias").map((b, c) => b + bias[c] + fromX[3 * c]); // every place that thinks is open
    return { channels, hear, fromX, base, heads: of("heads.weight"), headsBias: of("heads.bias") };
  }

  // The places around one, itself among them: [offset 0..8, place] of those inside and open.
  function around(maze, place) {
    const { side, open } = maze;
    const row = Math.floor(place / side);
    const column = place % side;
    const found = [];
    for (let i = -1; i <= 1; i++)
      for (let j = -1; j <= 1; j++) {
        const [r, c] = [row + i, column + j];
        const inside = r >= 0 && r < side && c >= 0 && c < side;
        if (inside && open[r * side + c]) found.push([3 * (i + 1) + j + 1, r * side + c]);
      }
    return found;
  }

  // Steps from the nearest of some stars to every place, Infinity where none can be reached.
  function distances(maze, isSource) {
    const found = new Array(maze.side ** 2).fill(Infinity);
    let front = [];
    for (let place = 0; place < found.length; place++) if (maze.open[place] && isSource(maze.star[place])) front.push(place);
    for (const place of front) found[place] = 0;
    for (let n = 1; front.length; n++) {
      const next = [];
      for (const place of front)
        for (const [, near] of around(maze, place))
          if (found[near] === Infinity) {
            found[near] = n;
            next.push(near);
          }
      front = next;
    }
    return found;
  }

  // What is true of every place: need (steps), asked (both colours are not equally far), answer (1 or 2).
  function truth(maze) {
    const first = distances(maze, (star) => star === 1);
    const second = distances(maze, (star) => star === 2);
    const need = first.map((distance, place) => Math.min(distance, second[place]) + 1);
    const asked = first.map((distance, place) => distance !== second[place]); // a wall is as far from both
    const answer = first.map((distance, place) => (second[place] < distance ? 2 : 1));
    const last = need.reduce((last, n, place) => (asked[place] && maze.open[place] ? Math.max(last, n) : last), 0);
    return { need, asked, answer, last };
  }

  // A thought: step() runs the network once more. A place halts at the first step with halting logit >= 0 (lambda >= 1/2)
  // or, if it never does, at step `cap`; its answer stays, while its state goes on and passes news, as in lesson 07.
  class Thought {
    constructor(network, maze, asked, cap) {
      const { channels, fromX, base } = network;
      Object.assign(this, { network, asked, cap, n: 0 });
      this.places = [];
      for (let place = 0; place < maze.open.length; place++) if (maze.open[place]) this.places.push(place);
      const index = new Int32Array(maze.open.length).fill(-1);
      this.places.forEach((place, i) => (index[place] = i));
      this.near = this.places.map((place) => Int32Array.from(around(maze, place).flatMap(([k, q]) => [k, index[q]])));
      this.z = new Float64Array(this.places.length * channels);
      this.places.forEach((place, i) => {
        const star = maze.star[place];
        for (let c = 0; c < channels; c++) this.z[i * channels + c] = base[c] + (star ? fromX[3 * c + star] : 0);
      });
      this.h = new Float64Array(this.z.length);
      this.next = new Float64Array(this.z.length);
      this.logit = new Float64Array(maze.open.length); // the answer now: pink if positive
      this.haltLogit = new Float64Array(maze.open.length).fill(30); // a wall halts at once
      this.steps = new Int32Array(maze.open.length); // 0: still thinking
      this.answer = new Float64Array(maze.open.length); // the answer when it halted
      this.forced = new Uint8Array(maze.open.length); // stopped at the cap
      this.thinking = this.places.filter((place) => asked[place]).length; // of those that are asked
    }

    get done() {
      return this.thinking === 0 || this.n >= this.cap;
    }

    step() {
      const { near, h, next, places } = this;
      const { channels, heads, headsBias } = this.network;
      for (let i = 0; i < places.length; i++)
        for (let c = 0; c < channels; c += 4) this.#hear(near[i], i * channels + c, c * channels);
      [this.h, this.next] = [next, h];
      this.n += 1;
      for (let i = 0; i < places.length; i++) {
        let [answer, halt] = headsBias;
        for (let c = 0; c < channels; c++) {
          answer += heads[c] * next[i * channels + c];
          halt += heads[channels + c] * next[i * channels + c];
        }
        this.#read(places[i], answer, halt);
      }
    }

    // The next state of one place, four channels from `at` on: tanh of what stands there and what is heard around.
    #hear(heard, at, group) {
      const { z, h, next, n } = this;
      const { channels, hear } = this.network;
      const block = channels * channels;
      let t0 = z[at];
      let t1 = z[at + 1];
      let t2 = z[at + 2];
      let t3 = z[at + 3];
      for (let k = 0; n > 0 && k < heard.length; k += 2) {
        let w = heard[k] * block + group;
        const from = heard[k + 1] * channels;
        for (let j = from; j < from + channels; j++) {
          const state = h[j];
          t0 += state * hear[w];
          t1 += state * hear[w + 1];
          t2 += state * hear[w + 2];
          t3 += state * hear[w + 3];
          w += 4;
        }
      }
      next[at] = Math.tanh(t0);
      next[at + 1] = Math.tanh(t1);
      next[at + 2] = Math.tanh(t2);
      next[at + 3] = Math.tanh(t3);
    }

    #read(place, answer, halt) {
      this.logit[place] = answer;
      this.haltLogit[place] = halt;
      const stops = halt >= 0 || this.n === this.cap;
      if (this.steps[place] || !stops) return;
      this.steps[place] = this.n;
      this.answer[place] = answer;
      this.forced[place] = halt >= 0 ? 0 : 1;
      if (this.asked[place]) this.thinking -= 1;
    }
  }

  // Random numbers from a seed (mulberry32), so that the first maze is the same for everyone.
  function generator(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  function blank(side, isOpen) {
    const maze = { side, open: new Uint8Array(side ** 2), star: new Uint8Array(side ** 2) };
    for (let place = 0; place < side ** 2; place++) maze.open[place] = isOpen(Math.floor(place / side), place % side) ? 1 : 0;
    return maze;
  }

  // 1 to 3 stars of random colours on different cells; of 20 draws the one that divides the places most evenly, as the
  // lesson picks the mazes that it shows.
  function setStars(maze, random) {
    const m = (maze.side + 1) / 2;
    let best = { smaller: -1 };
    for (let draw = 0; draw < 20 || best.smaller < 1; draw++) {
      maze.star.fill(0);
      const cells = new Map();
      const wanted = 1 + Math.floor(3 * random());
      while (cells.size < wanted) cells.set(Math.floor(m * m * random()), 1 + Math.floor(2 * random()));
      for (const [cell, colour] of cells) maze.star[2 * Math.floor(cell / m) * maze.side + 2 * (cell % m)] = colour;
      if (maze.star.some((star, place) => star && !maze.open[place])) continue;
      const { asked, answer } = truth(maze);
      const [blue, pink] = [1, 2].map((colour) => asked.filter((is, place) => is && answer[place] === colour).length);
      if (Math.min(blue, pink) > best.smaller) best = { smaller: Math.min(blue, pink), star: maze.star.slice() };
    }
    maze.star = best.star;
    return maze;
  }

  // The course's generator, `MazeTask`: of the passages between cells a spanning tree of least random weight.
  function tree(side, random) {
    const maze = blank(side, (row, column) => row % 2 === 0 && column % 2 === 0);
    const passages = [];
    for (let row = 0; row < side; row++)
      for (let column = 0; column < side; column++)
        if (row % 2 !== column % 2) passages.push({ place: row * side + column, by: row % 2 ? side : 1, weight: random() });
    const parent = Int32Array.from(maze.open, (_, place) => place);
    const root = (place) => {
      while (parent[place] !== place) place = parent[place] = parent[parent[place]];
      return place;
    };
    for (const { place, by } of passages.sort((a, b) => a.weight - b.weight)) {
      const [a, b] = [root(place - by), root(place + by)];
      if (a === b) continue;
      parent[a] = b;
      maze.open[place] = 1;
    }
    return setStars(maze, random);
  }

  // All passages open: the hall with pillars of the lesson's evidence.
  function hall(side, random) {
    return setStars(blank(side, (row, column) => row % 2 === 0 || column % 2 === 0), random);
  }

  function room(side) {
    const maze = blank(side, () => true);
    const [near, far] = [Math.round(side / 4), Math.round((3 * side) / 4) - 1];
    maze.star[near * side + near] = 1;
    maze.star[far * side + far] = 2;
    return maze;
  }

  // Walls anywhere: nothing in training was like that.
  function rubble(side, random) {
    return setStars(blank(side, () => random() < 0.6), random);
  }

  // One corridor, with a star at each end.
  function spiral(side) {
    const maze = blank(side, () => false);
    let [row, column, i, j] = [0, 0, 0, 1];
    const at = (r, c) => (r >= 0 && r < side && c >= 0 && c < side ? r * side + c : -1);
    const free = (r, c) => at(r, c) >= 0 && !maze.open[at(r, c)];
    maze.open[0] = maze.star[0] = 1;
    for (let turns = 0; turns < 2; ) {
      const ahead = at(row + 2 * i, column + 2 * j);
      if (free(row + i, column + j) && (ahead < 0 || !maze.open[ahead])) {
        [row, column, turns] = [row + i, column + j, 0];
        maze.open[at(row, column)] = 1;
      } else [i, j, turns] = [j, -i, turns + 1];
    }
    maze.star[at(row, column)] = 2;
    return maze;
  }

  // What kind of maze it is: breaks (cells that are walls, and corners between passages that are open: in no maze of the
  // course), islands (walls that hang on no outer wall: loops), stars.
  function kind(maze) {
    const { side, open } = maze;
    let breaks = 0;
    for (let place = 0; place < side ** 2; place++) {
      const odd = (Math.floor(place / side) % 2) + ((place % side) % 2); // 0: a cell, 1: a passage, 2: between passages
      if ((odd === 0 && !open[place]) || (odd === 2 && open[place])) breaks += 1;
    }
    const seen = Uint8Array.from(open);
    const flood = (start) => {
      let touches = false;
      const waiting = [start];
      seen[start] = 1;
      while (waiting.length) {
        const place = waiting.pop();
        const [row, column] = [Math.floor(place / side), place % side];
        touches ||= row === 0 || column === 0 || row === side - 1 || column === side - 1;
        for (const [r, c] of [[row - 1, column], [row + 1, column], [row, column - 1], [row, column + 1]]) {
          if (r < 0 || c < 0 || r >= side || c >= side || seen[r * side + c]) continue;
          seen[r * side + c] = 1;
          waiting.push(r * side + c);
        }
      }
      return touches;
    };
    let islands = 0;
    for (let place = 0; place < side ** 2; place++) if (!seen[place] && !flood(place)) islands += 1;
    const stars = maze.star.reduce((count, star) => count + (star > 0), 0);
    return { breaks, islands, stars };
  }

  return { read, around, distances, truth, Thought, generator, tree, hall, room, rubble, spiral, kind };
})();
