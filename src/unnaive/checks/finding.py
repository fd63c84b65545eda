"""Findings of the data check: what is wrong with which columns, and what to do about it."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING

from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive._typing import State

# Kinds of findings about columns
IDENTIFIER = "identifier"
FREE_TEXT = "free text"
LEAKAGE = "leakage"
CONSTANT = "constant"
ALL_MISSING = "all missing"
MOSTLY_MISSING = "mostly missing"
DUPLICATE_COLUMNS = "duplicate columns"
NUMBERS_AND_WORDS = "numbers and words"
NUMBERS_AS_TEXT = "numbers as text"
SEPARATORS = "separators"
SPELLINGS = "spellings"
DATES = "dates"
# Kinds of findings about the target and the rows
CONTINUOUS_TARGET = "continuous target"
MISSING_TARGET = "missing target"
ONE_CLASS = "one class"
MANY_CLASSES = "many classes"
RARE_CLASS = "rare class"
DUPLICATE_ROWS = "duplicate rows"

# Severities, most severe first
ERROR = "error"  # no classifier can be fitted
WARNING = "warning"  # the result is probably wrong or misleading
NOTE = "note"  # the result is right, but the data can be improved
SEVERITIES = (ERROR, WARNING, NOTE)
_NAMED = 4  # names that a sentence lists


@dataclass(frozen=True)
class Finding:
    """One problem of the data: its kind, the columns, the evidence and the cure.

    Parameters
    ----------
    kind : str
        One of the constants of :mod:`unnaive.checks`, such as ``IDENTIFIER`` or ``LEAKAGE``.
    columns : tuple of str
        Names of the columns concerned, or of the target. Empty if it concerns whole rows.
    severity : {"error", "warning", "note"}
        "error": no classifier can be fitted. "warning": the result is probably wrong or
        misleading. "note": the data can be improved.
    evidence : str
        One sentence with figures.
    cure : str
        One sentence that says what to do.

    See Also
    --------
    check_data : Looks for findings.

    Examples
    --------
    >>> from unnaive.checks import Finding, CONSTANT
    >>> Finding(CONSTANT, ("site",), "note", "Column 'site' is constant.", "Leave it out.").columns
    ('site',)
    """

    kind: str
    columns: tuple[str, ...]
    severity: str
    evidence: str
    cure: str


@dataclass(frozen=True, repr=False)
class DataCheck:
    """The result of :func:`check_data`.

    Parameters
    ----------
    findings : tuple of Finding
        The findings, most severe first. Empty if nothing was found.
    n_rows : int
        Number of rows.
    n_columns : int
        Number of columns, without the target.

    Attributes
    ----------
    leave_out : list of str
        Identifiers and columns of free text. They cannot help to classify new rows; the command
        line leaves them out by default.

    See Also
    --------
    check_data : Makes a check.

    Examples
    --------
    >>> import unnaive
    >>> rows = [{"patient": f"P{i}", "site": "A", "age": 20 + i % 50} for i in range(100)]
    >>> check = unnaive.check_data(rows, ["ill", "well"] * 50)
    >>> check
    <DataCheck: 1 warning, 1 note in 100 rows and 3 columns; leave out 'patient'>
    >>> [(finding.kind, finding.columns) for finding in check.findings]
    [('identifier', ('patient',)), ('constant', ('site',))]
    """

    findings: tuple[Finding, ...]
    n_rows: int
    n_columns: int

    @property
    def leave_out(self) -> list[str]:
        """Names of identifiers and of columns of free text, for ``X.drop(columns=…)``."""
        return [
            name
            for finding in self.findings
            if finding.kind in {IDENTIFIER, FREE_TEXT}
            for name in finding.columns
        ]

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """Return the findings as text, two sentences per finding.

        Returns
        -------
        str
            A line with the numbers, then for each finding its severity, evidence and cure.
        """
        lines = [self._summary()]
        for finding in self.findings:
            lines.append(f"{finding.severity:<8}{finding.evidence}")
            lines.append(f"{'':<8}{finding.cure}")
        return "\n".join(lines)

    def to_dict(self) -> State:
        """Return the check as plain values, for JSON.

        Returns
        -------
        dict
            "rows", "columns", "leave_out" and "findings", a list of dictionaries.
        """
        findings = [{**asdict(one), "columns": list(one.columns)} for one in self.findings]
        return {
            "rows": self.n_rows,
            "columns": self.n_columns,
            "leave_out": self.leave_out,
            "findings": findings,
        }

    def _summary(self) -> str:
        times = Counter(finding.severity for finding in self.findings)
        counted = [
            f"{times[severity]} {severity}{'s' * (times[severity] > 1)}"
            for severity in SEVERITIES
            if times[severity]
        ]
        found = ", ".join(counted) or "no findings"
        columns = f"{self.n_columns:,} column{'s' * (self.n_columns != 1)}"
        return f"{found} in {self.n_rows:,} rows and {columns}"

    def __repr__(self) -> str:
        left = ", ".join(map(repr, self.leave_out))
        return f"<DataCheck: {self._summary()}{f'; leave out {left}' if left else ''}>"

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{escape(one.severity)}</td><td>{escape(one.kind)}</td>"
            f"<td style='text-align:left'>{escape(one.evidence)} {escape(one.cure)}</td></tr>"
            for one in self.findings
        )
        table = (
            f"<table><thead><tr><th>severity</th><th>kind</th><th>finding</th></tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )
        return f"<p>{escape(self._summary())}</p>{table if self.findings else ''}"


def listed(values: Iterable[object], shown: int = _NAMED) -> str:
    """Return some values as text: 'a', 'b', 'c' and 5 more.

    >>> listed("abcdef"), listed("a")
    ("'a', 'b', 'c', 'd' and 2 more", "'a'")
    """
    every = [repr(value) for value in values]
    more = f" and {len(every) - shown:,} more" if len(every) > shown else ""
    return ", ".join(every[:shown]) + more


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.0042), percent(0.25), percent(1.0)
    ('0.42 %', '25 %', '100 %')
    """
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.4g} %"


def columns(names: Sequence[str]) -> str:
    """Return the subject of a sentence: Column 'a', or Columns 'a', 'b'."""
    return f"Column{'s' * (len(names) > 1)} {listed(names)}"


def left_out(names: Sequence[str], *, default: bool = False) -> str:
    """Say how to leave columns out, in Python and on the command line."""
    options = " ".join(f"--ignore {shlex.quote(name)}" for name in names[:_NAMED])
    python = f"X.drop(columns={list(names)!r}) in pandas" if len(names) <= _NAMED else "in Python"
    what = "it" if len(names) == 1 else "them"
    if not default:
        return f"Leave {what} out: {python}, {options} on the command line."
    keep = " ".join(f"--keep {shlex.quote(name)}" for name in names[:_NAMED])
    return f"Leave {what} out: {python}; the command line leaves {what} out unless you say {keep}."
