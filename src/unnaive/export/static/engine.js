/* The engine: posterior probabilities from the tables of a fitted model.
 *
 * unnaiveEngine(document) takes what unnaive.export.model_document wrote, parsed. A row is a list of
 * cells, one for each column: the code of a value, a number in a column of numbers, or null if it
 * is unknown. A column in which missing values are a category has the cell of a missing value as
 * `missing`. Fifth of the six scripts of the engine.
 */
const unnaiveEngine = (function () {
  "use strict";

  const { logSum, hopeless, normalised, jointOf, logOdds, entropy } = unnaiveLogs;

  function bytesOf(text) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes;
  }

  /* Doubles, or distinct doubles and positions of one or two bytes. */
  function decoded(entry) {
    const values = new Float64Array(bytesOf(entry.values).buffer);
    if (entry.places === undefined) return values;
    const bytes = bytesOf(entry.places);
    const places = entry.width === 1 ? bytes : new Uint16Array(bytes.buffer);
    const all = new Float64Array(places.length);
    for (let i = 0; i < all.length; i++) all[i] = values[places[i]];
    return all;
  }

  /* The cell of a typed number: its bin, its category or itself; null if there is none. */
  function codeOf(column, number) {
    if (!Number.isFinite(number)) return null;
    if (column.kind === "number") return number;
    if (column.kind === "bins") return column.edges.filter((edge) => edge < number).length;
    const code = column.values.findIndex((v) => typeof v !== "string" && Number(v) === number);
    return code < 0 ? null : code;
  }

  function scaled({ base, terms }, { temperature, bias }) {
    return {
      base: base.map((value, c) => temperature * value + bias[c]),
      terms: terms.map((t) => ({ ...t, parts: t.parts.map((part) => temperature * part) })),
    };
  }

  /* One model: calibrated log joints; the prior where every class has probability 0. */
  function single(document, array) {
    const sizes = document.columns.map((column) => (column.labels ?? []).length);
    const starts = [0];
    for (const size of sizes) starts.push(starts[starts.length - 1] + size);
    const prior = array(document.prior);
    const context = { k: prior.length, sizes, starts, array };
    const root = unnaiveKinds.make(document.tables, context);
    const scale = {
      temperature: document.calibration?.temperature ?? 1,
      bias: document.calibration ? array(document.calibration.bias) : prior.map(() => 0),
    };
    const calibrated = (joint) => scaled({ base: joint, terms: [] }, scale).base;
    let last = {};

    /* Log joints of the tables; the last row is remembered. */
    function looked(row) {
      if (last.row !== row) last = { row, joint: root.joint(row) };
      return last.joint;
    }

    const joint = (row) => calibrated(hopeless(looked(row)) ? prior : looked(row));

    function split(row) {
      const found = root.split(row);
      if (!hopeless(jointOf(found))) return scaled(found, scale);
      const terms = found.terms.map((term) => ({ ...term, parts: term.parts.map(() => 0) }));
      return scaled({ base: prior, terms }, scale);
    }

    const evidence = (row) => root.evidence?.(row) ?? logSum(calibrated(looked(row)));
    return { joint, split, evidence, interval: intervalsOf(document, context, looked, scale) };
  }

  /* A function from rows to intervals, or null if the document has none. Where missing parents are
   * summed out, the mean is shifted by what that changes in the log joint. */
  function intervalsOf({ certainty, columns }, context, looked, { temperature, bias }) {
    if (!certainty) return null;
    const [means, variances, thirds] = certainty.cumulants.map((t) => unnaiveKinds.make(t, context));
    const ignored = certainty.ignored && unnaiveKinds.make(certainty.ignored, context);
    return (row, level) => {
      const gaps = ignored && row.some((cell, i) => cell === null && columns[i].used);
      const [whole, apart] = gaps ? [looked(row), ignored.joint(row)] : [[], []];
      const [mean, variance, third] = [means, variances, thirds].map((own) => own.joint(row));
      const variables = Array.from(mean, (value, c) => {
        const shift = gaps ? whole[c] - apart[c] : 0;
        return {
          mean: temperature * (value + (Number.isFinite(shift) ? shift : 0)) + bias[c],
          variance: temperature ** 2 * variance[c],
          third: temperature ** 3 * third[c],
        };
      });
      return unnaiveCertainty.intervals(variables, level);
    };
  }

  /* A cell of a column as a cell of the same column in another model. */
  function translated(cell, from, to) {
    if (cell === null) return null;
    if (cell === from.missing) return to.missing ?? null;
    if (from.kind !== "category") return codeOf(to, cell);
    if (to.kind !== "category") return codeOf(to, Number(from.values[cell]));
    if (to.labels[cell] === from.labels[cell]) return cell;
    const code = to.labels.indexOf(from.labels[cell]);
    return code < 0 ? null : code;
  }

  /* Several models: the log of the weighted mean of their posteriors. */
  function blend(document, array) {
    const members = document.members.map((member, m) => ({
      own: single(member, array),
      scale: { temperature: member.scale.temperature, bias: array(member.scale.bias) },
      log: Math.log(member.weight),
      rowOf: (row) =>
        row.byMember?.[m] ??
        row.map((cell, i) => translated(cell, document.columns[i], member.columns[i])),
    }));
    let last = {};

    function jointsOf(row) {
      const look = ({ own, scale, rowOf }) =>
        scaled({ base: own.joint(rowOf(row)), terms: [] }, scale).base;
      if (last.row !== row) last = { row, joints: members.map(look) };
      return last.joints;
    }

    function joint(row) {
      const logs = jointsOf(row).map(normalised);
      return logs[0].map((_, c) => logSum(logs.map((own, m) => own[c] + members[m].log)));
    }

    function split(row) {
      const found = members.map(({ own, scale, log, rowOf }) => {
        return { ...unnaiveKinds.posterior(scaled(own.split(rowOf(row)), scale)), log };
      });
      return unnaiveKinds.mixed(found);
    }

    const evidence = (row) => logSum(jointsOf(row).map((own, m) => logSum(own) + members[m].log));
    return { joint, split, evidence };
  }

  return function (document) {
    const { columns, classes } = document;
    const made = [];
    const array = (place) => (made[place] ??= decoded(document.arrays[place]));
    const model = document.members ? blend(document, array) : single(document, array);

    /* A row of the right length; invalid cells count as missing. */
    function checked(cells) {
      if (cells.length !== columns.length) {
        throw new RangeError(`a row has ${cells.length} cells; it needs ${columns.length}`);
      }
      if (cells.byMember) return cells;
      return Array.from(cells, (cell, i) => {
        if (cell !== undefined && cell === columns[i].missing) return cell;
        if (typeof cell !== "number" || !Number.isFinite(cell)) return null;
        const { kind, labels } = columns[i];
        return kind === "number" || (cell >= 0 && cell < labels.length) ? cell : null;
      });
    }

    const splitOf = (cells) => model.split(checked(cells));
    const posteriorOf = (row) => normalised(model.joint(row));
    const filled = (row, column, cell) => row.map((own, i) => (i === column ? cell : own));

    /* Entropy of the class for every value of a column, and the log probabilities of the values. */
    function values(column, row) {
      const { points, labels } = columns[column];
      const [logs, left] = [[], []];
      for (const cell of points ?? labels.keys()) {
        const answer = filled(row, column, cell);
        logs.push(model.evidence(answer));
        left.push(entropy(posteriorOf(answer)));
      }
      return { logs: normalised(hopeless(logs) ? logs.map(() => 0) : logs), left };
    }

    /* The same at the points of a Gauss–Hermite quadrature in every class, whose log joint is a
     * parabola in the number: three points determine its mean and variance. */
    function numbers(column, row) {
      const { low, high } = columns[column];
      const [centre, step] = [(low + high) / 2, (high - low) / 6 || 1];
      const around = [-step, 0, step].map((by) => model.joint(filled(row, column, centre + by)));
      const [nodes, weights] = document.hermite.map(array);
      const [logs, left] = [[], []];
      posteriorOf(row).forEach((chance, c) => {
        const [below, at, above] = around.map((joint) => joint[c]);
        const variance = step ** 2 / (2 * at - below - above);
        if (chance === -Infinity || !(variance > 0 && variance < Infinity)) return;
        const mean = centre + (variance * (above - below)) / (2 * step);
        nodes.forEach((node, h) => {
          const answer = filled(row, column, mean + Math.sqrt(2 * variance) * node);
          logs.push(chance + Math.log(weights[h] / Math.sqrt(Math.PI)));
          left.push(entropy(posteriorOf(answer)));
        });
      });
      return { logs, left };
    }

    /* Expected information of a column about the class, in bits. */
    function information(column, row) {
      const { kind, points } = columns[column];
      const { logs, left } = (kind === "number" && !points ? numbers : values)(column, row);
      if (!logs.length) return 0;
      const rest = left.reduce((sum, nats, i) => sum + Math.exp(logs[i]) * nats, 0);
      return Math.max(0, entropy(posteriorOf(row)) - rest) / Math.LN2;
    }

    return {
      columns,
      classes,
      /* Log joint of every class. */
      joint: (cells) => model.joint(checked(cells)),
      /* P(class | cells) of every class. */
      posterior: (cells) => posteriorOf(checked(cells)).map(Math.exp),
      /* The log joint as a base and what each term adds: {base: [k], terms: [{columns, through,
       * contributions: [k]}]}. */
      explain(cells) {
        const { base, terms } = splitOf(cells);
        const named = terms.map((t) => ({
          columns: t.columns,
          through: t.through,
          contributions: t.parts,
        }));
        return { base, terms: named };
      },
      /* The same for log P(class) / (1 − P(class)): {base, terms: [{…, contribution}]}. */
      logOdds(cells, classIndex) {
        const found = splitOf(cells);
        const { base, parts } = logOdds(found, classIndex);
        const terms = found.terms.map(({ columns: own, through }, t) => ({
          columns: own,
          through,
          contribution: parts[t],
        }));
        return { base, terms };
      },
      /* Missing columns by expected information in bits, the largest first. */
      askNext(cells) {
        const row = checked(cells);
        return columns
          .map((column, i) => ({ column: i, asked: row[i] === null && column.used }))
          .filter(({ asked }) => asked)
          .map(({ column }) => ({ column, bits: information(column, row) }))
          .sort((a, b) => b.bits - a.bits || a.column - b.column);
      },
      /* {lower, median, upper}: quantiles of P(class | cells) of every class; null for models
       * whose document has no intervals. */
      interval: model.interval ? (cells, level = 0.9) => model.interval(checked(cells), level) : null,
      codeOf: (column, number) => codeOf(columns[column], number),
      /* Bias of every class when a label is chosen, or null. */
      bias: document.threshold_bias === null ? null : array(document.threshold_bias),
    };
  };
})();
