"""The schema: categories or bin edges of every column, the classes, and rows → codes."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.coding import look_up_floats, offset_integers
from unnaive._dataclasses import dataclass
from unnaive._html import html_table, listed
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.io.frames import is_mappings
from unnaive.schema import growing
from unnaive.schema.columns import (
    CategoricalColumn,
    CodeType,
    ColumnSchema,
    Label,
    NumericColumn,
    cell_kind,
    code_type,
    refuse_infinite,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray, State
    from unnaive.io.frames import Column, Frame

    BlockEncoder = Callable[[tuple[int, int]], None]  # codes the rows from start to stop
    Offsets = tuple[IntArray, AnyArray, dict[int, CodeArray]]

_BLOCK_ROWS = 1 << 13


@dataclass(frozen=True, repr=False)
class Schema:
    """Categories or bin edges of all columns, and the classes.

    A schema turns rows into codes. Column i has v = ``sizes[i]`` values with the codes 0 … v−1; the
    code v means a missing value or an unseen category. Counts can be added only if they
    have the same schema, so sites that count separately first agree on one.

    Parameters
    ----------
    columns : tuple of CategoricalColumn or NumericColumn
        The columns, in the order of the features.
    classes : tuple of str, int, float or bool
        Class labels, in the order of the class codes.
    target : str, default="y"
        Name of the target.

    See Also
    --------
    learn_schema : Learns a schema from rows.
    unnaive.count : Counts rows, with a given schema or a learned one.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.schema import learn_schema
    >>> from unnaive.io.frames import to_column, to_frame
    >>> X = np.array([["red", 1.5], ["blue", 2.5], ["red", None]], dtype=object)
    >>> schema, codes, classes = learn_schema(to_frame(X), to_column(["no", "yes", "no"]))
    >>> schema.columns[0].categories, schema.classes
    (('blue', 'red'), ('no', 'yes'))
    >>> schema.encode(to_frame(np.array([["green", 9.0]], dtype=object))).tolist()
    [[2], [2]]
    """

    columns: tuple[ColumnSchema, ...]
    classes: tuple[Label, ...]
    target: str = "y"

    extend = growing.extend

    def __repr__(self) -> str:
        """Size of the schema; ``columns`` and ``classes`` have the details."""
        sizes = f"{len(self.columns)} columns, {len(self.classes)} classes"
        return f"Schema({sizes}, target {self.target!r})"

    def _repr_html_(self) -> str:
        """Table of the columns for a notebook."""
        rows = [(self.target, "target", len(self.classes), listed(self.classes))]
        for column in self.columns:
            values = getattr(column, "categories", None)
            kind = "numbers, bin edges" if values is None else "categories"
            shown = listed(getattr(column, "edges", ()) if values is None else values)
            rows.append((column.name, kind, column.size, shown))
        return html_table(repr(self), ["column", "kind", "values", ""], rows, text=(0, 1, 3))

    @classmethod
    def of_numbers(
        cls, names: Sequence[str], classes: Sequence[Label], target: str = "y"
    ) -> Schema:
        """Return a schema of numeric columns with a single bin, for Gaussian models.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.
        classes : sequence of str, int, float or bool
            Class labels.
        target : str, default="y"
            Name of the target.

        Returns
        -------
        Schema
            A schema without any bin edge.
        """
        return cls(tuple(NumericColumn(name, ()) for name in names), tuple(classes), target)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def sizes(self) -> IntArray:
        """Number of categories or bins of every column; shape (d,)."""
        return np.array([column.size for column in self.columns], dtype=np.int64)

    @cached_property
    def cell_kinds(self) -> dict[str, str]:
        """By column, how cells of a text file are read: "float", "int", "bool" or "text"."""
        return {column.name: cell_kind(column) for column in self.columns}

    @property
    def target_kind(self) -> str:
        """How target cells of a text file are read: "float", "int", "bool" or "text"."""
        return cell_kind(CategoricalColumn(self.target, self.classes))

    @cached_property
    def code_type(self) -> CodeType:
        """Narrowest unsigned integer type that holds the codes of every column."""
        return code_type(int(self.sizes.max(initial=0)))

    def encode(
        self, frame: Frame, *, handle_unknown: str = "missing", n_jobs: int | None = None
    ) -> CodeArray:
        """Code the rows of a frame.

        Parameters
        ----------
        frame : Frame
            The rows, as :func:`unnaive.io.frames.to_frame` returns them.
        handle_unknown : {"missing", "error"}, default="missing"
            "missing" codes an unseen category as a missing value, "error" raises an error.
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        array of shape (d, n), uint8, uint16 or uint32
            Codes; column i has ``sizes[i]`` where the value is missing or unseen.

        Raises
        ------
        SchemaMismatch
            If the frame has another number of columns.
        UnnaiveError
            If a category is unseen and ``handle_unknown="error"``, or a value is infinite.
        """
        if len(frame.names) != len(self.columns):
            raise SchemaMismatch(
                f"X has {len(frame.names)} features, but the schema has {len(self.columns)}"
            )
        codes = np.empty((len(self.columns), frame.n_rows), dtype=self.code_type)
        if not self._encode_matrix(frame.matrix, codes, n_jobs):

            def encode_one(index: int) -> None:
                codes[index] = self.columns[index].encode(frame.column(index))

            _parallel.run(encode_one, range(len(self.columns)), n_jobs)
        if handle_unknown == "error":
            self._refuse_unknown(frame, codes)
        elif handle_unknown != "missing":
            raise ValueError(f"handle_unknown={handle_unknown!r}; it must be 'missing' or 'error'")
        return codes

    def encode_few(self, X: Sequence[Mapping[str, object]] | pd.DataFrame) -> CodeArray:
        """Code a few rows cell by cell, which is faster than :meth:`encode` for few rows.

        Parameters
        ----------
        X : list of mappings, or pandas.DataFrame
            The rows. A mapping goes from column names to cells; a column that it lacks is missing.

        Returns
        -------
        array of shape (d, n), uint8, uint16 or uint32
            The same codes as those of :meth:`encode`.

        Raises
        ------
        SchemaMismatch
            If a mapping has a name that is not a column.
        """
        if not is_mappings(X):
            rows = X.to_numpy(dtype=object).tolist()
        else:
            for row in X:
                self._refuse_unknown_names(row)
            rows = [[row.get(name) for name in self.names] for row in X]
        coders = self._coders
        codes = [[code(cell) for code, cell in zip(coders, row, strict=True)] for row in rows]
        return np.ascontiguousarray(np.array(codes, dtype=self.code_type).T)

    def _refuse_unknown_names(self, row: Mapping[str, object]) -> None:
        if not self._known.issuperset(row):
            name = next(name for name in row if name not in self._known)
            close = get_close_matches(str(name), self.names, n=1)
            cure = f"did you mean {close[0]!r}?" if close else f"they are {list(self.names)}"
            raise SchemaMismatch(f"a row has {name!r}, which is not a column of the fit; {cure}")

    @cached_property
    def _coders(self) -> list[Callable[[object], int]]:
        return [column.code for column in self.columns]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset((*self.names, self.target))

    def encode_target(self, column: Column) -> IntArray:
        """Code class labels.

        Parameters
        ----------
        column : Column
            The labels, as :func:`unnaive.io.frames.to_column` returns them.

        Returns
        -------
        array of shape (n,), int64
            The index of each label in ``classes``.

        Raises
        ------
        UnnaiveError
            If a label is missing, infinite or not in ``classes``.
        """
        refuse_unusable_target(column)
        labels = CategoricalColumn(self.target, self.classes)
        codes = labels.encode(column)
        unknown = np.flatnonzero(codes == labels.size)
        if len(unknown):
            raise UnnaiveError(
                f"the target has the label {column.cell(unknown[0])!r} in row {unknown[0]}, "
                f"which is not one of the classes {list(self.classes)}; name all classes at the "
                "first partial_fit, add some by partial_fit(…, classes=, grow=True), or fit again"
            )
        return codes.astype(np.int64)

    def _encode_matrix(self, matrix: AnyArray | None, codes: CodeArray, n_jobs: int | None) -> bool:
        """Code a numeric array block by block, if one kernel serves all of its columns."""
        if matrix is None:
            return False
        if self._all_numbers:
            encode_block = self._float_encoder(matrix, codes)
        elif matrix.dtype.kind in "iub" and self._offsets is not None:
            encode_block = self._integer_encoder(self._offsets, matrix, codes)
        else:
            return False
        _parallel.run(encode_block, _parallel.row_blocks(len(matrix), _BLOCK_ROWS), n_jobs)
        return True

    def _float_encoder(self, matrix: AnyArray, codes: CodeArray) -> BlockEncoder:
        edges, starts = self._all_edges

        def encode_block(rows: tuple[int, int]) -> None:
            block = np.ascontiguousarray(matrix[slice(*rows)], dtype=np.float64)
            infinite = look_up_floats(block, edges, starts, codes, rows[0])
            if infinite >= 0:
                refuse_infinite(self.columns[infinite].name, matrix[:, infinite])

        return encode_block

    @cached_property
    def _all_edges(self) -> tuple[FloatArray, IntArray]:
        """Concatenated edges of all columns, and the position of each column's first edge."""
        cuts = [getattr(column, "edges", ()) for column in self.columns]
        edges = np.array([edge for column in cuts for edge in column], dtype=np.float64)
        return edges, np.cumsum([0, *map(len, cuts)])

    @cached_property
    def _all_numbers(self) -> bool:
        return all(isinstance(column, NumericColumn) for column in self.columns)

    @staticmethod
    def _integer_encoder(offsets: Offsets, matrix: AnyArray, codes: CodeArray) -> BlockEncoder:
        base, limit, tables = offsets

        def encode_block(rows: tuple[int, int]) -> None:
            block = np.ascontiguousarray(matrix[slice(*rows)], dtype=np.int64)
            marks = np.zeros(len(base), dtype=np.uint64)
            offset_integers(block, base, limit, marks, codes, rows[0])
            for index, table in tables.items():
                codes[index, slice(*rows)] = table[codes[index, slice(*rows)]]

        return encode_block

    @cached_property
    def _offsets(self) -> Offsets | None:
        """For integer categories: the lowest, the number of offsets, and tables for gaps."""
        base, limit, tables = [], [], {}
        for index, column in enumerate(self.columns):
            entry = column.integer_table if isinstance(column, CategoricalColumn) else None
            if entry is None or len(entry[1]) - 1 > np.iinfo(self.code_type).max:
                return None
            base.append(entry[0])
            limit.append(len(entry[1]) - 1)
            if not np.array_equal(entry[1], np.arange(len(entry[1]))):
                tables[index] = entry[1]
        return np.array(base, dtype=np.int64), np.array(limit, dtype=np.uint64), tables

    def _refuse_unknown(self, frame: Frame, codes: CodeArray) -> None:
        for index, column in enumerate(self.columns):
            if not (codes[index] == column.size).any():
                continue
            source = frame.column(index)
            unknown = np.flatnonzero((codes[index] == column.size) & ~source.missing)
            if len(unknown):
                raise UnnaiveError(
                    f"column {column.name!r} has value {source.cell(unknown[0])!r} not seen in "
                    'fit; use handle_unknown="missing", or declare it in categories='
                )

    def state(self) -> State:
        """Return the schema as plain values, for files.

        Returns
        -------
        dict
            "target", "classes", and "columns": for each column its name and its edges or
            categories.
        """
        return {
            "target": self.target,
            "classes": list(self.classes),
            "columns": [_column_state(column) for column in self.columns],
        }

    @classmethod
    def from_state(cls, state: State) -> Schema:
        """Return the schema of a :meth:`state`.

        Parameters
        ----------
        state : dict
            What :meth:`state` returned.

        Returns
        -------
        Schema
            The schema.

        Raises
        ------
        SchemaMismatch
            If a category or an edge occurs twice, or edges do not increase.
        """
        columns: list[ColumnSchema] = []
        for column in state["columns"]:
            name, others = column["name"], tuple(column.get("others", ()))
            missing = column.get("missing_category", False)
            if "edges" in column:
                columns.append(NumericColumn(name, tuple(column["edges"]), missing))
                values, in_order = column["edges"], sorted(column["edges"])
            else:
                categories = tuple(column["categories"])
                columns.append(CategoricalColumn(name, categories, others, missing))
                values = in_order = [*column["categories"], *others]
            if len(set(values)) != len(values) or values != in_order:
                raise SchemaMismatch(f"column {name!r} has a value or an edge twice")
        return cls(tuple(columns), tuple(state["classes"]), str(state["target"]))

    def require_same(self, other: Schema) -> None:
        """Raise an error if another schema differs; the message names the first difference.

        Parameters
        ----------
        other : Schema
            The other schema.

        Raises
        ------
        SchemaMismatch
            If classes, names, categories or edges differ.
        """
        cure = "encode both with one Schema"
        if self.classes != other.classes:
            raise SchemaMismatch(
                f"target: classes {list(self.classes)} here, {list(other.classes)} there; {cure}"
            )
        if self.names != other.names:
            raise SchemaMismatch(
                f"columns {list(self.names)} here, {list(other.names)} there; {cure}"
            )
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            if mine != theirs:
                raise SchemaMismatch(
                    f"column {mine.name!r}: {_describe(mine)} here, {_describe(theirs)} there; "
                    f"{cure}{_differing(mine, theirs)}"
                )


def refuse_unusable_target(column: Column) -> None:
    """Raise an error if a class label is missing, infinite or a number with a fraction.

    Parameters
    ----------
    column : Column
        The target.

    Raises
    ------
    UnnaiveError
        If a label is not allowed; the message says where it is and what to do.

    See Also
    --------
    learn_target : Finds the class labels of a target.

    Examples
    --------
    >>> from unnaive.io.frames import to_column
    >>> from unnaive.schema import refuse_unusable_target
    >>> refuse_unusable_target(to_column(["ill", None, "well"], "diagnosis"))
    Traceback (most recent call last):
    unnaive.exceptions.UnnaiveError: Input y contains NaN: the target 'diagnosis' is missing in 1 of
    3 rows (first in row 1); drop these rows before the fit
    """
    if column.values.dtype.kind == "f" and np.isinf(column.values).any():
        raise UnnaiveError(
            f"Input y contains infinity: the target {column.name!r} is infinite in row "
            f"{int(np.argmax(np.isinf(column.values)))}; infinity is not a class label"
        )
    missing = column.missing
    if missing.any():
        raise UnnaiveError(
            f"Input y contains NaN: the target {column.name!r} is missing in {int(missing.sum())} "
            f"of {len(missing)} rows (first in row {int(np.argmax(missing))}); drop these rows "
            "before the fit"
        )
    if column.values.dtype.kind == "f" and (np.trunc(column.values) != column.values).any():
        low, high, size = column.values.min(), column.values.max(), len(np.unique(column.values))
        raise UnnaiveError(
            f"Unknown label type: continuous. The target {column.name!r} has {size:,} different "
            f"numbers with fractions, from {low:g} to {high:g}; a classifier needs classes: cut it "
            "into classes, for example with pandas.cut(y, [18, 65]), or use a regression method"
        )


def _column_state(column: ColumnSchema) -> State:
    missing = {"missing_category": True} if column.missing_category else {}
    if isinstance(column, NumericColumn):
        return {"name": column.name, "edges": list(column.edges), **missing}
    others = {"others": list(column.others)} if column.others else {}
    return {"name": column.name, "categories": list(column.categories), **others, **missing}


def _describe(column: ColumnSchema) -> str:
    if isinstance(column, NumericColumn):
        missing = " and one of missing values" if column.missing_category else ""
        return f"{len(column.edges) + 1} bins with edges {list(column.edges)}{missing}"
    shown = ", ".join(repr(label) for label in column.categories[:5])
    others = f", {len(column.others)} grouped" if column.others else ""
    others += ", missing values" if column.missing_category else ""
    return f"{column.size} categories ({shown}{', …' if column.size > 5 else ''}{others})"


def _differing(mine: ColumnSchema, theirs: ColumnSchema) -> str:
    """Name the categories that only one of two columns has, that of missing values first."""
    if mine.missing_category != theirs.missing_category:
        return (
            f" (missing values are a category {'here' if mine.missing_category else 'there'} only)"
        )
    if isinstance(mine, NumericColumn) or isinstance(theirs, NumericColumn):
        return ""
    here = [repr(one) for one in mine.categories if one not in theirs.categories]
    there = [repr(one) for one in theirs.categories if one not in mine.categories]
    sides = [(here, "here"), (there, "there")]
    only = [f"only {side}: {', '.join(some[:5])}" for some, side in sides if some]
    return f" ({'; '.join(only) or 'other groups or order'})"
