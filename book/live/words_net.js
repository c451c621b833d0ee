// Lesson 12: (parents, node that is asked, n_steps, {step: a word in place of its own}) -> [{own, word, stop: the probability
// of STOP, stops, reads: the node that it reads most, weight}, ...]. It carries its last word or its state.
live.walker = (weights, carriesState) => {
  const { text, token, ask, layer, heads } = live.transformer(weights, "names.addresses");
  return (parents, asked, steps, given = {}) => {
    const read = text(parents).map((state) => ask(state));
    let thought = token(asked);
    return Array.from({ length: steps }, (_, i) => {
      const [[state], [reads]] = layer([thought], [ask(thought)], read);
      const words = [...heads(state).subarray(0, -1)]; // names, and STOP
      const own = live.largest(words.slice(0, -1));
      const word = given[i + 1] ?? own;
      thought = carriesState ? state : token(word);
      const stops = live.largest(words) === parents.length;
      return { own, word, stop: live.softmax(words).at(-1), stops, reads: live.largest(reads), weight: Math.max(...reads) };
    });
  };
};
