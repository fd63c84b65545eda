/* Logarithms: sums, their exact decomposition, and odds. First of the six scripts of the
 * engine, before engine_gaussian.js, engine_kinds.js, engine_certainty.js, engine.js and
 * engine_rows.js.
 */
const unnaiveLogs = (function () {
  "use strict";

  function logSum(terms) {
    let peak = -Infinity;
    for (const term of terms) if (term > peak) peak = term;
    if (peak === -Infinity) return peak;
    let total = 0;
    for (const term of terms) total += Math.exp(term - peak);
    return peak + Math.log(total);
  }

  const hopeless = (joint) => joint.every((value) => value === -Infinity);

  function normalised(joint) {
    const total = logSum(joint);
    return joint.map((value) => value - total);
  }

  /* Subtracts logarithms; −∞ − −∞ is 0. */
  const less = (after, before) =>
    after.map((value, i) => (before[i] === -Infinity ? 0 : value - before[i]));

  /* Log of the logarithmic mean (a − b) / (log a − log b) of two numbers given as logarithms. */
  function logMean(a, b) {
    const high = Math.max(a, b);
    const gap = high === -Infinity ? 0 : Math.abs(a - b);
    return gap > 0 ? high + Math.log(-Math.expm1(-gap) / gap) : high;
  }

  /* Splits log Σ e^after − log Σ e^before among the parts of all members, exactly: the
   * logarithmic-mean Divisia index (Ang 2004). The parts of a member add up to the difference
   * between the two. A member that becomes −∞ has finite shares, equal for all parts that are −∞;
   * if all members become −∞, these shares are −∞. */
  function sharesOfSum(after, before, parts) {
    const scale = logMean(logSum(after), logSum(before));
    const nothingLeft = after.every((a, i) => a === -Infinity || before[i] === -Infinity);
    return parts.map((own, i) => {
      if (before[i] === -Infinity) return own.map(() => 0);
      const endless = own.map((part) => part === -Infinity);
      if (nothingLeft) return endless.map((is) => (is ? -Infinity : 0));
      if (after[i] === -Infinity) {
        const lost = -Math.exp(before[i] - scale) / endless.filter(Boolean).length;
        return endless.map((is) => (is ? lost : 0));
      }
      const weight = Math.exp(logMean(after[i], before[i]) - scale);
      return own.map((part) => weight * part);
    });
  }

  /* Log joint of a split into a base and terms, class by class. */
  function jointOf({ base, terms }) {
    return base.map((value, c) => terms.reduce((sum, term) => sum + term.parts[c], value));
  }

  /* Log-odds of one class against all others: {base, parts}, one part for each term. */
  function logOdds(split, label) {
    const { base, terms } = split;
    const others = Array.from(base.keys()).filter((c) => c !== label);
    if (!others.length) return { base: Infinity, parts: terms.map(() => 0) };
    const own = terms.map((term) => term.parts[label]);
    const without = others.map((c) => terms.map((term) => term.parts[c]));
    if (others.length > 1) {
      const joint = jointOf(split);
      const shares = sharesOfSum(
        others.map((c) => joint[c]),
        others.map((c) => base[c]),
        without,
      );
      without.splice(0, others.length, terms.map((_, t) => shares.reduce((s, m) => s + m[t], 0)));
    }
    return {
      base: base[label] - logSum(others.map((c) => base[c])),
      parts: own.map((part, t) => part - without[0][t]),
    };
  }

  /* Entropy in nats of probabilities given as logarithms. */
  function entropy(logs) {
    return logs.reduce((sum, log) => (log === -Infinity ? sum : sum - Math.exp(log) * log), 0);
  }

  return { logSum, hopeless, normalised, less, sharesOfSum, jointOf, logOdds, entropy };
})();
