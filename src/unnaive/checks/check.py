"""The data check: what is wrong with rows before a model is fitted to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.checks.duplicates import check_duplicate_columns, check_duplicate_rows
from unnaive.checks.facts import Facts
from unnaive.checks.features import check_column, check_constants, check_leakage, is_constant
from unnaive.checks.finding import FREE_TEXT, IDENTIFIER, SEVERITIES, DataCheck, Finding
from unnaive.checks.labels import date_finding
from unnaive.checks.target import check_target, is_continuous
from unnaive.io.frames import dates_as_text, table_with_target, to_column, to_frame

if TYPE_CHECKING:
    from unnaive.io.frames import Column, Frame


def check_data(X: object, y: object = None, *, target: str | None = None) -> DataCheck:
    """Look for problems in the data before a model is fitted to it.

    The check finds columns that should not be used (identifiers, free text, a column that decides
    the class by itself), columns that are not read as they should be (numbers with separators
    or words, dates, mixed spellings), columns without information (constant, missing,
    duplicates), and problems of the target (missing labels, numbers instead of classes, rare
    classes). It changes and prints nothing.

    Parameters
    ----------
    X : array, data frame or list of mappings, of shape (n_samples, n_features)
        The features: whatever a model's ``fit`` takes. With ``target``, also the target.
    y : array of shape (n_samples,), or str, default=None
        Class labels, or the name of their column in X. None and no ``target``: only the features
        are checked.
    target : str, default=None
        The same name, instead of y.

    Returns
    -------
    DataCheck
        The findings, most severe first, and the columns to leave out.

    Raises
    ------
    ValueError
        If y and ``target`` are both given, or do not fit X.

    See Also
    --------
    DataCheck : The result.
    Finding : One of the findings, with evidence and cure.

    Examples
    --------
    >>> import unnaive
    >>> rows = [{"pulse": 60 + i % 30 if i % 20 else "not measured"} for i in range(60)]
    >>> print(unnaive.check_data(rows, ["ill", "well", "well"] * 20).text())
    1 warning in 60 rows and 1 column
    warning Column 'pulse' has 57 numbers and 3 × 'not measured'; it is read as text.
            Make these words missing values: pandas.to_numeric(X['pulse'], errors='coerce') in
            Python, --missing 'not measured' on the command line.
    """
    X, dates = dates_as_text(X)
    frame, labels = _read(X, y, target)
    every = [Facts.of(frame.column(index)) for index in range(len(frame.names))]
    goal = None if labels is None else Facts.of(labels)
    findings = _findings([facts for facts in every if facts.name not in dates], goal)
    for facts in every:
        if facts.name in dates:
            findings.append(date_finding(facts.name, facts.size, so="models do not take dates"))
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return DataCheck(tuple(findings), frame.n_rows, len(every))


def _read(X: object, y: object, target: str | None) -> tuple[Frame, Column | None]:
    frame = to_frame(X)
    if target is not None:
        if y is not None:
            raise ValueError(f"both y and target={target!r} were given; give only one of them")
        return frame.split(target)
    if isinstance(y, str):
        return table_with_target(X, y)
    labels = None if y is None else to_column(y)
    if labels is not None and len(labels.values) != frame.n_rows:
        raise ValueError(f"X has {frame.n_rows:,} rows and y has {len(labels.values):,} labels")
    return frame, labels


def _findings(every: list[Facts], goal: Facts | None) -> list[Finding]:
    findings = [] if goal is None else check_target(goal)
    by_column = [check_column(facts) for facts in every]
    left_out = {
        finding.columns[0]
        for one in by_column
        for finding in one
        if finding.kind in {IDENTIFIER, FREE_TEXT}
    }
    useful = [facts for facts in every if facts.name not in left_out]
    findings += _leakages(useful, goal)
    findings += [finding for one in by_column for finding in one]
    findings += check_constants(every)
    informative = [facts for facts in useful if facts.n_observed and not is_constant(facts)]
    findings += check_duplicate_columns(informative)
    rows = useful if goal is None else [*useful, goal]
    return findings + check_duplicate_rows(rows, len(every) + (goal is not None))


def _leakages(every: list[Facts], goal: Facts | None) -> list[Finding]:
    """Find columns that decide the class, on the rows whose class is known."""
    if goal is None or is_continuous(goal) or goal.table is None or len(goal.table[0]) < 2:
        return []
    classes = goal.table[2].astype(np.int64)
    if goal.n_missing:
        rows = np.flatnonzero(classes >= 0)
        every = [Facts.of(facts.column.take(rows)) for facts in every]
        classes = classes[rows]
    found = [check_leakage(one, classes, len(goal.table[0]), goal.name) for one in every]
    return [finding for finding in found if finding is not None]
