"""Explanations in words, and how numbers are written in explanations, plots and reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from unnaive._html import html_table
from unnaive.schema.columns import MISSING_VALUES

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, Label
    from unnaive.explain.explanation import Explanation

_SHOWN_ROWS, _SHOWN_LINES = 3, 12  # of an explanation in a notebook


def percent(share: float, digits: int | None = None) -> str:
    """Write a probability or a share in percent, never as 0 or 100 % where it is not.

    Without ``digits``, shares below 10 % and above 90 % have one digit after the point.

    Examples
    --------
    >>> percent(0.912), percent(0.6), percent(0.00004), percent(0.99991), percent(1.0)
    ('91.2 %', '60 %', '< 0.1 %', '> 99.9 %', '100 %')
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    least = 10.0 ** -(2 + (1 if digits is None else digits))
    if not least / 2 <= share <= 1 - least / 2:
        return f"< {100 * least:g} %" if share < 0.5 else f"> {100 - 100 * least:g} %"
    if digits is None:
        digits = 0 if 0.1 <= share <= 0.9 else 1
    return f"{100 * share:.{digits}f} %"


def signed(log_odds: float) -> str:
    """Write a contribution with its sign; what rounds to zero has none.

    Examples
    --------
    >>> signed(1.25), signed(-0.004), signed(-math.inf)
    ('+1.25', '0.00', '-∞')
    """
    return "0.00" if is_slight(log_odds) else f"{log_odds:+.2f}".replace("inf", "∞")


def is_slight(log_odds: float) -> bool:
    """Whether a contribution is 0.00 where two digits are shown."""
    return abs(log_odds) < 0.005


def times(log_odds: float) -> str:
    """Write the factor by which a contribution multiplies the odds.

    Examples
    --------
    >>> times(math.log(2.5)), times(math.log(0.04)), times(0.01), times(-math.inf)
    ('odds × 2.5', 'odds ÷ 25', 'odds × 1.01', 'odds × 0')
    """
    if math.isinf(log_odds):
        return "odds × ∞" if log_odds > 0 else "odds × 0"  # noqa: RUF001
    size = math.exp(min(abs(log_odds), 700.0))
    shown = f"{size:,.0f}" if size >= 9.95 else f"{size:.2g}" if size >= 1.095 else f"{size:.2f}"
    return f"odds {'×' if log_odds >= 0 else '÷'} {shown}"  # noqa: RUF001


def plural(count: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "column"), plural(2500, "row"), plural(2, "class")
    ('1 column', '2,500 rows', '2 classes')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def in_words(found: Explanation, row: int, positive: Label, most: int) -> str:
    """Explain one row; see :meth:`Explanation.text`."""
    row = found.require_row(row)
    odds = found.log_odds(positive, by="group")
    label, parts = odds.positive[row], odds.contributions[row]
    start, end = percent(float(expit(odds.base[row]))), percent(float(odds.probability[row]))
    lines = [f"{found.target} = {label}: {end} (starting probability {start})"]
    if np.isneginf(found.log_evidence[row]):
        lines.append("Every class gives this row probability 0, so the answer is the prior.")
    names = [_named(found, row, group) for group in found.groups]
    ranked = [place for place in ranks(parts) if not is_slight(parts[place])]
    width = max((len(names[place]) for place in ranked[:most]), default=0)
    for sign, title in ((1, f"for {label}"), (-1, f"against {label}")):
        side = [place for place in ranked[:most] if sign * parts[place] > 0]
        lines += [f"  {title}"] if side else []
        lines += [
            f"    {names[place]:<{width}}  {signed(parts[place]):>7}  {times(parts[place])}"
            for place in side
        ]
    if rest := ranked[most:]:
        total = float(parts[rest].sum())
        weaker = plural(len(rest), "weaker column")
        lines.append(f"  {weaker} together  {signed(total)}  {times(total)}")
    for title, members in _silent(found, row, parts).items():
        lines += [f"  {title}: {', '.join(members)}"] if members else []
    return "\n".join(lines)


def explanation_html(found: Explanation) -> str:
    """Show the first rows of an explanation as tables, for notebooks."""
    odds = found.log_odds(by="group")
    tables = []
    for row in range(min(len(found), _SHOWN_ROWS)):
        parts, label = odds.contributions[row], odds.positive[row]
        lines = [
            (_named(found, row, found.groups[place]), signed(parts[place]), times(parts[place]))
            for place in ranks(parts)[:_SHOWN_LINES]
            if not is_slight(parts[place])
        ]
        start, end = percent(float(expit(odds.base[row]))), percent(float(odds.probability[row]))
        title = f"{found.target} = {label}: {end} (starting probability {start})"
        tables.append(html_table(title, ("column", "log-odds", "factor"), lines))
    more = len(found) - len(tables)
    return "".join(tables) + (f"<p>{plural(more, 'more row')}</p>" if more else "")


def ranks(parts: FloatArray) -> list[int]:
    """Positions of contributions, the strongest first."""
    return [int(place) for place in np.argsort(-np.abs(parts), kind="stable")]


def _named(found: Explanation, row: int, group: tuple[int, ...]) -> str:
    """Name what a row has in some columns, and the columns that these depend on."""
    there = [c for c in group if found.observed[row, c]] or list(group)
    terms = [term for term in found.terms if set(term.columns) & set(group)]
    parents = [c for c in terms[0].through if found.observed[row, c]] if len(terms) == 1 else []
    name = ", ".join(found.cell(row, c) for c in there)
    if not 0 < len(parents) <= 3:
        return name
    return f"{name}, given {', '.join(found.cell(row, c) for c in parents)}"


def _silent(found: Explanation, row: int, parts: FloatArray) -> dict[str, list[str]]:
    """Columns that contribute nothing, by the reason."""
    used = {column for term in found.terms for column in term.columns}
    missing = [c for c in sorted(used) if not found.observed[row, c]]
    absent = [c for c in missing if found.cells[row, c] == MISSING_VALUES]
    slight = [
        c
        for group, part in zip(found.groups, parts, strict=True)
        for c in group
        if is_slight(part) and c in used and c not in missing
    ]
    return {
        "missing": [found.names[c] for c in absent],
        "treated as missing": [found.cell(row, c) for c in missing if c not in absent],
        "no effect here": [found.cell(row, c) for c in slight],
        "not used by the model": [n for c, n in enumerate(found.names) if c not in used],
    }
