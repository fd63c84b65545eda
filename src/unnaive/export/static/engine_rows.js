/* Rows of plain values: predictions and explanations. Last of the six scripts of the engine.
 *
 * unnaiveModel(document) reads values as Python does: null, undefined and NaN are missing, a value
 * that did not occur in training counts as missing, and text in a column of numbers is an error.
 */
const unnaiveModel = (function () {
  "use strict";

  const TIE = 1e-10; // probabilities whose logarithms differ by less are equal, and the first wins

  function refuse(column, value, needed) {
    throw new TypeError(`column "${column.name}" has the value ${JSON.stringify(value)}; ${needed}`);
  }

  const keyOf = (value) => (typeof value === "boolean" ? Number(value) : value);

  /* Codes of the values of a column of categories. */
  function codesOf({ values, others }) {
    const codes = new Map((others ?? []).map((value) => [keyOf(value), values.length - 1]));
    values.forEach((value, code) => codes.set(keyOf(value), code));
    return codes;
  }

  /* A function from values of a column to cells of the engine. */
  function reader(column) {
    const { kind, edges, missing } = column;
    const codes = kind === "category" ? codesOf(column) : null;
    const types = new Set((column.values ?? []).map((value) => typeof keyOf(value)));
    return (value) => {
      if (value === null || value === undefined || Number.isNaN(value)) return missing ?? null;
      if (value === Infinity || value === -Infinity) refuse(column, String(value), "use null if it is missing");
      const key = keyOf(value);
      if (codes !== null) {
        const other = types.size === 1 && typeof value !== "boolean" && !types.has(typeof key);
        if (other) refuse(column, value, `it needs a ${[...types][0]}`);
        return codes.get(key) ?? null;
      }
      if (typeof key !== "number") refuse(column, value, "it needs a number");
      if (kind === "number") return key;
      let [low, high] = [0, edges.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (edges[middle] < key) low = middle + 1;
        else high = middle;
      }
      return low;
    };
  }

  return function (document) {
    const engine = unnaiveEngine(document);
    const names = document.columns.map((column) => column.name);
    const known = new Set([...names, document.target]);
    const readersOf = ({ columns }) => columns.map(reader);
    const readers = (document.members ?? [document]).map(readersOf);

    /* Values in the order of the columns. */
    function valuesOf(row) {
      if (Array.isArray(row)) {
        if (row.length === names.length) return row;
        throw new RangeError(`a row has ${row.length} values; it needs ${names.length}`);
      }
      if (row === null || typeof row !== "object") {
        throw new TypeError("a row is an object, value by column name, or an array of values");
      }
      const strange = Object.keys(row).find((name) => !known.has(name));
      if (strange !== undefined) throw new RangeError(`there is no column "${strange}"`);
      return names.map((name) => (Object.hasOwn(row, name) ? row[name] : null));
    }

    function cellsOf(row) {
      const values = valuesOf(row);
      const cells = readers.map((own) => own.map((read, i) => read(values[i])));
      return document.members ? Object.assign([...values], { byMember: cells }) : cells[0];
    }

    function chosen(chances) {
      const scores = chances.map((chance, c) => chance + (engine.bias?.[c] ?? 0));
      const best = Math.max(...scores);
      return scores.findIndex((score) =>
        engine.bias === null ? score >= best * Math.exp(-TIE) : score >= best - TIE,
      );
    }

    function predicted(cells) {
      const probabilities = Array.from(engine.posterior(cells));
      return { code: chosen(probabilities), probabilities };
    }

    return {
      classes: document.labels,
      columns: names,
      predict(row) {
        const { code, probabilities } = predicted(cellsOf(row));
        return { label: document.labels[code], probabilities };
      },
      interval(row, level = 0.9) {
        if (engine.interval === null) throw new RangeError("the model was exported without intervals");
        if (!(level > 0 && level < 1)) throw new RangeError("level must be between 0 and 1");
        return engine.interval(cellsOf(row), level);
      },
      explain(row, label) {
        const cells = cellsOf(row);
        const { code: best, probabilities } = predicted(cells);
        const code = label === undefined ? best : document.labels.indexOf(label);
        if (code < 0) throw new RangeError(`there is no class ${JSON.stringify(label)}`);
        const { base, terms } = engine.logOdds(cells, code);
        const contributions = terms
          .map(({ columns, through, contribution }) => ({
            columns: columns.map((column) => names[column]),
            through: through.map((column) => names[column]),
            contribution,
          }))
          .sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
        const probability = probabilities[code];
        return { label: document.labels[code], probability, base, contributions };
      },
    };
  };
})();

export { unnaiveEngine, unnaiveModel };
