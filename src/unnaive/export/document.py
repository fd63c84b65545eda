"""A fitted model as plain values: the one description that all exported forms are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.hermite import hermgauss
from sklearn.utils.validation import check_is_fitted

from unnaive.explain.cells import members_of, values_of
from unnaive.export.arrays import Arrays
from unnaive.export.blends import blend_of, scale_of
from unnaive.export.certainty import certainty_of
from unnaive.models.gaussian_parts import GaussianFitted
from unnaive.schema.columns import NumericColumn

if TYPE_CHECKING:
    from unnaive._typing import Label, State
    from unnaive.models.classifier import Classifier
    from unnaive.models.fitted import Fitted
    from unnaive.schema.columns import ColumnSchema

FORMAT = "unnaive-model"
VERSION = 1  # of the format; docs/exporting.md specifies it
_QUADRATURE = 15  # points at which the expected information of a number is taken
_DEVIATIONS = (
    3.0  # standard deviations from the outermost class means to the ends of a number's range
)


def model_document(
    model: Classifier, max_bytes: int = 3_000_000, *, intervals: bool = False
) -> State:
    """Describe a fitted model as plain values, with which it can be computed anywhere.

    Reports, JavaScript, SQL and ONNX are made of this document. Its format is specified in the
    documentation, "Exporting models", and in the JSON Schema ``unnaive/export/schema.json``. It has
    the model's tables and no samples.

    Parameters
    ----------
    model : Classifier
        Any fitted model of this library.
    max_bytes : int, default=3_000_000
        Limit for the tables, as text.
    intervals : bool, default=False
        Add the tables of ``predict_interval``, which are three times as large as the others.

    Returns
    -------
    dict
        Plain values for ``json.dumps``: ``model``, ``target``, ``classes`` as text and ``labels``
        with their types; ``columns``, each with its ``name``, whether it is ``used``, and a
        ``kind``: "category" (``values``, their ``labels``, and ``others`` that share the last
        one), "bins" (``labels``, ``edges``) or "number" (``low``, ``high``; of Gaussian models
        ``means`` and ``deviations`` of the classes), and the code ``missing`` if missing values
        are a category; the log ``prior``, used where every class has probability 0; a
        ``calibration`` or None; ``tables`` and ``arrays``, see :mod:`unnaive.tables.describe`. A
        blend has ``members``. With ``intervals``, ``certainty`` has the tables of cumulants, or is
        None for models without a closed form and for blends.

    Raises
    ------
    TableTooLarge
        If the tables take more than ``max_bytes``.
    UnnaiveError
        If the model has no tables (the programs of ``unnaive.papers.barrow``).

    See Also
    --------
    to_json : Writes the document as text.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X = [["sunny", "hot"], ["rainy", "cool"], ["sunny", "mild"], ["rainy", None]]
    >>> document = model_document(NaiveBayes().fit(X, ["no", "yes", "no", "yes"]))
    >>> document["columns"][1]["kind"], document["columns"][1]["values"]
    ('category', ['cool', 'hot', 'mild'])
    """
    check_is_fitted(model)
    arrays = Arrays(max_bytes)
    bias = model.bias_of(model.classes_.tolist())
    members = members_of(model)
    described = blend_of(members, _single, arrays) if members else _single(model, arrays)
    if intervals:
        described["certainty"] = None if members else certainty_of(model.fitted_, arrays)
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": type(model).__name__,
        "target": model.schema_.target,
        "classes": [str(label) for label in model.schema_.classes],
        "labels": [_plain(label) for label in model.schema_.classes],
        "threshold_bias": None if bias is None else arrays.add(bias),
        **described,
        "arrays": arrays.content,
    }


def _single(model: Classifier, arrays: Arrays) -> State:
    """Describe columns and tables of one model, as it was fitted."""
    fitted: Fitted | GaussianFitted = model.fitted_
    if isinstance(fitted, GaussianFitted):
        tables, numbers = _gaussian_tables(fitted, arrays), _numbers(fitted)
        scale, points = None, hermgauss(_QUADRATURE)
    else:
        tables, numbers = fitted.tables.describe(arrays), {}
        scale, points = fitted.calibration, None
    used = _columns_of(tables)
    columns = [
        {
            "name": column.name,
            "used": place in used and column.size > 0,
            **(numbers.get(place) or _values(column)),
        }
        for place, column in enumerate(fitted.schema.columns)
    ]
    return {
        "columns": columns,
        "prior": arrays.add(fitted.prior),
        "calibration": None if scale is None else scale_of(scale, arrays),
        "hermite": points and [arrays.add(part) for part in points],
        "tables": tables,
    }


def _values(column: ColumnSchema) -> State:
    """Describe the values of a column."""
    labels = values_of(column)
    missing = {"missing": column.size - 1} if column.missing_category else {}
    if isinstance(column, NumericColumn):
        return {"kind": "bins", "labels": labels, "edges": list(column.edges), **missing}
    others = {"others": [_plain(label) for label in column.others]} if column.others else {}
    values = [_plain(label) for label in column.categories]
    return {"kind": "category", "labels": labels, "values": values, **others, **missing}


def _plain(label: Label) -> Label:
    """Return a label as a value of Python, without the types of numpy."""
    return label.item() if isinstance(label, np.generic) else label


def _numbers(fitted: GaussianFitted) -> dict[int, State]:
    """Describe the columns of numbers that are not binned, by their positions."""
    moments = fitted.moments
    means, variances = moments.means, np.einsum("kii->ki", moments.covariances())
    found = {}
    for index, place in enumerate(fitted.columns.tolist()):
        mean, deviation = means[:, index], np.sqrt(variances[:, index])
        found[place] = {
            "kind": "number",
            "means": mean.tolist(),
            "deviations": deviation.tolist(),
            "low": float((mean - _DEVIATIONS * deviation).min()),
            "high": float((mean + _DEVIATIONS * deviation).max()),
        }
    return found


def _gaussian_tables(fitted: GaussianFitted, arrays: Arrays) -> State:
    """Describe densities of numbers, and the tables of categorical columns."""
    densities = fitted.shape.tables.describe(arrays)
    columns = fitted.columns[fitted.moments.used].tolist()
    densities["columns"] = columns
    densities["through"] = [list(above) for above in fitted.above]
    densities["orders"] = [order.tolist() for order in fitted.shape.orders]
    if fitted.categories is None:
        return densities
    others = np.setdiff1d(np.arange(len(fitted.schema.names)), fitted.columns).tolist()
    for family in densities.get("families", []):
        family["labels"] = [others[label] for label in family["labels"]]
    tables = fitted.categories.fitted_.tables.describe(arrays)
    for factor in tables["factors"]:
        for part in (factor, *factor["tables"]):
            for name in {"children", "parents", "columns"} & set(part):
                part[name] = [others[column] for column in part[name]]
    tables["base"] = arrays.add(np.zeros(len(fitted.labels)))  # the densities have the prior
    return {"kind": "sum", "parts": [densities, tables]}


def _columns_of(tables: State) -> set[int]:
    """Positions of the columns that tables use."""
    found = set(tables.get("columns", []))
    for part in tables.get("parts", []):
        found |= _columns_of(part)
    for factor in tables.get("factors", []):
        found.update(factor["children"], factor["parents"])
    for members in tables.get("members", []):
        found.update(members)
    if "bags" in tables:
        found.update(range(len(tables["bags"])))
    return found
