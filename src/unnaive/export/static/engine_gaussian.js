/* Gaussian densities of every class, missing columns marginalized. Second of the six scripts of
 * the engine.
 */
const unnaiveGaussian = (function () {
  "use strict";

  const LOG_TWO_PI = Math.log(2 * Math.PI);
  const MOST_PATTERNS = 500; // of observed columns, whose matrices are kept

  /* Lower triangle L of a covariance L Lᵀ, by rows that end at the diagonal. */
  function cholesky(size, covariance) {
    const factor = [];
    for (let i = 0; i < size; i++) {
      const line = new Float64Array(i + 1);
      for (let j = 0; j <= i; j++) {
        const other = j === i ? line : factor[j];
        let rest = covariance(i, j);
        for (let m = 0; m < j; m++) rest -= line[m] * other[m];
        line[j] = i === j ? Math.sqrt(rest) : rest / other[j];
      }
      factor.push(line);
    }
    return factor;
  }

  function inverted(factor) {
    const lines = [];
    factor.forEach((own, i) => {
      const line = new Float64Array(i + 1);
      line[i] = 1 / own[i];
      for (let j = 0; j < i; j++) {
        let sum = 0;
        for (let m = j; m < i; m++) sum += own[m] * lines[m][j];
        line[j] = -sum / own[i];
      }
      lines.push(line);
    });
    return lines;
  }

  /* Forms of each of some columns given the columns before it. */
  const completeForms = (columns, covariance) =>
    inverted(cholesky(columns.length, (i, j) => covariance(columns[i], columns[j])));

  /* Forms of p(x_i | c) for naive columns, and of p(x_i | others, c) for the rest. */
  function naiveForms(columns, covariance, { naive, strong }) {
    const others = strong ? columns.filter((column) => !naive.includes(column)) : columns;
    const whole = completeForms(others, covariance);
    const precision = (i, j) => {
      let sum = 0;
      for (let line = Math.max(i, j); line < whole.length; line++) {
        sum += whole[line][i] * whole[line][j];
      }
      return sum;
    };
    return columns.map((column, place) => {
      const form = new Float64Array(columns.length);
      if (naive.includes(column)) {
        form[place] = 1 / Math.sqrt(covariance(column, column));
        return form;
      }
      const own = others.indexOf(column);
      others.forEach((other, i) => {
        form[columns.indexOf(other)] = precision(own, i) / Math.sqrt(precision(own, own));
      });
      return form;
    });
  }

  /* Values of a function by key; all are dropped when they are too many. */
  function remembered(compute) {
    const kept = new Map();
    return (key, ...given) => {
      if (!kept.has(key)) {
        if (kept.size >= MOST_PATTERNS) kept.clear();
        kept.set(key, compute(...given));
      }
      return kept.get(key);
    };
  }

  /* Means and covariances of numbers that depend on categorical columns, by the row's categories:
   * every class and cell of a family has a regression on the numbers before. */
  function spreadInCells(spec, model, d, k) {
    const families = spec.families.map((family) => ({
      ...family,
      ...Object.fromEntries(
        ["intercept", "slopes", "noise"].map((name) => [name, model.array(family[name])]),
      ),
      cells: family.sizes.reduce((product, size) => product * size, 1),
    }));
    const codeOf = (cells, label, size) => (cells[label] === null ? size - 1 : cells[label]);
    const cellOf = (family, cells) =>
      family.labels.reduce(
        (cell, label, at) => cell * family.sizes[at] + codeOf(cells, label, family.sizes[at]),
        0,
      );

    function implied(chosen) {
      const means = new Float64Array(k * d);
      const spread = new Float64Array(k * d * d);
      for (let c = 0; c < k; c++) {
        const at = (i, j) => (c * d + i) * d + j;
        families.forEach(({ child, parents, cells, intercept, slopes, noise }, f) => {
          const cell = c * cells + chosen[f];
          const slope = (p) => slopes[cell * parents.length + p];
          const along = (values) => parents.reduce((sum, i, p) => sum + slope(p) * values(i), 0);
          means[c * d + child] = intercept[cell] + along((i) => means[c * d + i]);
          for (let j = 0; j < d; j++) {
            if (j !== child) spread[at(child, j)] = along((i) => spread[at(i, j)]);
          }
          for (let j = 0; j < d; j++) spread[at(j, child)] = spread[at(child, j)];
          spread[at(child, child)] = noise[cell] + along((i) => spread[at(child, i)]);
        });
      }
      return { means, spread };
    }

    const of = remembered(implied);
    return (cells) => {
      const chosen = families.map((family) => cellOf(family, cells));
      const key = chosen.join();
      return { key, ...of(key, chosen) };
    };
  }

  function make(spec, model) {
    const { columns } = spec;
    const base = model.array(spec.base);
    const d = columns.length;
    const independent = spec.forms === "independent";
    const inCells = spec.forms === "cells";
    const only = inCells
      ? null
      : { key: "", means: model.array(spec.means), spread: model.array(spec.covariances) };
    const spreadOf = inCells ? spreadInCells(spec, model, d, base.length) : () => only;

    function covarianceOf(c, spread) {
      if (independent) return (i, j) => (i === j ? spread[c * d + i] : 0);
      return (i, j) => spread[(c * d + i) * d + j];
    }

    /* Linear forms of some columns, class by class; the density is that of their squares. */
    const formsOf = remembered((known, spread) =>
      Array.from(base, (_, c) =>
        spec.forms === "naive"
          ? naiveForms(known, covarianceOf(c, spread), spec)
          : completeForms(known, covarianceOf(c, spread)),
      ),
    );

    const shownIn = (cells) => Array.from(columns.keys()).filter((i) => cells[columns[i]] !== null);
    const away = (cells, means, c, i) => cells[columns[i]] - means[c * d + i];
    const total = (parts) => parts.reduce((sum, part) => sum + part, 0);

    /* Log density of some observed columns in a class, one part for each form. */
    function densities(cells, known, c) {
      const { key, means, spread } = spreadOf(cells);
      if (independent) {
        return known.map((i) => {
          const variance = spread[c * d + i];
          return -(Math.log(variance) + LOG_TWO_PI + away(cells, means, c, i) ** 2 / variance) / 2;
        });
      }
      return formsOf(`${key};${known.join()}`, known, spread)[c].map((line, place) => {
        const form = line.reduce(
          (sum, weight, j) => sum + weight * away(cells, means, c, known[j]),
          0,
        );
        return Math.log(Math.abs(line[place])) - (LOG_TWO_PI + form * form) / 2;
      });
    }

    function joint(cells) {
      const known = shownIn(cells);
      return base.map((prior, c) => prior + total(densities(cells, known, c)));
    }

    /* Contributions of columns one after the other. Naive forms of fewer columns are computed
     * again; for others the last contribution absorbs rounding, so that the sum is the joint. */
    function chain(cells, order, c) {
      const upTo = (size) => order.slice(0, size).sort((a, b) => a - b);
      const whole = (size) => total(densities(cells, upTo(size), c));
      if (spec.forms === "naive") return order.map((_, at) => whole(at + 1) - whole(at));
      const parts = densities(cells, order, c);
      if (parts.length) parts[parts.length - 1] += whole(parts.length) - total(parts);
      return parts;
    }

    /* Contributions of cells, averaged over some orders of columns. */
    function split(cells) {
      const parts = columns.map(() => new Float64Array(base.length));
      for (const places of spec.orders) {
        const order = places.filter((i) => cells[columns[i]] !== null);
        for (let c = 0; c < base.length; c++) {
          const found = chain(cells, order, c);
          order.forEach((i, at) => (parts[i][c] += found[at] / spec.orders.length));
        }
      }
      const terms = shownIn(cells).map((i) => ({
        columns: [columns[i]],
        through: spec.through[i],
        parts: parts[i],
      }));
      return { base, terms };
    }

    return { joint, split };
  }

  return { make };
})();
