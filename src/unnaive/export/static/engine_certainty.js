/* Intervals of posterior probabilities, from three cumulants of the log joint of every class
 * (Mathematics 15.11). Fourth of the six scripts of the engine.
 *
 * A variable is {mean, variance, third}. Its quantiles are those of a gamma variable, by the cubic
 * of Wilson and Hilferty.
 */
const unnaiveCertainty = (function () {
  "use strict";

  const MOST_LEAN = 2 / 6; // skewness of an exponential variable: one cell, no rows
  const TAME = 0.1; // variance up to which a series is as good as nodes
  const WIDE = 4; // variance from which on more nodes are taken
  const MATTERS = 9; // e^−9 of the largest joint changes no bound that is shown
  const LEAST = -1e9; // instead of the logarithm of 0
  const FEW = [[-Math.sqrt(3), 1 / 6], [0, 2 / 3], [Math.sqrt(3), 1 / 6]];
  const MORE = [
    [-2.856970013872806, 0.011257411327720689],
    [-1.355626179974266, 0.22207592200561263],
    [0, 8 / 15],
    [1.355626179974266, 0.22207592200561263],
    [2.856970013872806, 0.011257411327720689],
  ];

  /* Quantile of the standard normal distribution, p ≥ ½: Newton's steps on a series. */
  function normalQuantile(p) {
    let z = 0;
    for (let step = 0; step < 100; step++) {
      let [term, sum] = [z, z];
      for (let n = 1; term > sum * 1e-17; n++) sum += term *= (z * z) / (2 * n + 1);
      const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
      const change = (p - 0.5 - density * sum) / density;
      z += change;
      if (!(Math.abs(change) > 1e-14 * z)) break;
    }
    return z;
  }

  function quantile({ mean, variance, third }, z) {
    const deviation = Math.sqrt(variance);
    const lean = third / (6 * Math.max(variance * deviation, 1e-300));
    const h = Math.min(Math.max(lean, -MOST_LEAN), MOST_LEAN);
    const b = z - h;
    return mean + deviation * (b + h * b * b + (h * h * b * b * b) / 3);
  }

  /* The variable log(e^X + e^Y), by quadrature with the nodes of each. */
  function logSumOf(one, other) {
    const cells = [];
    for (const [left, weight] of one.nodes) {
      const x = quantile(one, left);
      for (const [right, share] of other.nodes) {
        const y = quantile(other, right);
        cells.push([weight * share, Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)))]);
      }
    }
    const total = (value) => cells.reduce((sum, [weight, at]) => sum + weight * value(at), 0);
    const mean = total((at) => at);
    return { mean, variance: total((at) => (at - mean) ** 2), third: total((at) => (at - mean) ** 3) };
  }

  /* The variable log Σ e^X of narrow variables, by a series around their means. */
  function seriesOf(variables) {
    const top = Math.max(...variables.map(({ mean }) => mean));
    const terms = variables.map(({ mean, variance: v, third: t }) => {
      const [x, q] = [Math.exp(mean - top), (1.5 * t * t) / Math.max(v, 1e-90)];
      return [
        x,
        x * v,
        x * (v / 2 + t / 6 + (v * v) / 8 + q / 24),
        x ** 2 * v,
        x ** 2 * (t + 1.5 * v * v + (7 / 12) * q),
        x ** 3 * (t + 3 * v * v + 1.5 * q),
        x ** 4 * q,
      ];
    });
    const sums = terms[0].map((_, i) => terms.reduce((sum, one) => sum + one[i], 0));
    const [whole, ...rest] = sums;
    const powers = [1, 1, 2, 2, 3, 4];
    const [spread, shift, own, second, third, fourth] = rest.map((sum, i) => sum / whole ** powers[i]);
    const mixed = spread ** 2 - 4 * spread * own + 6 * own ** 2;
    const mean = shift - (own + second) / 2 + third / 3 - fourth / 4 - mixed / 8;
    const variance = own + second - third + (11 / 12) * fourth + (2.5 * own - spread) * own;
    return {
      mean: top + Math.log(whole) + mean,
      variance: Math.max(variance, 0),
      third: third - 1.5 * fourth - 3 * own ** 2,
    };
  }

  /* Of every variable the log of the sum of the others that matter: the narrow ones of these first,
   * together, then the wider ones, one by one. */
  function othersOf(variables) {
    const places = Array.from(variables.keys());
    const low = Math.max(...variables.map(({ mean, variance }) => mean - 3 * Math.sqrt(variance)));
    const near = places.filter((c) => {
      const { mean, variance } = variables[c];
      return mean + 2 * Math.sqrt(variance) >= low - MATTERS;
    });
    const tame = near.filter((c) => {
      const { variance, third } = variables[c];
      return variance <= TAME && Math.abs(third) <= TAME * variance;
    });
    const wider = near.filter((c) => !tame.includes(c));
    const nodes = near.length > 1 && near.some((c) => variables[c].variance > WIDE) ? MORE : FEW;
    const joined = (one, other) =>
      one && other ? { ...logSumOf(one, other), nodes } : (one ?? other);
    const narrow = (labels) =>
      labels.length === 0
        ? null
        : {
            ...(labels.length > 1 ? seriesOf(labels.map((c) => variables[c])) : variables[labels[0]]),
            nodes: FEW,
          };
    const sum = (labels, first) =>
      labels.reduce((all, c) => joined(all, { ...variables[c], nodes }), first);
    return places.map((label) => {
      if (!near.includes(label)) return sum(wider, narrow(tame));
      const at = wider.indexOf(label);
      const before =
        at < 0 ? narrow(tame.filter((c) => c !== label)) : sum(wider.slice(0, at), narrow(tame));
      const rest = joined(before, sum(wider.slice(at + 1).reverse(), null));
      if (rest !== null) return rest;
      const far = places.filter((c) => c !== label);
      return variables[far.reduce((a, b) => (variables[b].mean > variables[a].mean ? b : a))];
    });
  }

  /* {lower, median, upper} of every class, from its variable. */
  function intervals(given, level) {
    const variables = given.map((one) => ({
      ...one,
      mean: Math.max(one.mean, LEAST),
      variance: Math.max(one.variance, 0),
    }));
    if (variables.length === 1) return { lower: [1], median: [1], upper: [1] };
    const reach = normalQuantile((1 + level) / 2);
    const others = othersOf(variables);
    const at = (z) =>
      variables.map(({ mean, variance, third }, c) => {
        const rest = others[c];
        const odds = {
          mean: mean - rest.mean,
          variance: variance + rest.variance,
          third: third - rest.third,
        };
        return 1 / (1 + Math.exp(-Math.min(Math.max(quantile(odds, z), -708), 708)));
      });
    return { lower: at(-reach), median: at(0), upper: at(reach) };
  }

  return { intervals };
})();
