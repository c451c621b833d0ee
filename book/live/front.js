"use strict";
// The first page's maze: it thinks as soon as it is seen, and may be of other kinds and sizes.
(() => {
  let [kind, side] = ["tree", document.getElementById("live-front").clientWidth > 600 ? 29 : 19];
  const { fig, renew, replay } = live.maze("front", side, 58);
  const more = fig.box.querySelector(".live-more");
  const kinds = { tree: "New maze", spiral: "Spiral", hall: "Hall", room: "Room", rubble: "Rubble" };
  for (const [name, words] of Object.entries(kinds)) fig.button(words, () => renew((kind = name), side), more);
  for (const n of [9, 19, 29, 39]) fig.button(`${n} × ${n}`, () => renew(kind, (side = n)), more);
  fig.start();
  new IntersectionObserver(([{ isIntersecting }], observer) => isIntersecting && replay(observer.disconnect())).observe(fig.box);
})();
