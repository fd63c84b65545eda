"""Adding counts of different sets of rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from unnaive.counts.joint import JointCounts
from unnaive.counts.rules import alike
from unnaive.exceptions import SchemaMismatch

if TYPE_CHECKING:
    from os import PathLike

    from unnaive.counts.rules import Rules


def merge(
    *counts: JointCounts | str | PathLike[str], rules: Rules | None = None, grow: bool = False
) -> JointCounts:
    """Add counts, or files of counts, of different sets of rows: sites, days, machines.

    Parameters
    ----------
    *counts : JointCounts or path
        Counts that share one schema, or paths of files that ``JointCounts.save`` wrote. Files
        are read one after the other, so at most two of them are in memory.
    rules : Rules, default=None
        How columns, categories and classes of some counts are called in the sum, see
        :class:`unnaive.counts.rules.Rules`.
    grow : bool, default=False
        Whether categories and classes that only some counts know are added to the others;
        otherwise they are an error. It is right if the others would have known the category, had
        it occurred there.

    Returns
    -------
    JointCounts
        Counts of all rows together.

    Raises
    ------
    SchemaMismatch
        If two counts differ in schema or pairs; the message names the column and the cure.
    ModelFileError
        If a file is damaged or is not a counts file.

    See Also
    --------
    unnaive.count : Counts samples.
    JointCounts.save : Writes a file of counts.

    Examples
    --------
    >>> import unnaive
    >>> monday = unnaive.count([["a"], ["b"]], target=["x", "y"])
    >>> tuesday = unnaive.count([["b"]], target=["y"], schema=monday.schema)
    >>> merge(monday, tuesday).class_counts.tolist()
    [1, 2]
    """
    if not counts:
        raise ValueError("there are no counts to merge; name at least one")
    used, total = set(), None
    for number, item in enumerate(counts, start=1):
        name = f"counts {number}" if isinstance(item, JointCounts) else str(item)
        part = _loaded(item)
        if rules is not None:
            used |= rules.used(part.schema)
            part = by_rules(part, rules, name)
        try:
            aligned = rules is not None or grow
            total = part if total is None else added(total, part, aligned=aligned, grow=grow)
        except SchemaMismatch as error:
            raise SchemaMismatch(f"{name} cannot be added to those before: {error}") from error
    if rules is not None:
        rules.require_used(used)
    return cast("JointCounts", total)


def by_rules(part: JointCounts, rules: Rules, name: str) -> JointCounts:
    """Apply rules to counts, which an error names."""
    try:
        return rules.applied(part)
    except SchemaMismatch as error:
        raise SchemaMismatch(f"{name}: {error}") from error


def added(
    total: JointCounts, part: JointCounts, *, aligned: bool = False, grow: bool = False
) -> JointCounts:
    """Add counts; their columns may be in another order if ``aligned``, see :func:`alike`."""
    if aligned:
        total, part = alike(total, part, grow=grow)
    return total + part


def _loaded(counts: JointCounts | str | PathLike[str]) -> JointCounts:
    return counts if isinstance(counts, JointCounts) else JointCounts.load(Path(counts))
