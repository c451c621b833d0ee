// Formulas of lessons 01 and 02; n steps each, the last of which takes what remains.

// ACT's halting values -> the weights of its states: they count until 1 - epsilon, and the last gets the remainder.
live.weigh = (lambdas, epsilon) => {
  const weights = [];
  let total = 0;
  for (const lambda of lambdas.slice(0, -1)) {
    if (total + lambda >= 1 - epsilon) break;
    weights.push(lambda);
    total += lambda;
  }
  return [...weights, 1 - total];
};

// PonderNet's halting probabilities lambda_n -> the halting distribution p_n.
live.halting = (lambdas) => {
  let survival = 1;
  return lambdas.map((lambda, i) => {
    const p = i === lambdas.length - 1 ? survival : lambda * survival;
    survival *= 1 - lambda;
    return p;
  });
};
live.meanSteps = (p) => live.total(p.map((one, i) => (i + 1) * one));
live.prior = (rate, steps) => live.shares(Array.from({ length: steps }, (_, i) => rate * (1 - rate) ** i)); // rate: lambda_p
