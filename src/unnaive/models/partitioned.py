"""Models on Dask and Spark: learn from counts of partitions, predict partition by partition."""

from __future__ import annotations

from copy import copy
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._scikit import check_is_fitted
from unnaive.counts.count import refuse_limits
from unnaive.counts.engines import engine_of
from unnaive.io.frames import Column, Frame, to_frame
from unnaive.models.fitted import Names
from unnaive.schema import label_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import AnyArray, Label
    from unnaive.counts.engines.dispatch import Engine
    from unnaive.counts.engines.sampling import Sampled
    from unnaive.models.base import CountsClassifier
    from unnaive.models.classifier import Classifier
    from unnaive.models.fitted import Fitted

Method = TypeVar("Method", bound="Callable[..., Any]")
KINDS = {
    "predict": "prediction",
    "predict_proba": "probability",
    "predict_log_proba": "log_probability",
    "predict_joint_log_proba": "joint_log_probability",
}


def on_partitions(method: Method) -> Method:
    """Let a method that predicts also take Dask and Spark frames."""

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        engine = engine_of(X)
        return method(self, X) if engine is None else _predict(self, engine, method.__name__)

    return answer  # type: ignore[return-value]


def rows_of_engine(
    X: object, y: object, sample_weight: object
) -> tuple[tuple[object, object, object], Sampled | None]:
    """Return rows in memory as they are; many rows of an engine are drawn by a hash."""
    engine = engine_of(X)
    if engine is None:
        return (X, y, sample_weight), None
    from unnaive.counts.engines.sampling import sample_rows  # noqa: PLC0415 - loads when asked

    return sample_rows(engine, y, sample_weight)


def fit_partitions(
    model: CountsClassifier, engine: Engine, target: object, sample_weight: object
) -> Fitted:
    """Learn from counts of partitions; families and triples take a second pass."""
    from unnaive.counts.engines.dispatch import (  # noqa: PLC0415 - loads when asked
        count_more,
        count_partitions,
    )

    refuse_limits((model.min_frequency, model.max_categories))
    recipe = model.recipe()
    counts = count_partitions(
        engine,
        target,
        pairs=None if recipe.counts == "values" else "all",
        sample_weight=sample_weight,
        max_memory=int(min(model.max_memory, 2**62)),
        discretize=model.discretize,
        bins=model.bins,
        categorical_features=model.categorical_features,
        categories=model.categories,
        missing_as_category=model.missing_as_category,
    )
    fitting = model.fitting(counts.schema)._replace(before=None)  # a previous fit is of other rows
    fitting.recipe.tables.require(counts.schema, fitting.how)
    learned = fitting.learned_of(counts)
    counts = count_more(
        engine,
        counts,
        target,
        sample_weight,
        families=list(learned.structure.families),
        triples=recipe.counts == "triples",
    )
    labels = label_array(counts.schema.classes)
    return fitting.of_counts(counts, learned, Names.of(counts.schema.names, named=True), labels)


@dataclass(frozen=True)
class ModelPrediction:
    """A model without its counts, and the method to call; this is what is sent to workers."""

    model: Classifier
    method: str

    @property
    def kind(self) -> str:
        """Kind of the predictions: "prediction", "probability", …."""
        return KINDS[self.method]

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The classes."""
        return tuple(self.model.classes_.tolist())

    @property
    def empty(self) -> AnyArray:
        """Predictions of no rows, which show shape and type."""
        if self.method == "predict":
            return np.asarray(self.model.classes_[:0])
        return np.empty((0, len(self.labels)))

    def columns_of(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Choose the columns of the model from a frame that may have more."""
        known = tuple(map(str, getattr(self.model, "feature_names_in_", ())))
        known = known or self.model.schema_.names
        return known if set(known) <= set(names) else names

    def __call__(self, part: Any) -> AnyArray:
        """Predict the rows of a partition."""
        if not (part.n_rows if isinstance(part, Frame) else len(part)):
            return self.empty
        return np.asarray(getattr(self.model, self.method)(to_frame(part)))


def _predict(model: Classifier, engine: Engine, method: str) -> object:
    check_is_fitted(model)
    prediction = ModelPrediction(compact(model), method)
    if engine.names is not None:
        names = prediction.columns_of(engine.names) if engine.keeps_columns else engine.names
        columns = tuple(Column(name, np.empty(1)) for name in names)
        model.known_frame(Frame(names, 1, columns))
    if method == "predict":
        model.bias_of(list(prediction.labels))  # raises here, not on a worker
    return engine.predict(prediction)


def compact(model: Classifier) -> Classifier:
    """Copy a fitted model without the counts of pairs, families and triples.

    The copy runs in one thread, since the scheduler runs other partitions in others.
    """
    light = copy(model)
    light.n_jobs = 1
    light._fitted = model.fitted_.light()
    return light
