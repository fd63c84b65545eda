"""Convert tables of other libraries (pandas, polars, pyarrow) to plain columns by narwhals."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw
import numpy as np

from unnaive.io.frames import Column, Frame, aligned, from_objects, unsupported
from unnaive.io.sources import is_stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    import narwhals

    from unnaive._typing import AnyArray

    Series = narwhals.Series[Any]  # of whatever library


def from_table(X: object) -> Frame | None:
    """Convert a data frame to a :class:`Frame`; None if X is not a data frame."""
    if nw.dependencies.is_pandas_dataframe(X):  # the error of narwhals has no cure
        _refuse_duplicates(X.columns)
    elif nw.dependencies.is_pyarrow_table(X):
        _refuse_duplicates(X.column_names)
    table = nw.from_native(X, pass_through=True, eager_only=False)
    if isinstance(table, nw.LazyFrame) or is_stream(X):
        cure = "take its rows into memory first, by .collect(), .compute() or .to_arrow_table()"
        raise TypeError(f"X is a {type(X).__name__}, whose rows are read as a stream; {cure}")
    if not isinstance(table, nw.DataFrame):
        return None
    names = tuple(str(name) for name in table.columns)
    _refuse_duplicates(names)
    if nw.dependencies.is_pandas_dataframe(X):
        columns = [_from_pandas(native, str(name)) for name, native in X.items()]
    else:
        every = zip(table.iter_columns(), names, strict=True)
        columns = [_from_series(series, name) for series, name in every]
    return Frame(names, table.shape[0], tuple(columns))


def dates_of_table(X: object) -> tuple[object, list[str]]:
    """Replace dates of a data frame by text; return X itself if it is not a data frame."""
    table = nw.from_native(X, pass_through=True, eager_only=False)
    if not isinstance(table, nw.DataFrame):
        return X, []
    names = [name for name, kind in table.schema.items() if kind in {nw.Date, nw.Datetime}]
    texts = [nw.col(name).dt.to_string("%Y-%m-%d") for name in names]
    return (table.with_columns(*texts).to_native() if names else X), [str(name) for name in names]


def from_series(y: object, name: str) -> Column | None:
    """Convert a series, or a data frame of one column, to a column; None if y is neither."""
    if type(y).__name__ == "Categorical":  # of pandas, which is not a series
        y = nw.dependencies.get_pandas().Series(y)
    series: object = nw.from_native(y, pass_through=True, eager_only=False, allow_series=True)
    if isinstance(series, nw.DataFrame) and len(series.columns) == 1:
        series = series[series.columns[0]]
    if not isinstance(series, nw.Series):
        return None
    return _from_series(series, name if series.name is None else str(series.name))


def _refuse_duplicates(names: Iterable[object]) -> None:
    """Raise if a column name occurs twice; the number 1 and the text "1" are the same name."""
    repeated = [name for name, times in Counter(map(str, names)).items() if times > 1]
    if repeated:
        raise ValueError(f"column name {repeated[0]!r} occurs more than once; rename the columns")


def _from_pandas(native: Any, name: str) -> Column:
    """Convert a series of pandas; its common types are read without asking narwhals."""
    kind = native.dtype
    if isinstance(kind, np.dtype) and (kind.kind in "iu" or kind == np.float64):
        return Column(name, aligned(np.asarray(native.to_numpy())))
    if nw.dependencies.get_pandas().CategoricalDtype is type(kind):
        return _of_categories(native, name)
    return _from_series(nw.from_native(native, series_only=True), name)


def _of_categories(native: Any, name: str) -> Column:
    """Convert a series of categories of pandas."""
    indices = np.asarray(native.array.codes, dtype=np.int32)
    return Column(name, indices, tuple(native.array.categories.tolist()), declared=True)


def _from_series(series: Series, name: str) -> Column:
    dtype = series.dtype
    if dtype == nw.Boolean:
        indices = series.cast(nw.Int8).fill_null(-1).to_numpy().astype(np.int32)
        return Column(name, indices, (False, True), declared=True)
    if dtype.is_numeric():
        return Column(name, _numeric_values(series))
    if dtype in {nw.Categorical, nw.Enum}:
        return _from_categorical(series, name)
    if dtype == nw.String:
        return _from_strings(series, name)
    if dtype == nw.Object:
        return from_objects(series.to_list(), name)
    if series.null_count() == len(series):
        return Column(name, np.full(len(series), np.nan))
    raise unsupported(name, str(dtype))


def _numeric_values(series: Series) -> AnyArray:
    if series.dtype.is_integer() and not series.null_count():
        return aligned(np.asarray(series.to_numpy()))
    return aligned(np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64))


def _from_strings(series: Series, name: str) -> Column:
    if nw.dependencies.is_pandas_series(series.to_native()):
        pandas = nw.dependencies.get_pandas()
        indices, labels = pandas.factorize(series.to_native())
        return Column(name, np.asarray(indices, dtype=np.int32), tuple(labels.tolist()))
    return _indexed(series, name, series.drop_nulls().unique().to_list(), declared=False)


def _from_categorical(series: Series, name: str) -> Column:
    native = series.to_native()
    if nw.dependencies.is_pandas_series(native):
        return _of_categories(native, name)
    if nw.dependencies.is_pyarrow_chunked_array(native):
        merged = native.unify_dictionaries().combine_chunks()
        merged = merged.chunk(0) if hasattr(merged, "chunk") else merged
        indices = merged.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Column(
            name, indices.astype(np.int32), tuple(merged.dictionary.to_pylist()), declared=True
        )
    # A polars Categorical lists all labels of the session, so they are not a declared domain.
    declared = series.dtype != nw.Categorical
    text = series.cast(nw.String)
    labels = series.cat.get_categories() if declared else text.drop_nulls().unique()
    return _indexed(text, name, labels.to_list(), declared=declared)


def _indexed(series: Series, name: str, labels: list[str], *, declared: bool) -> Column:
    """Replace the labels of a series by their positions, with the library of the series."""
    if not labels:
        return Column(name, np.full(len(series), -1, dtype=np.int32), (), declared)
    codes = series.replace_strict(labels, list(range(len(labels))), return_dtype=nw.Int32)
    indices = codes.fill_null(-1).to_numpy().astype(np.int32)
    return Column(name, indices, tuple(labels), declared)
