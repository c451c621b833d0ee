"use strict";
// Lesson 08: one layer of a transformer, again and again. A token is a node, and begins with two addresses, its own and
// its parent's. It reads what the others know by now; or, alone, what they knew at the start.
(() => {
  // A network, as live_networks.py writes it: (parents, alone?, n_steps) -> what nodes say after each step, [{names:
  // logits, halt: logit, reads: weight of each node}, ...].
  live.tokens = (weights) => {
    const layer = (name) => live.linear(weights, `step.${name}`);
    const [ask, tell, widen, narrow, heads] = ["attention.in_proj", "attention.out_proj", "mlp.0", "mlp.2", "heads"].map(layer);
    const [addresses, { shape }] = [live.floats(weights["encoder.addresses"]), weights["encoder.addresses"]];
    const size = 2 * shape[1];
    const address = (node) => [...addresses.subarray(node * shape[1], (node + 1) * shape[1])];
    const total = (values) => values.reduce((a, b) => a + b, 0);
    const sum = (a, b) => a.map((value, i) => value + b[i]);
    // The numbers of a token to mean 0 and variance 1, and then to what the layer has learnt.
    const [normHeard, normNew] = ["norm_attention", "norm_mlp"].map((name) => {
      const [scale, shift] = ["weight", "bias"].map((part) => live.floats(weights[`step.${name}.${part}`]));
      return (x) => {
        const mean = total(x) / size;
        const spread = Math.sqrt(total(x.map((value) => (value - mean) ** 2)) / size + 1e-5);
        return x.map((value, c) => ((value - mean) / spread) * scale[c] + shift[c]);
      };
    });
    return (parents, alone, steps) => {
      let h = parents.map((parent, node) => Float64Array.from([node, parent].flatMap(address)));
      const start = h.map((state) => ask(state)); // of each node: query, key, value
      return Array.from({ length: steps }, () => {
        const mine = h.map((state) => ask(state));
        const [keys, values] = [1, 2].map((k) => (alone ? start : mine).map((asked) => asked.subarray(k * size, (k + 1) * size)));
        const reads = mine.map((asked) => {
          const match = keys.map((key) => key.reduce((all, value, c) => all + value * asked[c], 0) / Math.sqrt(size));
          const shares = match.map((logit) => Math.exp(logit - Math.max(...match)));
          return shares.map((share) => share / total(shares));
        });
        h = h.map((state, i) => {
          const heard = state.map((_, c) => reads[i].reduce((all, weight, j) => all + weight * values[j][c], 0));
          const read = normHeard(sum(state, tell(heard)));
          return normNew(sum(read, narrow(widen(read).map((value) => Math.max(0, value)))));
        });
        return h.map((state) => heads(state)).map((said, i) => ({ names: said.subarray(0, -1), halt: said.at(-1), reads: reads[i] }));
      });
    };
  };

  live.pathUp = (parents, node) => (parents[node] === node ? [node] : [node, ...live.pathUp(parents, parents[node])]); // to its root
  live.needed = (depth, alone) => Math.max(1, alone ? depth : 32 - Math.clz32(depth)); // the lesson's equation 1
  // What each node of a forest does in at most so many steps: its path to the root, the steps it needs and takes, what it
  // answers; whom it reads the most at each step, and with which weight.
  live.climb = (network, parents, alone, n_steps) => {
    const steps = network(parents, alone, n_steps);
    const largest = (values) => values.indexOf(Math.max(...values));
    return parents.map((_, i) => {
      const [path, taken] = [live.pathUp(parents, i), steps.findIndex((step) => step[i].halt >= 0) + 1 || n_steps];
      const answer = largest(steps[taken - 1][i].names);
      const reads = steps.map((step) => largest(step[i].reads));
      const weights = steps.map((step) => Math.max(...step[i].reads));
      return { path, need: live.needed(path.length - 1, alone), taken, answer, right: answer === path.at(-1), reads, weights };
    });
  };
})();
