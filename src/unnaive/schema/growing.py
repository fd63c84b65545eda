"""Growing schemas: categories and classes that were not known when a schema was learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.schema.categories import labels_of
from unnaive.schema.columns import (
    CategoricalColumn,
    NumericColumn,
    first_cell,
    natural_order,
    refuse_infinite,
    sorted_labels,
)
from unnaive.schema.settings import named_categories, named_classes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive.io.frames import Column, Frame
    from unnaive.schema.columns import ColumnSchema, Label
    from unnaive.schema.schema import Schema


def extend(
    self: Schema,
    categories: Mapping[str, Iterable[Label]] | None = None,
    classes: Iterable[Label] = (),
) -> Schema:
    """Return the schema with further categories of some columns, and further classes.

    Where the categories of a column are in their natural order, as ``fit`` learns them, the new
    ones take their places in it, so that the schema is the one of a fit that knew all of them.
    Categories in another order, which were declared, keep it, and the new ones follow. Classes
    are sorted. Bin edges stay: they cover every number.

    Parameters
    ----------
    categories : mapping from names of columns to lists of categories, default=None
        The categories; those that the column has already change nothing.
    classes : list, default=()
        The classes; those that the schema has already change nothing.

    Returns
    -------
    Schema
        The extended schema; this one does not change. ``counts.extend(schema)`` brings counts to
        it.

    Raises
    ------
    SchemaMismatch
        If there is no such column, or it is cut into bins.
    UnnaiveError
        If text would be added to numbers, or numbers to text.
    ValueError
        If one of the lists is not a list of strings and finite numbers.

    Examples
    --------
    >>> from unnaive.schema import CategoricalColumn, Schema
    >>> schema = Schema((CategoricalColumn("smoker", ("no", "yes")),), ("ill", "well"))
    >>> larger = schema.extend({"smoker": ["ex"]}, ["dead"])
    >>> larger.columns[0].categories, larger.classes
    (('ex', 'no', 'yes'), ('dead', 'ill', 'well'))
    """
    columns = {column.name: column for column in self.columns}
    if not isinstance(categories, Mapping | None):
        raise ValueError(
            f"categories={categories!r}; it must be a mapping from column names to lists of values"
        )
    for name, labels in (categories or {}).items():
        if name not in columns:
            close = get_close_matches(name, self.names, n=1)
            cure = f"did you mean {close[0]!r}?" if close else f"they are {list(self.names)}"
            raise SchemaMismatch(f"there is no column {name!r} to extend; {cure}")
        columns[name] = _with_labels(columns[name], named_categories(name, labels))
    added = [label for label in named_classes(classes) if label not in self.classes]
    if added:
        _refuse_mixed(f"the target {self.target!r}", self.classes, added)
    known = sorted_labels({*self.classes, *added}) if added else self.classes
    return replace(self, columns=tuple(columns.values()), classes=known)


def _with_labels(column: ColumnSchema, labels: Sequence[Label]) -> ColumnSchema:
    """Return a column with further categories."""
    if isinstance(column, NumericColumn):
        raise SchemaMismatch(
            f"column {column.name!r} is cut into bins, which cover every number, so it has no "
            f"category {labels[0] if labels else ''!r} to add; leave it out"
        )
    known = {*column.categories, *column.others}
    added = natural_order({label for label in labels if label not in known})
    if not added:
        return column
    _refuse_mixed(f"column {column.name!r}", column.categories, added)
    rest = column.categories[-1:] if column.others else ()  # the category of rare values is last
    named = column.categories[: len(column.categories) - len(rest)]
    sorted_in = natural_order((*named, *added)) if named == natural_order(named) else None
    return replace(column, categories=(*(sorted_in or (*named, *added)), *rest))


def _refuse_mixed(what: str, known: Sequence[Label], added: Sequence[Label]) -> None:
    """Raise an error if text would be added to numbers, or numbers to text."""
    texts = {isinstance(label, str) for label in known}
    for label in added:
        if len(texts) == 1 and isinstance(label, str) not in texts:
            kind, cure = ("labels", "strings") if True in texts else ("numbers", "numbers")
            raise UnnaiveError(
                f"{what} held {kind} such as {known[0]!r} in fit and has {label!r} now; convert it "
                f"to {cure}"
            )


def grown(schema: Schema, frame: Frame, classes: Sequence[Label] | None = None) -> Schema:
    """Return the schema with the categories that a frame has and the schema lacks.

    Parameters
    ----------
    schema : Schema
        What is known.
    frame : Frame
        Rows with the columns of the schema.
    classes : sequence of str, int, float or bool, or None, default=None
        Classes, of which some may be new; None: those of the schema.

    Returns
    -------
    Schema
        The extended schema; the same object if nothing is new.

    Examples
    --------
    >>> from unnaive.io.frames import to_frame
    >>> from unnaive.schema import CategoricalColumn, Schema
    >>> schema = Schema((CategoricalColumn("x0", ("no", "yes")),), ("ill", "well"))
    >>> grown(schema, to_frame([["maybe"], ["no"]])).columns[0].categories
    ('maybe', 'no', 'yes')
    """
    added: dict[str, tuple[Label, ...]] = {}
    for index, column in enumerate(schema.columns):
        if isinstance(column, CategoricalColumn):
            labels = _unseen(column, frame.column(index))
            if labels:
                added[column.name] = labels
    named = schema.classes if classes is None else named_classes(classes)
    if not added and set(named) <= set(schema.classes):
        return schema
    return schema.extend(added, named)


def _unseen(known: CategoricalColumn, column: Column) -> tuple[Label, ...]:
    """Return the values of a column that are not among its categories."""
    if column.unknown or column.missing.all():
        return ()
    unseen = (known.encode(column) == known.size) & ~column.missing
    if not unseen.any():
        return ()
    if column.is_text:
        labels = labels_of(column)
        return tuple(labels[place] for place in np.unique(column.values[unseen]).tolist())
    refuse_infinite(known.name, column.values)
    if not known.categories:
        raise UnnaiveError(
            f"column {known.name!r} had no value so far and has the number {first_cell(column)} "
            "now; bins cannot be learned later: fit again with rows that have numbers, or declare "
            "the categories by categories="
        )
    return tuple(np.unique(column.values[unseen]).tolist())
