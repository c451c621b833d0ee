// Lessons 08, 12 and 14: nodes in a row, each with an arrow to its parent, which the reader turns. Node 0 stands first or last.
live.tree = (size, left, row, isLast = false) => {
  const chain = (n) => Array.from({ length: n }, (_, i) => Math.max(0, i - 1));
  const tree = { parents: chain(size), picked: null };
  const n = () => tree.parents.length;
  let [gap, radius] = [1, 9];
  tree.fit = (width) => {
    gap = (width - left - 4) / n();
    radius = Math.min(gap / 2 - 1, 12);
  };
  tree.x = (i) => left + ((isLast ? n() - 1 - i : i) + 0.5) * gap;
  tree.at = ({ x, y }) => (y < row + 30 ? live.nearest(tree.parents.map((_, i) => tree.x(i)), x, gap) : null);
  // Half an ellipse between two nodes, above the row (side -1) or below it (1); returns where it ends.
  tree.arc = (pen, from, to, side, ink, thick) => {
    const [a, b] = [tree.x(from), tree.x(to)];
    const [y, tall] = [row + side * (radius + 4), 8 + 2.5 * Math.abs(from - to)];
    pen.strokeStyle = ink;
    pen.lineWidth = thick;
    pen.beginPath();
    pen.ellipse((a + b) / 2, y, Math.abs(a - b) / 2, tall, 0, 0, Math.PI, side < 0);
    pen.stroke();
    return y + tall;
  };
  // A node with the arrow to its parent; ink: what fills it, or null. A root is a square.
  tree.draw = (pen, i, inks, ink = null) => {
    const parent = tree.parents[i];
    if (parent !== i) {
      tree.arc(pen, i, parent, -1, inks.soft, 1.5);
      live.arrow(pen, tree.x(parent), row - radius - 8, [0, 6], inks.soft);
    }
    const box = [tree.x(i) - radius, row - radius, 2 * radius, 2 * radius, parent !== i ? radius : 2];
    live.shape(pen, ink ?? inks.paper, () => pen.roundRect(...box));
    [pen.strokeStyle, pen.lineWidth] = tree.picked === i ? [inks.halt, 5] : [inks.soft, 1.5];
    pen.stroke();
    live.write(pen, i, tree.x(i), row + 1, ink ? inks.paper : inks.ink);
  };
  // A row of words below: the node that is asked, its words up to a step, and STOP. On a chain each stands below its node.
  tree.fitWords = (width) => tree.fit(width - 42); // for STOP
  tree.word = (step) => left + (step + 0.5) * gap;
  tree.wordAt = ({ x }) => Math.floor((x - left) / gap);
  tree.drawWords = (pen, y, inks, { asked, words, right, stops }, count, lit) => {
    live.write(pen, `${asked}?`, tree.word(0), y, inks.ink, "center", inks.paper);
    words.slice(0, count).forEach((word, i) => {
      const part = right[i] ? "answer" : "wrong";
      if (lit === part) live.ring(pen, inks[part], tree.word(i + 1) - 14, y - 12, 28, 24);
      live.write(pen, word, tree.word(i + 1), y, inks[part], "center", inks.paper);
    });
    if (!stops || count <= words.length) return;
    const [x, grown] = [left + (words.length + 1) * gap, lit === "halt" ? 4 : 0];
    live.fill(pen, inks.halt, x, y - 12 - grown, 46, 24 + 2 * grown);
    live.write(pen, "STOP", x + 23, y, "#000000");
  };
  // Picks a node, or makes this the parent of the one that is picked; but no arrow closes a circle. Whether it is picked.
  tree.pick = (i) => {
    const picks = tree.picked === null || (i !== tree.picked && live.pathUp(tree.parents, i).includes(tree.picked));
    if (!picks) tree.parents[tree.picked] = i;
    tree.picked = picks ? i : null;
    return picks;
  };
  const grow = (parents) => ([tree.parents, tree.picked] = [parents, null]);
  tree.chain = () => grow(chain(n()));
  tree.scatter = () => grow(tree.parents.map((_, i) => (Math.random() < 0.1 ? i : Math.max(0, i - 1 - Math.floor(3 * Math.random())))));
  // Buttons that draw other trees; the figure is told.
  tree.buttons = (fig, drawn) => {
    for (const [label, make] of [["Chain", tree.chain], ["Trees", tree.scatter]]) fig.button(label, () => drawn(make()));
  };
  // All names of the network: nodes that are not shown are roots.
  tree.all = (names = 32) => Array.from({ length: names }, (_, i) => tree.parents[i] ?? i);
  // In the address: the parent of each node, 0 to 9 and a to f. Arrows in a circle, or to nowhere, are no tree.
  tree.text = () => tree.parents.map((parent) => parent.toString(16)).join("");
  tree.restore = (text) => {
    const parents = [...text].map((sign) => parseInt(sign, 16));
    const up = (node) => parents.reduce((at) => parents[at], node);
    if (parents.every((_, node) => up(node) !== undefined && parents[up(node)] === up(node))) grow(parents);
  };
  return tree;
};
