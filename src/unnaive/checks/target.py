"""Checks of the target: missing labels, spellings, the number of classes and their sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive.checks.facts import FEW_VALUES
from unnaive.checks.finding import (
    CONTINUOUS_TARGET,
    ERROR,
    MANY_CLASSES,
    MISSING_TARGET,
    NOTE,
    NUMBERS_AS_TEXT,
    ONE_CLASS,
    RARE_CLASS,
    WARNING,
    Finding,
    listed,
    percent,
)
from unnaive.checks.labels import check_numbers, check_spellings, kinds_of

if TYPE_CHECKING:
    from unnaive.checks.facts import Facts

_MANY_CLASSES = 30
_FEW_ROWS = 5  # rows that a class needs for cross-validation with five folds
_CUT = "Cut it into classes, for example with pandas.cut(y, [18, 65]), or use a regression method."


def check_target(facts: Facts) -> list[Finding]:
    """Check the target; a finding is an error if no classifier can be fitted."""
    name, findings = facts.name, []
    if facts.n_missing:
        findings.append(
            Finding(
                MISSING_TARGET,
                (name,),
                ERROR,
                f"The target {name!r} is missing in {facts.n_missing:,} of {facts.n_rows:,} rows "
                f"({percent(facts.n_missing / facts.n_rows)}).",
                f"Drop these rows: frame.dropna(subset=[{name!r}]) in pandas; for the command "
                "line, remove them from the file.",
            )
        )
    if not facts.n_observed:
        return findings
    return findings + (_check_continuous(facts) or _check_classes(facts))


def is_continuous(facts: Facts) -> bool:
    """Whether a target has fractions, or whole numbers of more values than classes have."""
    if facts.column.is_text or facts.table is not None:
        fractions = not facts.column.is_text and not facts.is_whole
        return fractions and facts.size > 1
    return True


def _check_continuous(facts: Facts) -> list[Finding]:
    if is_continuous(facts):
        low, high = facts.numbers.min(), facts.numbers.max()
        fractions = "" if facts.is_whole else ", with fractions"
        evidence = (
            f"The target {facts.name!r} is continuous: {facts.size:,} different numbers from "
            f"{low:g} to {high:g}{fractions}."
        )
        return [Finding(CONTINUOUS_TARGET, (facts.name,), ERROR, evidence, _CUT)]
    kinds = kinds_of(facts)
    written = None if kinds is None else check_numbers(facts, kinds, f"The target {facts.name!r}")
    if written is None or (written.kind == NUMBERS_AS_TEXT and facts.size <= FEW_VALUES):
        return []
    return [replace(written, severity=ERROR, cure=f"{written.cure} {_CUT}")]


def _check_classes(facts: Facts) -> list[Finding]:
    """Check the number of classes and their sizes; classes have a table."""
    if facts.table is None:
        return []
    name, counts, n = facts.name, facts.table[1], facts.n_observed
    if len(counts) == 1:
        evidence = f"The target {name!r} has one class only: {facts.labels[0]!r} in {n:,} row"
        evidence += "s." if n > 1 else "."
        cure = "Add rows of another class, or choose another target."
        return [Finding(ONE_CLASS, (name,), ERROR, evidence, cure)]
    spellings = check_spellings(facts, target=True)
    findings = [] if spellings is None else [spellings]
    if len(counts) > _MANY_CLASSES:
        findings.append(
            Finding(
                MANY_CLASSES,
                (name,),
                WARNING,
                f"The target {name!r} has {len(counts):,} classes in {n:,} rows.",
                "Merge classes, or check that this column is the target.",
            )
        )
        return findings
    rare = np.flatnonzero(counts < _FEW_ROWS)
    if len(rare):
        labels = facts.labels
        shown = ", ".join(f"{labels[place]!r} in {counts[place]:,}" for place in rare[:4])
        more = f" and {len(rare) - 4} more" if len(rare) > 4 else ""
        findings.append(
            Finding(
                RARE_CLASS,
                (name,),
                NOTE,
                f"The target {name!r} has classes of few rows: {shown}{more} of {n:,} rows.",
                f"Add rows of {listed([labels[place] for place in rare], 4)}, merge classes, or "
                "leave these rows out; cross-validation needs a row of every class in each fold.",
            )
        )
    return findings
