"""Dask: partitions are counted on their workers, and counts are merged in a tree.

Works with any scheduler. A ``distributed`` cluster counts partitions of a lost worker again. A
job, which holds the schema or the model, is one node of the task graph, so it is sent once to
each worker and not with each partition.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from unnaive._dataclasses import dataclass
from unnaive.counts.engines.dispatch import Work, located
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Collection, Sized

    import pandas as pd

    from unnaive._typing import AnyArray
    from unnaive.counts.engines.dispatch import Prediction

Result = TypeVar("Result")
FAN_IN = 8  # results that one task merges, and so the counts that a worker holds


def engine(source: Any) -> DaskEngine:
    """Make an engine of a Dask data frame, a bag of frames, or a list of delayed frames."""
    kind = type(source).__name__
    if kind == "DataFrame":
        return DaskEngine(source, tuple(str(name) for name in source.columns))
    if kind == "Bag" or isinstance(source, list | tuple):
        return DaskEngine(source)
    if kind in {"Delayed", "Future"}:
        return DaskEngine([source])
    raise TypeError(
        f"X is a Dask {kind}; give a Dask data frame (.to_dask_dataframe() makes one of an array), "
        "a bag of frames, or a list of delayed frames"
    )


@dataclass(frozen=True)
class DaskEngine:
    """Partitions on Dask; ``names`` are the columns, if they are known beforehand."""

    source: Any
    names: tuple[str, ...] | None = None
    keeps_columns: bool = False
    in_order: bool = False

    def fold(
        self, work: Work[Result], labels: object = None, weights: object = None
    ) -> Result | None:
        """Run the work on every partition and merge the results in a tree."""
        delayed = import_module("dask").delayed
        parts = _partitions(self.source)
        job = delayed(work, traverse=False)
        run, join = delayed(_run), delayed(Work.merge)
        more = [
            _beside(series, len(parts), what)
            for series, what in ((labels, "target"), (weights, "sample_weight"))
        ]
        nested = type(self.source).__name__ == "Bag"
        results = [
            run(job, number, *inputs, nested=nested)
            for number, inputs in enumerate(zip(parts, *more, strict=True))
        ]
        while len(results) > 1:
            groups = range(0, len(results), FAN_IN)
            results = [join(job, results[start : start + FAN_IN]) for start in groups]
        return results[0].compute() if results else None

    def predict(self, prediction: Prediction) -> object:
        """Predict every partition, lazily."""
        delayed = import_module("dask").delayed
        job = delayed(prediction, traverse=False)
        if isinstance(self.source, list | tuple):
            return [delayed(_predict)(part, job) for part in self.source]
        if self.names is None:
            return self.source.map(_predict, job)
        meta = _as_pandas(prediction, prediction.empty, None)
        return self.source.map_partitions(_predict_pandas, job, meta=meta, enforce_metadata=False)


def _partitions(source: Any) -> list[Any]:
    return list(source.to_delayed() if hasattr(source, "to_delayed") else source)


def _beside(series: object, count: int, what: str) -> list[Any]:
    """Return the partitions of labels or weights that are not in the frame."""
    if series is None:
        return [None] * count
    if not isinstance(series, list | tuple) and not hasattr(series, "to_delayed"):
        raise UnnaiveError(
            f"{what} is a {type(series).__name__}; with Dask, name a column of the frame, or give "
            "a Dask series with the same partitions"
        )
    parts = _partitions(series)
    if len(parts) != count:
        raise UnnaiveError(
            f"{what} has {len(parts)} partitions, the frame {count}; repartition one like the "
            "other, or name a column of the frame"
        )
    return parts


def _run(
    work: Work[Result],
    number: int,
    part: Collection[Sized],
    labels: pd.Series | None,
    weights: pd.Series | None,
    *,
    nested: bool,
) -> Result | None:
    """Do the work on one partition; a partition of a bag has several frames."""
    with located(number):
        if nested:
            results, first = [], 0
            for frame in part:
                results.append(work.run_part(frame, place=(number, first)))
                first += len(frame)
            return work.merge(results)
        for series in (labels, weights):
            _require_same_index(part, series)
        return work.run_part(part, labels, weights, (number, 0))


def _require_same_index(part: object, series: pd.Series) -> None:
    equals = getattr(getattr(part, "index", None), "equals", None)
    theirs = getattr(series, "index", None)
    if equals is not None and hasattr(theirs, "equals") and not equals(theirs):
        raise UnnaiveError(
            f"the rows of {series.name!r} are not those of the frame: their index differs; name a "
            "column of the frame"
        )


def _predict(part: Sized, prediction: Prediction) -> AnyArray:
    return prediction(part)


def _predict_pandas(part: pd.DataFrame, prediction: Prediction) -> pd.Series | pd.DataFrame:
    return _as_pandas(prediction, prediction(part), part.index)


def _as_pandas(
    prediction: Prediction, answers: AnyArray, index: pd.Index | None
) -> pd.Series | pd.DataFrame:
    """Make a series of classes, or a frame with a column for each class."""
    pandas = import_module("pandas")
    if answers.ndim == 1:
        return pandas.Series(answers, index=index, name=prediction.kind)
    return pandas.DataFrame(answers, index=index, columns=list(prediction.labels))
