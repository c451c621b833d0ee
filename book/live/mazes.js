// Mazes of lesson 07: how they are made, who hears whom, and what is true of every place.
//
// A maze is {side, floor, star}: floor[place] is 1, or 0 where a wall was drawn; star[place] is 0 (none), 1 (blue) or 2
// (pink); place = row * side + column. A place is open if it is floor, or holds a star.
const isOpen = ({ floor, star }, place) => floor[place] === 1 || star[place] > 0;

// The open places around each open place, itself among them: [place][[offset 0..8, place], ...].
function around(maze) {
  const { side, floor } = maze;
  return Array.from(floor, (_, place) => {
    const inside = (k) => [Math.floor(place / side) + Math.floor(k / 3) - 1, (place % side) + (k % 3) - 1].every((at) => at >= 0 && at < side);
    const heard = [...Array(9).keys()].filter(inside).map((k) => [k, place + side * (Math.floor(k / 3) - 1) + (k % 3) - 1]);
    return isOpen(maze, place) ? heard.filter(([, near]) => isOpen(maze, near)) : [];
  });
}

// Steps from the nearest star of a colour to every place, Infinity where none can be reached.
function distances(maze, near, colour) {
  const found = Array(maze.star.length).fill(Infinity);
  let front = [...maze.star.keys()].filter((place) => maze.star[place] === colour);
  for (let n = 0; front.length; n++) {
    for (const place of front) found[place] = n;
    front = [...new Set(front.flatMap((place) => near[place].map(([, q]) => q)))].filter((place) => found[place] === Infinity);
  }
  return found;
}

// What is true of every place: need (steps), asked (both colours are not equally far), answer (1 or 2); and last, the
// largest need of those that are asked.
function truth(maze, near = around(maze)) {
  const [first, second] = [1, 2].map((colour) => distances(maze, near, colour));
  const need = first.map((distance, place) => Math.min(distance, second[place]) + 1);
  const asked = first.map((distance, place) => distance !== second[place]); // a wall is as far from both
  const answer = first.map((distance, place) => (second[place] < distance ? 2 : 1));
  return { need, asked, answer, last: Math.max(0, ...need.filter((_, place) => asked[place])) };
}

// Random numbers from a seed (Park and Miller's), so that the first maze is the same for everyone.
const generator = (seed) => () => (seed = (48271 * seed) % 2147483647) / 2147483647;

// 0: a cell; 1: a passage between two; 2: neither, and in training always a wall.
const kind = (side, place) => (Math.floor(place / side) % 2) + ((place % side) % 2);

// 2 or 3 stars of random colours on different cells; of 30 draws the one that leaves fewest places without a question,
// and divides the others most evenly.
function setStars(maze, random) {
  const cells = [...maze.floor.keys()].filter((place) => kind(maze.side, place) === 0);
  const near = around({ ...maze, star: [] });
  let best = { value: -Infinity };
  for (let draw = 0; draw < 30; draw++) {
    const star = maze.floor.map(() => 0);
    for (let n = 2 + Math.floor(2 * random()); n > 0; n--) star[cells[Math.floor(cells.length * random())]] = 1 + (n % 2);
    const { asked, answer } = truth({ ...maze, star }, near);
    const [blue, pink] = [1, 2].map((colour) => asked.filter((is, place) => is && answer[place] === colour).length);
    const value = Math.min(blue, pink) - 10 * (near.filter((heard) => heard.length).length - blue - pink);
    if (blue && pink && value > best.value) best = { value, star };
  }
  return { ...maze, star: best.star };
}

// The course's generator, `MazeTask`: of the passages between cells a spanning tree of least random weight.
function tree(side, random) {
  const floor = Array.from({ length: side ** 2 }, (_, place) => Number(kind(side, place) === 0));
  const passages = [...floor.keys()].filter((place) => kind(side, place) === 1);
  const parent = [...floor.keys()];
  const root = (place) => (parent[place] === place ? place : (parent[place] = root(parent[place])));
  for (const [, place] of passages.map((place) => [random(), place]).sort(([a], [b]) => a - b)) {
    const by = Math.floor(place / side) % 2 ? side : 1;
    const [a, b] = [root(place - by), root(place + by)];
    if (a === b) continue;
    parent[a] = b;
    floor[place] = 1;
  }
  return setStars({ side, floor }, random);
}

// No walls: in training nothing was like it.
const room = (side, random) => setStars({ side, floor: Array(side ** 2).fill(1) }, random);

// How a maze differs from those of training: places that break the grid of corridors, and loops.
function strange({ side, floor }) {
  const breaks = floor.filter((is, place) => kind(side, place) === (is ? 2 : 0)).length;
  return { breaks, loops: breaks === 0 && floor.filter(Boolean).length > 2 * ((side + 1) / 2) ** 2 - 1 };
}

live.mazes = { isOpen, around, truth, generator, tree, room, strange };
