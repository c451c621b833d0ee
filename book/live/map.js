// Lesson 07: a maze that thinks, larger than any of its training; what each place needs, and what it takes.
live.maze("map", (last, taken) => ({
  ask: `In training no place took more than 24 steps, and in the loss waiting for 14 steps costs as much as a guess. The marked place needs ${last}. What will it do?`,
  choices: {
    guess: ["Guess after about 14 steps", "A guess would cost no more than the wait, yet it waits for its news."],
    trained: ["Guess at step 24", "The longest wait of its training is no limit: it waits for its news."],
    wait: [`Wait for about ${last} steps`, "It waits until its news has come."],
  },
  wins: taken < last - 2 ? "trained" : "wait",
  truth: `It halts at step ${taken}. Now drag the stars; then let all places stop at one step, and move that step on.`,
}));
