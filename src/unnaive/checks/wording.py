"""Sentences that findings share."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHOWN = 4


def listed(values: Iterable[object], shown: int = _SHOWN) -> str:
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
    options = " ".join(f"--ignore {shlex.quote(name)}" for name in names[:_SHOWN])
    python = f"X.drop(columns={list(names)!r}) in pandas" if len(names) <= _SHOWN else "in Python"
    what = "it" if len(names) == 1 else "them"
    if not default:
        return f"Leave {what} out: {python}, {options} on the command line."
    keep = " ".join(f"--keep {shlex.quote(name)}" for name in names[:_SHOWN])
    return f"Leave {what} out: {python}; the command line leaves {what} out unless you say {keep}."
