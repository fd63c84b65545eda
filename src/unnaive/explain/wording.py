"""Explanations in words, for who decides."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from unnaive.explain.cells import MISSING

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, Label
    from unnaive.explain.explanation import Explanation

_SLIGHT = 0.005  # log-odds that nobody needs to read


def percent(chance: float) -> str:
    """Say a probability in percent, never 0 or 100 where it is not.

    Examples
    --------
    >>> percent(0.912), percent(0.00004), percent(0.99991), percent(1.0)
    ('91.2 %', 'below 0.1 %', 'above 99.9 %', '100 %')
    """
    if chance in (0.0, 1.0):
        return f"{chance:.0%}".replace("%", " %")
    if not 0.001 <= chance <= 0.999:
        return "below 0.1 %" if chance < 0.5 else "above 99.9 %"
    return f"{100 * chance:.{0 if 0.1 <= chance <= 0.9 else 1}f} %"


def times(log_odds: float) -> str:
    """Say by what the odds are multiplied.

    Examples
    --------
    >>> times(math.log(2.5)), times(math.log(0.04)), times(-math.inf)
    ('odds × 2.5', 'odds ÷ 25', 'odds × 0')
    """
    if math.isinf(log_odds):
        return "odds × ∞" if log_odds > 0 else "odds × 0"  # noqa: RUF001
    size = math.exp(min(abs(log_odds), 700.0))
    shown = f"{size:,.0f}" if size >= 10 else f"{size:.2g}"
    return f"odds {'×' if log_odds >= 0 else '÷'} {shown}"  # noqa: RUF001


def in_words(found: Explanation, row: int, positive: Label, most: int) -> str:
    """Explain one row, see :meth:`Explanation.text`."""
    row = found.require_row(row)
    odds = found.log_odds(positive, by="group")
    label, parts = odds.positive[row], odds.contributions[row]
    chance, before = float(odds.probability[row]), float(expit(odds.base[row]))
    said_before = f"(without any attribute {percent(before)})"
    lines = [f"{found.target} = {label}: {percent(chance)} {said_before}"]
    if np.isneginf(found.log_evidence[row]):
        lines.append("No class gives this row any chance, so the answer is that of no attribute.")
    said = [_said(found, row, group) for group in found.groups]
    order = sorted(range(len(parts)), key=lambda place: (-abs(parts[place]), place))
    told = [place for place in order if abs(parts[place]) >= _SLIGHT]
    width = max((len(said[place]) for place in told[:most]), default=0)
    for sign, title in ((1, f"for {label}"), (-1, f"against {label}")):
        mine = [place for place in told[:most] if sign * parts[place] > 0]
        if mine:
            lines.append(f"  {title}")
        lines += [
            f"    {said[place]:<{width}}  {parts[place]:+7.2f}  {times(parts[place])}"
            for place in mine
        ]
    rest = told[most:]
    if rest:
        total = float(parts[rest].sum())
        lines.append(f"  {len(rest)} weaker attributes together {total:+.2f}, {times(total)}")
    for title, members in _silent(found, row, parts).items():
        if members:
            lines.append(f"  {title}: {', '.join(members)}")
    return "\n".join(lines)


def _said(found: Explanation, row: int, group: tuple[int, ...]) -> str:
    """Name what a row has in some columns, and what that is seen together with."""
    there = [c for c in group if found.observed[row, c]] or list(group)
    own = ", ".join(_cell(found, row, c) for c in there)
    terms = [term for term in found.terms if set(term.columns) & set(group)]
    above = [c for c in terms[0].through if found.observed[row, c]] if len(terms) == 1 else []
    if not above or len(above) > 3:
        return own
    return f"{own}, given {', '.join(_cell(found, row, c) for c in above)}"


def _cell(found: Explanation, row: int, column: int) -> str:
    return f"{found.names[column]} = {found.cells[row, column]}"


def _silent(found: Explanation, row: int, parts: FloatArray) -> dict[str, list[str]]:
    """Columns that say nothing, by the reason."""
    used = {column for term in found.terms for column in term.columns}
    missing = [c for c in sorted(used) if not found.observed[row, c]]
    silent = [
        c
        for group, part in zip(found.groups, parts, strict=True)
        for c in group
        if abs(part) < _SLIGHT and c in used and c not in missing
    ]
    unused = [c for c in range(len(found.names)) if c not in used]
    return {
        "not known": [_unknown(found, row, c) for c in missing],
        "of no weight here": [_cell(found, row, c) for c in silent],
        "not in the model": [found.names[c] for c in unused],
    }


def _unknown(found: Explanation, row: int, column: int) -> str:
    absent = found.cells[row, column] == MISSING
    return found.names[column] if absent else _cell(found, row, column)
