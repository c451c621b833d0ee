// One layer of a transformer, again and again: in lesson 08 all nodes of a forest go through it, in 12 and 14 one thought.
// The token of a node is two addresses, its own and its parent's.

// weights, as live_networks.py writes them; addresses: the name of theirs. {text(parents), pairs(tokens), token(node),
// ask(state): its query, key and value; layer(states, their own asked, asked of those that they read) -> [new states, weights of whom
// each reads]; heads}.
live.transformer = (weights, addresses) => {
  const layers = ["attention.in_proj", "attention.out_proj", "mlp.0", "mlp.2", "heads"];
  const [ask, tell, widen, narrow, heads] = layers.map((name) => live.linear(weights, `step.${name}`));
  const [names, { shape: [, half] }] = [live.floats(weights[addresses]), weights[addresses]];
  const size = 2 * half;
  const address = (node) => [...names.subarray(node * half, (node + 1) * half)];
  // The numbers of a token to mean 0 and variance 1, and then to what the layer has learnt.
  const [normHeard, normNew] = ["norm_attention", "norm_mlp"].map((name) => {
    const [scale, shift] = ["weight", "bias"].map((part) => live.floats(weights[`step.${name}.${part}`]));
    return (x) => {
      const mean = live.total(x) / size;
      const spread = Math.sqrt(live.total(x.map((value) => (value - mean) ** 2)) / size + 1e-5);
      return x.map((value, c) => ((value - mean) / spread) * scale[c] + shift[c]);
    };
  });
  function layer(h, mine, asked) {
    const [keys, values] = [1, 2].map((k) => asked.map((one) => one.subarray(k * size, (k + 1) * size)));
    const match = (query) => keys.map((key) => key.reduce((all, value, c) => all + value * query[c], 0) / Math.sqrt(size));
    const reads = mine.map((query) => live.softmax(match(query)));
    const next = h.map((state, i) => {
      const heard = state.map((_, c) => reads[i].reduce((all, weight, j) => all + weight * values[j][c], 0));
      const read = normHeard(tell(heard).map((value, c) => value + state[c]));
      const answer = narrow(widen(read).map((value) => Math.max(0, value)));
      return normNew(answer.map((value, c) => value + read[c]));
    });
    return [next, reads];
  }
  const pairs = (tokens) => tokens.map((pair) => Float64Array.from(pair.flatMap(address)));
  const text = (parents) => pairs(parents.map((parent, node) => [node, parent]));
  const token = (node) => Float64Array.from([...address(node), ...Array(half).fill(0)]);
  return { text, pairs, token, ask, layer, heads };
};

// Lesson 08: (parents, alone?, n_steps) -> what nodes say after each step, [{names: logits, halt: logit, reads: weight of
// each node}, ...]. A node reads what the others know by now; or, alone, what they knew at the start.
live.tokens = (weights) => {
  const { text, ask, layer, heads } = live.transformer(weights, "encoder.addresses");
  return (parents, alone, steps) => {
    let h = text(parents);
    const start = h.map((state) => ask(state));
    return Array.from({ length: steps }, () => {
      const mine = h.map((state) => ask(state));
      const [next, reads] = layer(h, mine, alone ? start : mine);
      h = next;
      return h.map((state) => heads(state)).map((said, i) => ({ names: said.subarray(0, -1), halt: said.at(-1), reads: reads[i] }));
    });
  };
};

live.pathUp = (parents, node) => (parents[node] === node ? [node] : [node, ...live.pathUp(parents, parents[node])]); // to its root
live.needed = (depth, alone) => Math.max(1, alone ? depth : 32 - Math.clz32(depth)); // lesson 08's equation 1
// What each node of a forest does in at most so many steps: its path to the root, the steps it needs and takes, what it
// answers; and whom it reads the most at each step.
live.climb = (network, parents, alone, n_steps) => {
  const steps = network(parents, alone, n_steps);
  return parents.map((_, i) => {
    const [path, taken] = [live.pathUp(parents, i), steps.findIndex((step) => step[i].halt >= 0) + 1 || n_steps];
    const answer = live.largest(steps[taken - 1][i].names);
    const reads = steps.map((step) => live.largest(step[i].reads));
    return { path, need: live.needed(path.length - 1, alone), taken, answer, right: answer === path.at(-1), reads };
  });
};

// Lessons 12 and 14: parents -> {token(node): the first thought of who is asked, or of who has written this name; step(thought):
// the new state, and the chances of each name and of STOP to be the next word}.
live.walker = (weights) => {
  const { text, token, ask, layer, heads } = live.transformer(weights, "names.addresses");
  return (parents) => {
    const read = text(parents).map((state) => ask(state));
    function step(thought) {
      const [[state]] = layer([thought], [ask(thought)], read);
      return { state, chances: live.softmax([...heads(state).subarray(0, -1)]) };
    }
    return { token, step };
  };
};
