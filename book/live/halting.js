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

// The best p for given losses: lesson 02's equation 4, or, with the divergence reversed, equation 7.
live.bestHalting = (losses, prior, beta, reversed) => {
  const least = Math.min(...losses);
  if (!reversed) return live.shares(losses.map((loss, n) => prior[n] * Math.exp((least - loss) / beta)));
  let [low, high] = [-least, beta - least];
  for (let i = 0; i < 60; i++) {
    const mu = (low + high) / 2;
    [low, high] = live.total(losses.map((loss, n) => (beta * prior[n]) / (loss + mu))) > 1 ? [mu, high] : [low, mu];
  }
  return losses.map((loss, n) => (beta * prior[n]) / (loss + high));
};

// The gradient of PonderNet's loss on the halting logits of all steps but the last, by equations 5 and 8: the part of
// the losses, and that of beta times the divergence.
live.gradients = (lambdas, losses, prior, beta, reversed) => {
  const p = live.halting(lambdas);
  const pull = (costs) => (j) => {
    const later = live.total(p.map((one, n) => (n > j ? one * costs[n] : 0)));
    return p[j] * (1 - lambdas[j]) * costs[j] - lambdas[j] * later;
  };
  const turned = (j) => beta * (lambdas[j] * live.total(prior.slice(j + 1)) - (1 - lambdas[j]) * prior[j]);
  const ofPrior = reversed ? turned : pull(p.map((one, n) => beta * Math.log(one / prior[n])));
  const steps = [...losses.keys()].slice(0, -1);
  return { losses: steps.map(pull(losses)), prior: steps.map(ofPrior) };
};

// What Adam makes of the halting probabilities in 500 updates, while its learning rate cools down: all on the way.
live.adam = (lambdas, gradient) => {
  const a = lambdas.map((p) => Math.log(p / (1 - p)));
  const [m, v] = [a.map(() => 0), a.map(() => 0)];
  return Array.from({ length: 500 }, (_, t) => {
    gradient(a.map(live.sigmoid)).forEach((slope, j) => {
      m[j] = 0.9 * m[j] + 0.1 * slope;
      v[j] = 0.999 * v[j] + 0.001 * slope ** 2;
      const [mean, square] = [m[j] / (1 - 0.9 ** (t + 1)), v[j] / (1 - 0.999 ** (t + 1))];
      a[j] -= (0.1 * (1 - t / 500) * mean) / (Math.sqrt(square) + 1e-12);
    });
    return a.map((logit) => live.clamp(live.sigmoid(logit), 1e-9, 1 - 1e-9));
  });
};
