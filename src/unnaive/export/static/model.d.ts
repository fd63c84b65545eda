/** A value of a column; null, undefined and NaN are missing. */
export type Value = string | number | boolean | null | undefined;

/** Values by column name, or all values in the order of `columns`. Absent names are missing. */
export type Row = Readonly<Record<string, Value>> | readonly Value[];

export type Label = string | number | boolean;

export interface Prediction {
  /** The most probable class, the first one on ties. */
  label: Label;
  /** P(class | row), in the order of `classes`. */
  probabilities: number[];
}

export interface Contribution {
  /** The columns whose values contribute. */
  columns: string[];
  /** Other columns on whose values the contribution depends. */
  through: string[];
  /** What they add to the log-odds of the class. */
  contribution: number;
}

export interface Explanation {
  label: Label;
  probability: number;
  /** Log-odds of the class before any value is known. */
  base: number;
  /** Together with `base` they add up to the log-odds; the largest comes first. */
  contributions: Contribution[];
}

/** Labels of the classes. */
export const classes: readonly Label[];

/** Names of the columns. */
export const columns: readonly string[];

/**
 * Predict the class of a row. Throws a TypeError for text in a column of numbers, and a RangeError
 * for a column that the model does not have.
 */
export function predict(row: Row): Prediction;

/** Explain the probability of a class, by default the predicted one. */
export function explain(row: Row, label?: Label): Explanation;

export interface Interval {
  /** Quantiles of P(class | row), in the order of `classes`. */
  lower: number[];
  median: number[];
  upper: number[];
}

/** Credible intervals, by default of 90 %. Throws a RangeError if they were not exported. */
export function interval(row: Row, level?: number): Interval;
