// How a maze that thinks is drawn, from what is shown (fig.seen of maze.js): its places, and beside them steps taken
// against steps needed.
live.mazePicture = (TRAINED) => {
  let seen, size, panel;
  const mix = (one, other, part) => `color-mix(in oklab, ${one} ${Math.round(100 * part)}%, ${other})`;
  const wrong = (place) => seen.now[place] && seen.now[place] !== seen.answer[place];
  const rowOf = (place) => Math.floor(place / seen.side);
  const columnOf = (place) => place % seen.side;
  const middle = (place) => [columnOf(place), rowOf(place)].map((i) => ((i + 0.5) * size) / seen.side);
  const box = (place) => {
    const [left, top, right, bottom] = [0, 1].flatMap((d) => [columnOf(place) + d, rowOf(place) + d]).map((i) => Math.round((i * size) / seen.side));
    return [left, top, right - left, bottom - top];
  };
  const open = () => [...seen.floor.keys()].filter((place) => live.mazes.isOpen(seen, place));

  // Where a star is drawn: near the border of a large maze it stands a little beside its place. x, y, radius.
  function starShape(place) {
    const radius = Math.max((0.75 * size) / seen.side, 12);
    return [...middle(place).map((at) => live.clamp(at, radius, size - radius)), radius];
  }
  function drawStar(pen, inks, place) {
    const [x, y, radius] = starShape(place);
    const corner = (_, k) => [Math.sin, Math.cos].map((of) => radius * (k % 2 ? 0.46 : 1) * of((k * Math.PI) / 5));
    const star = Array.from({ length: 12 }, corner).map(([right, up]) => [x + right, y - up]); // 12: the seam is round, too
    pen.lineJoin = "round";
    for (const [width, ink] of [[6, "#ffffff"], [2, "#000000"]]) live.stroke(pen, star, ink, width);
    live.shape(pen, [inks.answer, inks.second][seen.star[place] - 1], () => star.forEach((point) => pen.lineTo(...point)));
  }

  // The way of the news to a place from its nearest star.
  function drawWay(pen, place, near) {
    const points = [middle(place)];
    const before = (at) => near[at].map(([, q]) => q).find((q) => seen.need[q] < seen.need[at]);
    for (let at = before(place); at !== undefined; at = before(at)) points.push(middle(at));
    for (const [width, ink] of [[5, "#ffffff"], [2.5, "#000000"]]) {
      live.stroke(pen, points, ink, width);
      pen.strokeRect(...box(place));
    }
  }

  function drawAnswers(pen, inks, lit) {
    const { now, taken, asked, mode, shown, end, last } = seen;
    const inkOf = (place) => {
      if (!now[place]) return inks.open;
      if (lit === "wrong" && !wrong(place)) return inks.line;
      const ink = wrong(place) ? inks.wrong : [inks.answer, inks.second][now[place] - 1];
      const age = mode === "each" && shown < end ? shown - taken[place] : 3; // those that halt now, and a pale wake
      return age < 3 ? mix(age ? inks.paper : inks.halt, ink, age ? 0.6 / age : 1) : ink;
    };
    live.fill(pen, inks.wall, 0, 0, size, size);
    for (const place of open()) {
      const [left, top, width, height] = box(place);
      live.fill(pen, inkOf(place), left, top, width + 0.4, height + 0.4); // no seams
      const line = (part, up) => [part, 1 - part].map((i) => [left + i * width, top + (up ? 1 - i : i) * height]);
      if (!asked[place] && last) for (const up of [false, true]) live.stroke(pen, line(0.32, up), inks.soft, 1.5);
      if (wrong(place)) live.stroke(pen, line(0.2, true), "#ffffff", 2);
    }
    live.ring(pen, inks.soft, 1, 1, size - 2, size - 2);
  }

  // A dot for all places with both alike, and the line on which nobody waits in vain.
  function drawChart(pen, inks, lit) {
    const { need, now, own, taken, mode, shown, end, last } = seen;
    const [left, top, right, bottom] = [panel.x + 34, panel.y + 26, panel.x + panel.width - 8, panel.y + panel.height - 44];
    const most = Math.max(4, last);
    const high = Math.max(most, mode === "all" ? shown : end);
    const x = (n) => left + ((right - left) * n) / (most * 1.04);
    const y = (n) => bottom - ((bottom - top) * n) / (high * 1.06);
    if (last > TRAINED) {
      live.faint(pen, 0.45, () => live.fill(pen, inks.line, x(TRAINED + 0.5), top, right - x(TRAINED + 0.5), bottom - top));
      live.write(pen, "more than in training", right - 4, bottom - 12, inks.ink, "right");
    }
    live.stroke(pen, [[left, top], [left, bottom], [right, bottom]], inks.soft, 1.5);
    const stride = (most) => [1, 2, 5, 10, 20, 50, 100, 200].find((n) => most / n <= 5);
    for (let n = stride(most); n <= most; n += stride(most)) live.write(pen, n, x(n), bottom + 14, inks.soft);
    for (let n = stride(high); n <= high; n += stride(high)) live.write(pen, n, left - 16, y(n), inks.soft);
    live.write(pen, "steps that a place needs", (left + right) / 2, panel.y + panel.height - 10, inks.ink);
    live.title(pen, "steps taken (large dots: many places)", panel.x, { top: panel.y + 21 }, inks);
    const dots = new Map();
    for (const place of open().filter((place) => own[place] && now[place])) {
      const dot = [need[place], mode === "all" ? shown : taken[place], wrong(place)];
      dots.set(dot.join(), [...dot, 1 + (dots.get(dot.join())?.[3] ?? 0)]);
    }
    for (const [needed, steps, isWrong, count] of [...dots.values()].sort((a, b) => a[2] - b[2])) {
      const radius = (isWrong ? 5 : 3) + Math.min(4, 0.6 * Math.sqrt(count)) + (lit === (isWrong ? "wrong" : "halt") ? 3 : 0);
      live.dot(pen, x(needed), y(steps), radius, isWrong ? inks.wrong : lit === "wrong" ? inks.line : inks.halt);
    }
    live.stroke(pen, [[x(0), y(0)], [x(most), y(most)]], inks.ink, lit === "limit" ? 5 : 2);
  }

  return {
    middle,
    layout(width) {
      const beside = width >= 560;
      size = beside ? Math.floor(Math.min((width - 28) / 2, Math.max(300, 0.4 * innerHeight))) : width;
      panel = beside ? { x: size + 28, y: 0, width: width - size - 28 } : { x: 0, y: size + 20, width };
      panel.height = beside ? size : 0.75 * size;
      return panel.y + panel.height;
    },
    draw(pen, inks, now, { lit, near, way, cursor }) {
      seen = now;
      drawAnswers(pen, inks, lit);
      if (way !== null && near[way].length) drawWay(pen, way, near);
      if (cursor !== null) live.ring(pen, inks.halt, ...box(cursor));
      for (const [place, star] of seen.star.entries()) if (star) drawStar(pen, inks, place);
      drawChart(pen, inks, lit);
    },
    placeAt({ x, y }) {
      const [row, column] = [y, x].map((at) => Math.floor((at * seen.side) / size));
      return x >= 0 && y >= 0 && row < seen.side && column < seen.side ? row * seen.side + column : null;
    },
    starAt({ x, y }) {
      const away = seen.star.map((star, place) => (star ? Math.hypot(x - starShape(place)[0], y - starShape(place)[1]) : Infinity));
      const nearest = away.indexOf(Math.min(...away));
      return away[nearest] < 13 ? nearest : null;
    },
  };
};
