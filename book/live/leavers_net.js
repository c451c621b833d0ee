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
