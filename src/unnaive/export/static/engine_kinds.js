/* Every kind of tables that unnaive.tables.describe describes: its log joint, and the terms that
 * add up to it. Third of the six scripts of the engine.
 *
 * A row is a list of cells: the code of a value, or a number, or null if it is missing. Every
 * kind has joint(cells), k numbers, and split(cells), {base, terms: [{columns, through, parts}]}.
 */
const unnaiveKinds = (function () {
  "use strict";

  const { logSum, hopeless, normalised, less, sharesOfSum, jointOf } = unnaiveLogs;
  const MOST_CELLS = 1 << 22; // of a table on the way, when unknown columns are summed out

  // ---- products of tables ---------------------------------------------------------------------

  /* Position of a number in an ascending list, its length if it is not there. */
  function search(list, number) {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] < number) low = middle + 1;
      else high = middle;
    }
    return list[low] === number ? low : list.length;
  }

  /* A table of some columns; the first `sparse` of them make a context that may be unseen. */
  function makeTable(spec, model) {
    const values = model.array(spec.values);
    const contexts = spec.contexts === undefined ? null : model.array(spec.contexts);
    const sizes = spec.columns.map((column) => model.sizes[column]);
    const lines = spec.shared ? 1 : model.k;
    const width = values.length / lines;
    const simpler = spec.simpler === undefined ? null : makeTable(spec.simpler, model);

    /* Adds the entries of all classes to `out` from `start` on. */
    function add(cells, out, start) {
      let place = 0;
      for (let i = 0; i < spec.sparse; i++) place = place * sizes[i] + cells[spec.columns[i]];
      if (contexts !== null) place = search(contexts, place);
      if (simpler !== null && place === contexts.length) {
        simpler.add(cells, out, start);
        return;
      }
      for (let i = spec.sparse; i < sizes.length; i++) {
        place = place * sizes[i] + cells[spec.columns[i]];
      }
      for (let c = 0; c < model.k; c++) out[start + c] += values[(c % lines) * width + place];
    }

    return { columns: spec.columns, add };
  }

  const product = (numbers) => numbers.reduce((all, number) => all * number, 1);

  function makeProduct(spec, model) {
    const base = model.array(spec.base);
    const factors = spec.factors.map((factor) => ({
      children: factor.children,
      parents: factor.parents,
      columns: [...factor.parents, ...factor.children],
      tables: factor.tables.map((table) => makeTable(table, model)),
    }));
    const classHasParents = factors.some((factor) => !factor.children.length);
    const known = (column, cells) => cells[column] !== null;

    /* Factors that matter: those of missing columns without observed descendants sum to one. A
     * factor without children belongs to the class. */
    function counting(cells) {
      const needed = new Set();
      return [...factors].reverse().filter(({ children, parents }) => {
        const counts = (child) => known(child, cells) || needed.has(child);
        if (children.length && !children.some(counts)) return false;
        for (const parent of parents) if (!known(parent, cells)) needed.add(parent);
        return true;
      });
    }

    function tableFor(factor, cells) {
      return factor.tables.find((table) => table.columns.every((column) => known(column, cells)));
    }

    function joint(cells) {
      const total = base.slice();
      const open = [];
      for (const factor of spec.marginalize ? counting(cells) : factors) {
        const table = tableFor(factor, cells);
        if (table !== undefined) table.add(cells, total, 0);
        else if (spec.marginalize) open.push(opened(factor, cells, model));
      }
      for (const { values } of eliminated(open, model)) {
        for (let c = 0; c < model.k; c++) total[c] += values[c];
      }
      return total;
    }

    /* A cell contributes its factor or, if some of its parents are missing, the change of the joint
     * of the cells above it. */
    function split(cells) {
      const terms = [];
      const shown = cells.map(() => null);
      for (const factor of factors) {
        const { children, parents: through } = factor;
        if (!children.some((child) => known(child, cells))) continue;
        const table = classHasParents ? undefined : tableFor(factor, cells);
        let parts = new Float64Array(model.k);
        if (table !== undefined) table.add(cells, parts, 0);
        const before = table === undefined && spec.marginalize ? joint(shown) : null;
        for (const child of children) shown[child] = cells[child];
        if (before !== null) parts = less(joint(shown), before);
        terms.push({ columns: children, through, parts });
      }
      return { base: joint(cells.map(() => null)), terms };
    }

    return { base, joint, split };
  }

  /* A factor as a table over its missing columns, the last fastest, classes innermost. */
  function opened(factor, cells, model) {
    const scope = factor.columns.filter((column) => cells[column] === null);
    const values = new Float64Array(cellsOf(scope, model) * model.k);
    const filled = cells.slice();
    forEachCell(scope, model, (codes, cell) => {
      scope.forEach((column, i) => (filled[column] = codes[i]));
      factor.tables[0].add(filled, values, cell * model.k);
    });
    return { scope, values };
  }

  function cellsOf(scope, model) {
    const cells = product(scope.map((column) => model.sizes[column]));
    if (cells * model.k > MOST_CELLS) {
      throw new RangeError("too much is unknown to be summed out in a page; set some more values");
    }
    return cells;
  }

  function forEachCell(scope, model, visit) {
    const codes = scope.map(() => 0);
    const cells = cellsOf(scope, model);
    for (let cell = 0; cell < cells; cell++) {
      visit(codes, cell);
      for (let i = scope.length - 1; i >= 0 && ++codes[i] === model.sizes[scope[i]]; i--) {
        codes[i] = 0;
      }
    }
  }

  /* Sums columns out of a product of open factors, the one with the smallest table first. */
  function eliminated(factors, model) {
    let left = factors;
    const near = new Map(); // columns that share a factor with a column, and itself
    for (const column of new Set(factors.flatMap((factor) => factor.scope))) {
      const touched = factors.filter((factor) => factor.scope.includes(column));
      near.set(column, new Set(touched.flatMap((factor) => factor.scope)));
    }
    const priceOf = (column) => product([...near.get(column)].map((other) => model.sizes[other]));
    const prices = new Map([...near.keys()].map((column) => [column, priceOf(column)]));
    while (prices.size) {
      const [column] = [...prices].reduce((best, next) => (next[1] < best[1] ? next : best));
      const rest = [...near.get(column)].filter((other) => other !== column);
      prices.delete(column);
      for (const other of rest) {
        near.set(other, new Set([...near.get(other), ...rest].filter((one) => one !== column)));
      }
      for (const other of rest) prices.set(other, priceOf(other));
      const touched = left.filter((factor) => factor.scope.includes(column));
      left = left.filter((factor) => !factor.scope.includes(column));
      left.push(summedOut(column, rest, touched, model));
    }
    return left;
  }

  function summedOut(column, rest, touched, model) {
    const { k, sizes } = model;
    const strides = touched.map(({ scope }) =>
      [...rest, column].map((other) => {
        const at = scope.indexOf(other);
        return at < 0 ? 0 : product(scope.slice(at + 1).map((later) => sizes[later]));
      }),
    );
    const values = new Float64Array(cellsOf(rest, model) * k);
    const terms = new Float64Array(sizes[column]);
    forEachCell(rest, model, (codes, cell) => {
      const starts = strides.map((own) => codes.reduce((sum, code, i) => sum + own[i] * code, 0));
      for (let c = 0; c < k; c++) {
        terms.fill(0);
        for (let f = 0; f < touched.length; f++) {
          for (let value = 0; value < terms.length; value++) {
            const place = starts[f] + strides[f][rest.length] * value;
            terms[value] += touched[f].values[place * k + c];
          }
        }
        values[cell * k + c] = logSum(terms);
      }
    });
    return { scope: rest, values };
  }

  // ---- means over super-parents ---------------------------------------------------------------

  function makeAverage(spec, model) {
    const { k, sizes, starts } = model;
    const base = model.array(spec.base);
    const table = model.array(spec.table);
    const weights = model.array(spec.weights);
    const implied = spec.implied === null ? [] : model.array(spec.implied);
    const width = starts[sizes.length];
    let rows = 0;
    const members = spec.members.map((columns) => {
      const first = rows;
      rows += product(columns.map((column) => sizes[column]));
      return { columns, first };
    });

    /* Without the cells that another cell of the row implies. */
    function resolved(cells) {
      const has = new Set();
      cells.forEach((code, column) => code !== null && has.add(starts[column] + code));
      const gone = new Set();
      for (let i = 0; i < implied.length; i += 2) {
        if (has.has(implied[i]) && has.has(implied[i + 1])) gone.add(implied[i]);
      }
      return cells.map((code, i) => (code !== null && gone.has(starts[i] + code) ? null : code));
    }

    /* Super-parents of a row: their shares, and log P(c, x_p) and log P(x_i | c, x_p) as terms,
     * the former less log P(c). */
    function voters(row) {
      const cells = resolved(row);
      const found = [];
      for (const { columns, first } of members) {
        if (columns.some((column) => cells[column] === null)) continue;
        const at = first + columns.reduce((n, column) => n * sizes[column] + cells[column], 0);
        if (weights[at] > 0) found.push({ columns, at, weight: weights[at] });
      }
      const total = found.reduce((sum, voter) => sum + voter.weight, 0);
      for (const voter of found) {
        voter.log = Math.log(voter.weight / total);
        voter.terms = [];
        cells.forEach((code, i) => {
          if (code === null || voter.columns.indexOf(i) > 0) return;
          const own = i === voter.columns[0];
          const parts = new Float64Array(k);
          for (let c = 0; c < k; c++) {
            parts[c] = table[(c * rows + voter.at) * width + starts[i] + code];
            if (own && base[c] !== -Infinity) parts[c] -= base[c];
          }
          voter.terms.push({
            columns: own ? voter.columns : [i],
            through: own ? [] : voter.columns,
            parts,
          });
        });
      }
      return found;
    }

    const answers = (cells) => voters(cells).length > 0;

    function joint(cells) {
      const found = voters(cells);
      const joints = found.map(({ log, terms }) => jointOf({ base: base.map((b) => b + log), terms }));
      return base.map((_, c) => logSum(joints.map((own) => own[c])));
    }

    function split(cells) {
      return mixed(voters(cells).map(({ log, terms }) => ({ base, terms, log })));
    }

    return { answers, joint, split };
  }

  /* Splits the log of a sum of members, each of them a split with the log of its weight. */
  function mixed(members) {
    const base = members[0].base.map((_, c) => logSum(members.map((m) => m.base[c] + m.log)));
    const found = members.map(({ terms }) => terms.map((term) => term.parts.slice()));
    for (let c = 0; c < base.length; c++) {
      const parts = members.map(({ terms }) => terms.map((term) => term.parts[c]));
      const before = members.map((member) => member.base[c] + member.log);
      const after = before.map((log, m) => parts[m].reduce((sum, part) => sum + part, log));
      const shares = sharesOfSum(after, before, parts);
      shares.forEach((own, m) => own.forEach((share, t) => (found[m][t][c] = share)));
    }
    const terms = members.flatMap((member, m) =>
      member.terms.map((term, t) => ({ ...term, parts: found[m][t] })),
    );
    return { base, terms: gathered(terms) };
  }

  /* Adds up terms of the same columns through the same parents. */
  function gathered(terms) {
    const all = new Map();
    for (const { columns, through, parts } of terms) {
      const key = `${columns}|${through}`;
      if (!all.has(key)) all.set(key, { columns, through, parts: parts.slice() });
      else all.get(key).parts.forEach((part, c, sum) => (sum[c] = part + parts[c]));
    }
    return [...all.values()];
  }

  // ---- hidden parents -------------------------------------------------------------------------

  function makeHidden(spec, model) {
    const { k, sizes, starts } = model;
    const base = model.array(spec.base);
    const alone = model.array(spec.alone);
    const bags = spec.bags.map((bag) => {
      let width = 0;
      const members = bag.members.map((column) => {
        const offset = width;
        width += sizes[column];
        return { column, offset };
      });
      return { members, width, weights: model.array(bag.weights), table: model.array(bag.table) };
    });

    /* A column's factor, and the shares of the observed members of its bag in the mean. */
    function factor(i, cells) {
      const { members, width, weights, table } = bags[i];
      const value = new Float64Array(k);
      const heard = [];
      let weight = 0;
      members.forEach(({ column, offset }, m) => {
        if (cells[column] === null) return;
        const place = cells[i] * width + offset + cells[column];
        const chances = value.map((_, c) => table[c * sizes[i] * width + place]);
        chances.forEach((chance, c) => (value[c] += chance));
        weight += weights[m];
        heard.push({ column, chances });
      });
      if (!heard.length) {
        const place = starts[i] + cells[i];
        const own = value.map((_, c) => alone[c * starts[sizes.length] + place]);
        return [{ columns: [i], through: [], parts: own }];
      }
      return heard.map(({ column, chances }) => ({
        columns: [i],
        through: [column],
        parts: chances.map((chance, c) =>
          value[c] > 0 ? (chance / value[c]) * Math.log(value[c] / weight) : -Infinity,
        ),
      }));
    }

    function split(cells) {
      const shown = Array.from(cells.keys()).filter((column) => cells[column] !== null);
      return { base, terms: shown.flatMap((column) => factor(column, cells)) };
    }

    return { joint: (cells) => jointOf(split(cells)), split };
  }

  // ---- several of these -----------------------------------------------------------------------

  const COMBINED = {
    /* One part for each class. */
    classes: (parts) => ({
      joint: (cells) => Float64Array.from(parts, (part) => part.joint(cells)[0]),
      split(cells) {
        const found = parts.map((part) => part.split(cells));
        const only = (value, label) => new Float64Array(parts.length).fill(value, label, label + 1);
        const terms = found.flatMap((own, label) =>
          own.terms.map((term) => ({ ...term, parts: only(term.parts[0], label) })),
        );
        return { base: Float64Array.from(found, (own) => own.base[0]), terms: gathered(terms) };
      },
    }),

    sum: (parts) => ({
      joint: (cells) =>
        parts.map((part) => part.joint(cells)).reduce((a, b) => a.map((value, c) => value + b[c])),
      split(cells) {
        const found = parts.map((part) => part.split(cells));
        return {
          base: found.map((own) => own.base).reduce((a, b) => a.map((value, c) => value + b[c])),
          terms: found.flatMap((own) => own.terms),
        };
      },
    }),

    /* The first part that applies; the last always does. */
    first(parts) {
      const one = (cells) => parts.find((part) => part.answers === undefined || part.answers(cells));
      return {
        joint: (cells) => one(cells).joint(cells),
        split: (cells) => one(cells).split(cells),
      };
    },

    /* The second part if the first gives every class probability 0. */
    rescue(parts) {
      const one = (cells) => parts[hopeless(parts[0].joint(cells)) ? 1 : 0];
      return {
        joint: (cells) => one(cells).joint(cells),
        split: (cells) => one(cells).split(cells),
      };
    },

    /* Log mean of joints, or of posteriors. */
    mean(parts, { posteriors }) {
      const log = -Math.log(parts.length);
      const seen = (own) => (posteriors ? posterior(own) : own);
      let last = {};

      /* The log joint of every part; the last row is remembered. */
      function jointsOf(cells) {
        if (last.cells !== cells) last = { cells, joints: parts.map((part) => part.joint(cells)) };
        return last.joints;
      }

      function joint(cells) {
        const joints = jointsOf(cells).map((own, p) => {
          return posteriors ? normalised(hopeless(own) ? parts[p].base : own) : own;
        });
        return joints[0].map((_, c) => logSum(joints.map((own) => own[c])) + log);
      }

      return {
        joint,
        split: (cells) => mixed(parts.map((part) => ({ ...seen(part.split(cells)), log }))),
        evidence: (cells) => logSum(jointsOf(cells).map(logSum)),
      };
    },
  };

  /* The split of a joint as that of its posterior; if every class has probability 0, the prior. */
  function posterior({ base, terms }) {
    const joint = jointOf({ base, terms });
    const nothing = hopeless(joint);
    const each = Array.from(base.keys());
    const shares = sharesOfSum(
      each.map((c) => joint[c]),
      each.map((c) => base[c]),
      each.map((c) => terms.map((term) => term.parts[c])),
    );
    const divided = terms.map((term, t) => {
      const norm = shares.reduce((sum, own) => sum + own[t], 0);
      return { ...term, parts: term.parts.map((part) => (nothing ? 0 : part - norm)) };
    });
    return { base: normalised(base), terms: divided };
  }

  const KINDS = {
    product: makeProduct,
    average: makeAverage,
    hidden: makeHidden,
    gaussian: unnaiveGaussian.make,
  };

  function make(spec, model) {
    if (spec.kind in KINDS) return KINDS[spec.kind](spec, model);
    const own = spec.kind === "classes" ? { ...model, k: 1 } : model;
    return COMBINED[spec.kind](
      spec.parts.map((part) => make(part, own)),
      spec,
    );
  }

  return { make, mixed, posterior };
})();
