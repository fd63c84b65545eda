"""Numbers as the report writes them, in HTML and in Markdown."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from scipy.special import expit, logit

from unnaive.explain.wording import percent as percent_of
from unnaive.explain.wording import plural
from unnaive.explain.wording import signed as signed_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State

_MINUS, _NOTHING, _NO_BREAK = "\N{MINUS SIGN}", "\N{EN DASH}", "\N{NO-BREAK SPACE}"
_LEAST_SPAN = 3.0  # log-odds that a waterfall shows at least on either side
_TICKS = logit([0.01, 0.1, 0.5, 0.9, 0.99]).tolist()


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share, never as 0 or 100 % where it is not; None is a dash.

    Examples
    --------
    >>> [percent(share).replace(_NO_BREAK, " ") for share in (0.12345, 0.99999, 1.0, None)]
    ['12.3 %', '> 99.9 %', '100 %', '–']
    """
    return _NOTHING if share is None else percent_of(share, digits).replace(" ", _NO_BREAK)


def number(value: float | None, digits: int = 3) -> str:
    """Write a number; whole numbers have no digits after the point, None is a dash.

    Examples
    --------
    >>> number(12345), number(0.98765), number(None)
    ('12,345', '0.988', '–')
    """
    if value is None:
        return _NOTHING
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


def score(value: float | None, name: str) -> str:
    """Write a score by its name: accuracy in percent, others as numbers."""
    return percent(value) if name == "accuracy" else number(value)


def interval(ends: Sequence[float] | None, name: str = "accuracy") -> str:
    """Write an interval of a score.

    Examples
    --------
    >>> interval([0.91, 0.953]).replace(_NO_BREAK, " "), interval([0.1, 0.25], "log_loss")
    ('91.0–95.3 %', '0.100–0.250')
    """
    if ends is None:
        return _NOTHING
    low, high = (score(end, name) for end in ends)
    return f"{low.removesuffix(_NO_BREAK + '%')}{_NOTHING}{high}"


def signed(value: float) -> str:
    """Write a contribution to log-odds with its sign.

    Examples
    --------
    >>> signed(1.25), signed(-0.004), signed(float("-inf"))
    ('+1.25', '0.00', '−∞')
    """
    return signed_of(value).replace("-", _MINUS)


def as_probability(log_odds: float) -> float:
    """Turn log-odds into a probability."""
    return float(expit(log_odds))


def waterfall(row: State) -> list[State]:
    """Lay out the reasons of a row: where each bar begins and ends, as shares of the axis.

    Returns the lines from the starting probability to the prediction; each has ``label``,
    ``contribution`` (None for the first and the last), ``log_odds`` so far, ``low``, ``high`` and
    ``marks``.
    """
    steps = [(reason["label"], reason["contribution"]) for reason in row["reasons"]]
    if row["others"]:
        steps.append((plural(row["others"], "other column"), row["rest"]))
    sums = [row["base"]]
    for _, contribution in steps:
        sums.append(sums[-1] + contribution)
    finite = [value for value in sums if isfinite(value)]
    low, high = min([-_LEAST_SPAN, *finite]), max([_LEAST_SPAN, *finite])
    pad = 0.04 * (high - low)
    low, high = low - pad, high + pad

    def line(label: str, contribution: float | None, start: float, end: float) -> State:
        left, right = (min(max((at - low) / (high - low), 0.0), 1.0) for at in (start, end))
        ends = {"low": min(left, right), "high": max(left, right)}
        return {"label": label, "contribution": contribution, "log_odds": end, **ends}

    lines = [
        line("starting probability", None, 0.0, sums[0]),
        *(line(*step, *ends) for step, *ends in zip(steps, sums, sums[1:], strict=False)),
        line("predicted probability", None, 0.0, sums[-1]),
    ]
    marks = [(tick - low) / (high - low) for tick in _TICKS if low < tick < high]
    return [{**entry, "marks": marks} for entry in lines]


FILTERS = {
    function.__name__: function
    for function in (percent, number, plural, score, interval, signed, as_probability, waterfall)
}
