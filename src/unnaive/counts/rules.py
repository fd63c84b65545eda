"""Rules by which counts of sites that wrote their schemas themselves are brought to one schema."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import field, replace
from difflib import get_close_matches
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.laid_out import Layout, laid_out
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.schema.columns import (
    CategoricalColumn,
    NumericColumn,
    natural_order,
    sorted_labels,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from unnaive.counts.joint import JointCounts
    from unnaive.schema import ColumnSchema, Schema
    from unnaive.schema.columns import Label

    Rule = tuple[str, str, str]  # what it changes, the column or "", the old name or value
    Renamed = Mapping[str, Label]


@dataclass(frozen=True)
class Rules:
    """What columns, categories and classes of a site are called in the merged counts.

    The same rules serve all sites: a rule changes the counts in which its column and value occur,
    and no others. Several values with one new name are merged: their counts are added, which is
    exact.

    Parameters
    ----------
    columns : mapping, default={}
        New names of columns, by their old names.
    categories : mapping, default={}
        For columns, by their new names, the new categories by the old ones. Old categories that
        are numbers or truth values are written as in JSON: "1", "true".
    classes : mapping, default={}
        New classes by the old ones.
    edges : mapping, default={}
        For columns of bins, by their new names, the bin edges that stay; bins between are merged.
    drop : sequence of str, default=()
        Columns, by their old names, that are left out.

    See Also
    --------
    load_rules : Reads rules from a JSON file.
    unnaive.counts.merge : Adds counts, with rules.

    Examples
    --------
    >>> import unnaive
    >>> from unnaive.counts.rules import Rules
    >>> oslo = unnaive.count([["no"], ["yes"]], target=["ill", "well"])
    >>> bern = unnaive.count([["N"], ["Y"], ["y"]], target=["ill", "well", "ill"])
    >>> rules = Rules(categories={"x0": {"N": "no", "Y": "yes", "y": "yes"}})
    >>> rules.applied(bern).marginal(0).tolist()
    [[1, 1], [0, 1]]
    >>> unnaive.counts.merge(oslo, bern, rules=rules).marginal(0).tolist()
    [[2, 1], [0, 2]]
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, Renamed] = field(default_factory=dict)
    classes: Renamed = field(default_factory=dict)
    edges: Mapping[str, Sequence[float]] = field(default_factory=dict)
    drop: Sequence[str] = ()

    def applied(self, counts: JointCounts) -> JointCounts:
        """Return counts with the new names; counts of merged values are added.

        Parameters
        ----------
        counts : JointCounts
            Counts of one site.

        Returns
        -------
        JointCounts
            The same rows, counted by the new schema.
        """
        old = counts.schema
        kept = [column for column in old.columns if column.name not in self.drop]
        columns: list[ColumnSchema] = []
        codes = {}
        for column in kept:
            named = replace(column, name=self.columns.get(column.name, column.name))
            changed, codes[column.name] = self._changed(named)
            columns.append(changed)
        _refuse_twice([*(column.name for column in columns), old.target])
        classes = _of_one_kind(
            "the target", sorted_labels({_new(label, self.classes) for label in old.classes})
        )
        schema = replace(old, columns=tuple(columns), classes=classes)
        if schema == old:
            return counts
        places = {column.name: place for place, column in enumerate(kept)}
        layout = Layout(
            schema,
            np.array([places.get(name, -1) for name in old.names], dtype=np.int64),
            tuple(codes.get(c.name, np.zeros(c.size, dtype=np.int64)) for c in old.columns),
            np.array([classes.index(_new(one, self.classes)) for one in old.classes]),
        )
        return laid_out(counts, layout)

    def _changed(self, column: ColumnSchema) -> tuple[ColumnSchema, np.ndarray]:
        """Return a column by the new names, and the new codes of the old codes."""
        if isinstance(column, NumericColumn):
            return self._with_edges(column)
        if column.name in self.edges:
            raise SchemaMismatch(
                f"the rules name edges of column {column.name!r}, which has categories; name its "
                "categories, or leave the column out"
            )
        renamed = self.categories.get(column.name, {})
        labels = [_new(label, renamed) for label in column.categories]
        distinct = list(dict.fromkeys(_of_one_kind(f"column {column.name!r}", labels)))
        rest = labels[-1:] if column.others else []  # the category of rare values stays last
        named = [label for label in distinct if label not in rest]
        old = column.categories[: len(column.categories) - len(rest)]
        if old == natural_order(old):
            named = list(natural_order(named))
        changed = replace(column, categories=(*named, *rest))
        codes = [changed.categories.index(label) for label in labels]
        if column.missing_category:
            codes.append(len(changed.categories))
        return changed, np.array(codes, dtype=np.int64)

    def _with_edges(self, column: NumericColumn) -> tuple[ColumnSchema, np.ndarray]:
        """Return a column with fewer edges, and the new codes of the old bins."""
        if column.name in self.categories:
            raise SchemaMismatch(
                f"the rules name categories of column {column.name!r}, which is cut into bins; "
                "name the edges that stay"
            )
        edges = tuple(sorted(set(map(float, self.edges.get(column.name, column.edges)))))
        lacking = [edge for edge in edges if edge not in column.edges]
        if lacking:
            raise SchemaMismatch(
                f"the rules keep edge {lacking[0]:g} of column {column.name!r}, which has edges "
                f"{list(column.edges)}; bins can be merged, but not divided: count the rows again "
                "with a common schema"
            )
        codes = [0, *(bisect_right(edges, edge) for edge in column.edges)]
        if column.missing_category:
            codes.append(len(edges) + 1)
        return replace(column, edges=edges), np.array(codes, dtype=np.int64)

    def used(self, schema: Schema) -> set[Rule]:
        """Return the rules that change something in counts of a schema."""
        new = {self.columns.get(name, name): name for name in schema.names}
        by_name = dict(zip(schema.names, schema.columns, strict=True))
        found = set()
        for kind, column, old in self._every():
            known = by_name.get(new.get(column, ""))
            if kind == "categories":
                used = isinstance(known, CategoricalColumn) and _holds(known.categories, old)
            elif kind == "classes":
                used = _holds(schema.classes, old)
            else:
                used = old in schema.names if kind != "edges" else known is not None
            if used:
                found.add((kind, column, old))
        return found

    def _every(self) -> Iterator[Rule]:
        """Yield all rules."""
        yield from (("columns", "", old) for old in self.columns)
        yield from (("drop", "", old) for old in self.drop)
        yield from (("classes", "", old) for old in self.classes)
        yield from (("edges", column, "") for column in self.edges)
        for column, renamed in self.categories.items():
            yield from (("categories", column, old) for old in renamed)

    def require_used(self, used: set[Rule]) -> None:
        """Raise an error if a rule changed nothing in any counts: most likely it is misspelt.

        Parameters
        ----------
        used : set
            Rules that changed something, see :meth:`used`.

        Raises
        ------
        SchemaMismatch
            If there is another rule.
        """
        for rule in self._every():
            if rule not in used:
                kind, column, old = rule
                what = {
                    "columns": f"rename column {old!r}",
                    "drop": f"drop column {old!r}",
                    "classes": f"rename class {old!r}",
                    "edges": f"name edges of column {column!r}",
                    "categories": f"rename category {old!r} of column {column!r}",
                }[kind]
                raise SchemaMismatch(
                    f"the rules {what}, which none of the counts has; correct the spelling, or "
                    "remove the rule"
                )


def load_rules(path: str | PathLike[str]) -> Rules:
    """Read rules from a JSON file.

    Parameters
    ----------
    path : str or path
        A JSON object with some of the keys "columns", "categories", "classes", "edges" and
        "drop", see :class:`Rules`.

    Returns
    -------
    Rules
        The rules.

    Raises
    ------
    SchemaMismatch
        If the file is not such an object; the message says what is wrong.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> text = '{"columns": {"smoking": "smoker"}, "categories": {"smoker": {"1": "yes"}}}'
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "rules.json").write_text(text)
    ...     load_rules(Path(folder) / "rules.json").categories
    {'smoker': {'1': 'yes'}}
    """
    path = Path(path)
    try:
        document = json.loads(path.read_bytes(), object_pairs_hook=_with_distinct_keys)
    except SchemaMismatch as error:
        raise SchemaMismatch(f"{path} is not a file of rules: {error}") from error
    except (ValueError, RecursionError) as error:
        raise SchemaMismatch(f"{path} is not a file of rules: it is not JSON ({error})") from error
    try:
        _check(document)
    except (TypeError, ValueError) as error:
        raise SchemaMismatch(
            f"{path} is not a file of rules: {error}; see Federated learning in the documentation"
        ) from error
    return Rules(**document)


def _with_distinct_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a dictionary of an object of JSON; of a key that is there twice, one would be lost."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise SchemaMismatch(f"it has {key!r} twice in one object; join the two")
        found[key] = value
    return found


def _check(document: object) -> None:
    """Raise an error unless all entries of a document are rules."""
    if not isinstance(document, dict):
        raise TypeError("it is not an object of JSON")
    keys = ("columns", "categories", "classes", "edges", "drop")
    for key, value in document.items():
        if key not in keys:
            close = get_close_matches(key, keys, n=1)
            cure = f"did you mean {close[0]!r}?" if close else f"the keys are {list(keys)}"
            raise ValueError(f"it has the key {key!r}; {cure}")
        if key == "drop":
            fits = isinstance(value, list) and all(isinstance(name, str) for name in value)
        elif key == "edges":
            fits = isinstance(value, dict) and all(map(_are_edges, value.values()))
        elif key == "categories":
            fits = isinstance(value, dict) and all(map(_are_labels, value.values()))
        else:
            fits = _are_labels(value, str if key == "columns" else (str, int, float))
        if not fits:
            raise TypeError(f"the entry {key!r} has another form than it must have")


def _are_labels(value: object, kinds: type | tuple[type, ...] = (str, int, float)) -> bool:
    return isinstance(value, dict) and all(isinstance(label, kinds) for label in value.values())


def _are_edges(value: object) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in value)
        and all(low < high for low, high in pairwise(value))
    )


def _written(label: Label) -> str:
    """Return a label as a key of a JSON object."""
    return label if isinstance(label, str) else json.dumps(label)


def _new(label: Label, renamed: Renamed) -> Label:
    return renamed.get(_written(label), label)


def _holds(labels: Sequence[Label], old: str) -> bool:
    return any(_written(label) == old for label in labels)


Labels = TypeVar("Labels", bound="Sequence[Label]")


def _of_one_kind(what: str, labels: Labels) -> Labels:
    """Return labels that are all text or all finite numbers; others could not be read again."""
    texts = [label for label in labels if isinstance(label, str)]
    others = [label for label in labels if not isinstance(label, str)]
    if texts and others:
        raise SchemaMismatch(
            f"by the rules {what} has text such as {texts[0]!r} beside {others[0]!r}; give all its "
            "values new names that are text, or numbers"
        )
    for label in others:
        if not isfinite(float(label)):
            raise SchemaMismatch(f"by the rules {what} has the value {label}; name another one")
    return labels


def _refuse_twice(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SchemaMismatch(
                f"by the rules two columns of one file are called {name!r}; drop one of them"
            )
        if not name:
            raise SchemaMismatch("by the rules a column has no name; give it one")


def alike(
    first: JointCounts, second: JointCounts, *, grow: bool
) -> tuple[JointCounts, JointCounts]:
    """Return counts with the columns of the second in the order of the first.

    Parameters
    ----------
    first, second : JointCounts
        Counts whose columns have the same names.
    grow : bool
        Whether categories and classes that only one of them knows are added to the other.

    Returns
    -------
    first, second : JointCounts
        The same counts; with the same schema if ``grow``.

    Raises
    ------
    SchemaMismatch
        If one of them has a column that the other lacks, or if ``grow`` and more than categories
        and classes differs.
    """
    mine, theirs = first.schema, second.schema
    if set(mine.names) != set(theirs.names):
        here = [name for name in mine.names if name not in theirs.names]
        there = [name for name in theirs.names if name not in mine.names]
        raise SchemaMismatch(
            f"columns {here} are only here, {there} only there; rename or drop them by rules"
        )
    if mine.names != theirs.names:
        places = np.array([mine.names.index(name) for name in theirs.names], dtype=np.int64)
        columns = tuple(theirs.columns[theirs.names.index(name)] for name in mine.names)
        codes = tuple(np.arange(column.size) for column in theirs.columns)
        ordered = replace(theirs, columns=columns)
        second = laid_out(second, Layout(ordered, places, codes, np.arange(second.n_classes)))
    if grow:
        schema = _joined(mine, second.schema)
        first, second = first.extend(schema), second.extend(schema)
    return first, second


def _joined(mine: Schema, theirs: Schema) -> Schema:
    """Return a schema with the categories and classes of another one; bins must not differ."""
    pairs = list(zip(mine.columns, theirs.columns, strict=True))
    fixed = [pair for pair in pairs if not _differ_in_categories(*pair)]
    here, there = (replace(mine, columns=tuple(pair[side] for pair in fixed)) for side in (0, 1))
    here.require_same(there)
    known = {one.name: one.categories for _, one in pairs if isinstance(one, CategoricalColumn)}
    try:
        return mine.extend(known, theirs.classes)
    except UnnaiveError as error:
        raise SchemaMismatch(f"{error}, or give its values new names by rules") from error


def _differ_in_categories(mine: ColumnSchema, theirs: ColumnSchema) -> bool:
    """Whether two columns have the same values apart from categories that can be added."""
    if not isinstance(mine, CategoricalColumn) or not isinstance(theirs, CategoricalColumn):
        return False
    return mine.others == theirs.others and mine.missing_category == theirs.missing_category
