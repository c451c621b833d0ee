// One layer of a transformer, again and again: in lesson 08 all nodes of a forest go through it, in lesson 12 one thought.
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
// answers; whom it reads the most at each step, and with which weight.
live.climb = (network, parents, alone, n_steps) => {
  const steps = network(parents, alone, n_steps);
  return parents.map((_, i) => {
    const [path, taken] = [live.pathUp(parents, i), steps.findIndex((step) => step[i].halt >= 0) + 1 || n_steps];
    const answer = live.largest(steps[taken - 1][i].names);
    const reads = steps.map((step) => live.largest(step[i].reads));
    const weights = steps.map((step) => Math.max(...step[i].reads));
    return { path, need: live.needed(path.length - 1, alone), taken, answer, right: answer === path.at(-1), reads, weights };
  });
};

// Lessons 12 and 14: (parents, node that is asked, n_steps, {step: a word in place of its own}) -> [{own, word, chances: of
// each name, and of STOP, stops, reads: the node that it reads most, weight}, ...]. It carries its last word or its state.
// pick(chances): which of them it writes.
live.walker = (weights, carriesState, pick = live.largest) => {
  const { text, token, ask, layer, heads } = live.transformer(weights, "names.addresses");
  return (parents, asked, steps, given = {}) => {
    const read = text(parents).map((state) => ask(state));
    let thought = token(asked);
    return Array.from({ length: steps }, (_, i) => {
      const [[state], [reads]] = layer([thought], [ask(thought)], read);
      const chances = live.softmax([...heads(state).subarray(0, -1)]);
      const picked = pick(chances);
      const stops = picked === parents.length;
      const own = stops ? live.largest(chances.slice(0, -1)) : picked;
      const word = given[i + 1] ?? own;
      thought = carriesState ? state : token(word);
      return { own, word, chances, stops, reads: live.largest(reads), weight: Math.max(...reads) };
    });
  };
};

// Lesson 13: (tokens [[sets, to], ...], leave, n_loops) -> [{loops, answer}, ...] of each token, until the last has left. leave:
// after how many loops the first ones leave; tokens without a number leave by their heads. Who has left shows its last state.
live.reader = (weights) => {
  const { pairs, ask, layer, heads } = live.transformer(weights, "statements.addresses");
  return (tokens, leave, n_loops) => {
    const states = pairs(tokens);
    const found = tokens.map(() => ({ loops: n_loops, answer: null }));
    for (let n = 1; n <= n_loops && found.at(-1).answer === null; n += 1) {
      const asked = states.map((state) => ask(state));
      found.forEach((token, i) => {
        if (token.answer !== null) return;
        [[states[i]]] = layer([states[i]], [asked[i]], asked.slice(0, i + 1)); // no token sees those after it
        const said = heads(states[i]);
        if (leave[i] ? n < leave[i] : n < n_loops && said.at(-1) < 0) return;
        found[i] = { loops: n, answer: live.largest(said.subarray(0, -1)) };
      });
    }
    return found;
  };
};
