"""Samples that are added to models of counts, and removed from them.

The functions are methods of :class:`~unnaive.models.CountsClassifier`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from unnaive._scikit import check_is_fitted
from unnaive.counts.sizes import pair_bytes, require_memory
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.models.blocks import coded_batch, counted
from unnaive.models.inputs import require_same_classes
from unnaive.schema import label_array
from unnaive.schema.growing import grown
from unnaive.structure.graph import ClassGraphs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import Label
    from unnaive.counts import JointCounts
    from unnaive.models.base import CountsClassifier
    from unnaive.models.fitted import Fitted
    from unnaive.models.inputs import Given
    from unnaive.schema import Schema

Model = TypeVar("Model", bound="CountsClassifier")


def partial_fit(
    self: Model,
    X: object,
    y: object,
    classes: Sequence[Label] | None = None,
    sample_weight: object = None,
    *,
    grow: bool = False,
) -> Model:
    """Add samples to the model.

    The result is the model that ``fit`` would give on all samples, with the categories, bin
    edges and classes of the first call; with ``grow=True``, with the categories and classes of
    all calls. A model that learns its structure again needs the
    counts of all pairs of features, which must fit into ``max_memory``; ``fit`` does not.

    Parameters
    ----------
    X : array or table of shape (n, d)
        Features. The first call fixes categories and bin edges; declare by ``categories=``
        those that its samples may lack, or let later calls ``grow``.
    y : array of shape (n,), or str
        Class labels, or the name of the column of X that has them.
    classes : list, default=None
        All class labels, on the first call; None: those in ``y``. With ``grow=True`` a later call
        may name further classes.
    sample_weight : array of shape (n,), default=None
        Weights of the samples.
    grow : bool, default=False
        Whether categories that earlier calls lacked are added to the features; otherwise they
        are missing values, as in predictions. New classes must be named in ``classes``, so that
        a misspelt label is an error and not a class. Counts follow exactly: the result is the
        model of one fit that knew all categories and classes from the start. Bin edges, and which
        rare values are grouped, stay. A structure that was chosen by classifying samples stays,
        too, and a model that learned numbers by doing so, such as weights, cannot grow.

    Returns
    -------
    Self
        The updated model.

    Examples
    --------
    >>> import unnaive
    >>> model = unnaive.NaiveBayes().partial_fit([["no"], ["yes"]], ["well", "ill"])
    >>> model = model.partial_fit([["ex"]], ["dead"], classes=["dead", "ill", "well"], grow=True)
    >>> model.schema_.columns[0].categories, model.classes_.tolist()
    (('ex', 'no', 'yes'), ['dead', 'ill', 'well'])
    """
    self._check()
    first = "_fitted" not in self.__dict__
    batch = self._given(X, y, sample_weight, first=first)
    if first:
        rows, labels = self.coded(batch, classes)
        return self._fit_rows(rows, labels, batch.names, keep_all=True)
    if grow:
        return _grown(self, batch, classes)
    require_same_classes(classes, self.schema_)
    known = _counts_to_change(self)
    return self._refit(known + counted(known, coded_batch(self, batch, known.schema)))


def _grown(model: Model, batch: Given, classes: Sequence[Label] | None) -> Model:
    """Add samples and the categories and classes that the model lacks."""
    fitted, known = model.fitted_, _counts_to_change(model)
    schema = grown(known.schema, batch.frame, classes)
    _require_growth(fitted, schema)
    if len(known.pair_columns):
        size = pair_bytes(schema, int(known.total) + batch.frame.n_rows)
        require_memory(schema, size, int(min(model.max_memory, 2**62)), "counting all pairs")
    known = known.extend(schema)
    larger = copy(model)
    larger._fitted = replace(fitted, counts=known)
    same = len(schema.classes) == len(fitted.labels)
    labels = fitted.labels if same else label_array(schema.classes)
    counts = known + counted(known, coded_batch(model, batch, schema))
    model._fitted = larger._refit(counts, fitted.names, labels).fitted_
    return model


def _require_growth(fitted: Fitted, schema: Schema) -> None:
    """Raise an error if what was learned from samples does not fit a larger schema."""
    more, name = len(schema.classes) > len(fitted.labels), fitted.made_by.how.model
    if schema == fitted.schema:
        return
    if fitted.kept and fitted.learned.parameters:
        raise UnnaiveError(
            f"{name} learned numbers from the samples of its first fit, which lacked "
            f"{_first_new(fitted.schema, schema)}, and it learns none from later ones; fit again "
            "on all samples, or declare categories and classes at the first call"
        )
    if more and fitted.kept and isinstance(fitted.structure, ClassGraphs):
        raise UnnaiveError(
            f"{name} keeps one structure for each class, and {_first_new(fitted.schema, schema)} "
            "has none; fit again on all samples"
        )
    if more and fitted.calibration is not None:
        raise UnnaiveError(
            f"the probabilities were calibrated without {_first_new(fitted.schema, schema)}; fit "
            "again on all samples"
        )


def _first_new(old: Schema, new: Schema) -> str:
    """Name the first class or category that an extended schema adds."""
    for label in new.classes:
        if label not in old.classes:
            return f"class {label!r}"
    for mine, theirs in zip(old.columns, new.columns, strict=True):
        known = getattr(mine, "categories", ())
        for label in getattr(theirs, "categories", ()):
            if label not in known:
                return f"category {label!r} of column {mine.name!r}"
    raise UnnaiveError("the schemas do not differ")


def forget(self: Model, X: object, y: object, sample_weight: object = None) -> Model:
    """Unlearn samples: the model becomes what it would be without them.

    Their counts are subtracted, so the result is exact for unweighted samples. Categories and
    bin edges stay.

    Parameters
    ----------
    X : array or table of shape (n, d)
        Features of samples that the model was fitted to.
    y : array of shape (n,), or str
        Their class labels, or the name of the column of X that has them.
    sample_weight : array of shape (n,), default=None
        Their weights.

    Returns
    -------
    Self
        The updated model.
    """
    check_is_fitted(self)
    self._check()
    batch = self._given(X, y, sample_weight, first=False)
    known = _counts_to_change(self)
    return self._refit(known - counted(known, coded_batch(self, batch, known.schema)))


def _counts_to_change(model: CountsClassifier) -> JointCounts:
    """Return the counts; raises if they lack pairs that other samples could need."""
    counts = model.counts_
    if model.recipe().learns_again and not counts.has_all_pairs:
        raise TableTooLarge(
            "all pairs of columns did not fit into max_memory, so this model kept only the "
            "pairs of its structure; rows can be neither added nor removed: raise max_memory "
            "and fit again"
        )
    return counts
