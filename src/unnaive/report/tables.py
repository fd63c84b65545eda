"""A fitted model as plain values, from which the page computes posterior probabilities."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.hermite import hermgauss
from sklearn.utils.validation import check_is_fitted

from unnaive.explain.cells import members_of, values_of
from unnaive.models.gaussian_parts import GaussianFitted
from unnaive.report.export_arrays import Arrays
from unnaive.report.export_blends import blend_of, scale_of
from unnaive.schema.columns import NumericColumn

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.models.classifier import Classifier
    from unnaive.models.fitted import Fitted
    from unnaive.schema.columns import ColumnSchema

VERSION = 1
SCRIPTS = ("engine_logs.js", "engine_gaussian.js", "engine_kinds.js", "engine.js")  # in this order
_QUADRATURE = 15  # points at which the expected information of a number is taken
_DEVIATIONS = (
    3.0  # standard deviations from the outermost class means to the ends of a number's range
)


def explorer_document(model: Classifier, max_bytes: int = 3_000_000) -> State:
    """Describe a fitted model for ``static/engine.js``, which computes posteriors in a page.

    The page computes the same probabilities as ``predict_proba``, to 1e-9, for any values, missing
    ones included. The document has the model's tables and no samples.

    Parameters
    ----------
    model : Classifier
        Any fitted model of this library.
    max_bytes : int, default=3_000_000
        Limit for the tables, as text.

    Returns
    -------
    dict
        Plain values for ``json.dumps``: ``model``, ``target``, ``classes``; ``columns``, each with
        its ``name``, whether it is ``used``, and a ``kind``: "category" (``labels``, and their
        ``numbers`` if they are any), "bins" (``labels``, ``edges``) or "number" (``low``,
        ``high``; of Gaussian models ``means`` and ``deviations`` of the classes), and the code
        ``missing`` if missing values are a category; the log
        ``prior``, used where every class has probability 0; a ``calibration`` or None; ``tables``
        and ``arrays``, see :mod:`unnaive.tables.describe`. A blend has ``members``.

    Raises
    ------
    TableTooLarge
        If the tables take more than ``max_bytes``.
    UnnaiveError
        If the model has no tables (the programs of ``unnaive.papers.barrow``).

    See Also
    --------
    render : Makes a page with the explorer.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X = [["sunny", "hot"], ["rainy", "cool"], ["sunny", "mild"], ["rainy", None]]
    >>> document = explorer_document(NaiveBayes().fit(X, ["no", "yes", "no", "yes"]))
    >>> document["columns"][1]
    {'name': 'x1', 'used': True, 'kind': 'category', 'labels': ['cool', 'hot', 'mild']}
    """
    check_is_fitted(model)
    arrays = Arrays(max_bytes)
    members = members_of(model)
    described = blend_of(members, _single, arrays) if members else _single(model, arrays)
    return {
        "version": VERSION,
        "model": type(model).__name__,
        "target": model.schema_.target,
        "classes": [str(label) for label in model.schema_.classes],
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


def engine_script() -> str:
    """Return the script that computes posteriors from a document.

    It defines ``unnaiveEngine(document)``. It loads nothing, and runs nothing until it is called.

    Examples
    --------
    >>> "const unnaiveEngine" in engine_script()
    True
    """
    folder = files("unnaive.report") / "static"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)


def _values(column: ColumnSchema) -> State:
    """Describe the values of a column."""
    labels = values_of(column)
    missing = {"missing": column.size - 1} if column.missing_category else {}
    if isinstance(column, NumericColumn):
        return {"kind": "bins", "labels": labels, "edges": list(column.edges), **missing}
    values: State = {"kind": "category", "labels": labels, **missing}
    if column.categories and not column.is_text:
        values["numbers"] = [float(label) for label in column.categories]
    return values


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
    densities["through"] = [[columns[place] for place in above] for above in fitted.shape.through]
    densities["orders"] = [order.tolist() for order in fitted.shape.orders]
    if fitted.categories is None:
        return densities
    others = np.setdiff1d(np.arange(len(fitted.schema.names)), fitted.columns).tolist()
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
