"""Adding counts of different sets of rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unnaive.counts.joint import JointCounts
from unnaive.exceptions import SchemaMismatch

if TYPE_CHECKING:
    from os import PathLike


def merge(*counts: JointCounts | str | PathLike[str]) -> JointCounts:
    """Add counts, or files of counts, of different sets of rows: sites, days, machines.

    Parameters
    ----------
    *counts : JointCounts or path
        Counts that share one schema, or paths of files that ``JointCounts.save`` wrote. Files
        are read one after the other, so at most two of them are in memory.

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
    total = _loaded(counts[0])
    for number, item in enumerate(counts[1:], start=2):
        try:
            total = total + _loaded(item)
        except SchemaMismatch as error:
            name = f"counts {number}" if isinstance(item, JointCounts) else str(item)
            raise SchemaMismatch(f"{name} cannot be added to those before: {error}") from error
    return total


def _loaded(counts: JointCounts | str | PathLike[str]) -> JointCounts:
    return counts if isinstance(counts, JointCounts) else JointCounts.load(Path(counts))
