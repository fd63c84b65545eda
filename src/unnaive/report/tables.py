"""A fitted model as plain values: what a page needs to compute the model's posterior by itself."""

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
_DEVIATIONS = 3.0  # a slider reaches so many standard deviations from the outermost class means


def explorer_document(model: Classifier, max_bytes: int = 3_000_000) -> State:
    """Describe a fitted model for ``static/engine.js``, which computes its posterior in a page.

    The page then gives what ``predict_proba`` gives, to 1e-9, for any values of the columns, known
    or not. All that is written are the model's tables; rows are not in it.

    Parameters
    ----------
    model : Classifier
        Any fitted model of this library.
    max_bytes : int, default=3,000,000
        Most bytes of tables, as text.

    Returns
    -------
    dict
        Plain values for ``json.dumps``: ``model``, ``target``, ``classes``; ``columns``, each with
        its ``name``, whether it is ``used``, and a ``kind``: "category" (``labels``, and their
        ``numbers`` if they are any), "bins" (``labels``, ``edges``) or "number" (``low``,
        ``high``; of Gaussian models ``means`` and ``deviations`` of the classes); the log
        ``prior`` that answers where no class has a chance; a ``calibration`` or None; ``tables``
        and ``arrays``, see :mod:`unnaive.tables.describe`; a blend has ``members``.

    Raises
    ------
    TableTooLarge
        If the tables take more than ``max_bytes``.
    UnnaiveError
        If the model has no tables to look up (the thesis' programs of ``unnaive.papers.barrow``).

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
        tables, numbers, scale = _gaussian_tables(fitted, arrays), _numbers(fitted), None
        points = hermgauss(_QUADRATURE)
    else:
        tables, numbers, scale = fitted.tables.describe(arrays), {}, fitted.calibration
        points = None
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
    """Return the script that computes with such a document, for a page to have inside.

    It defines ``unnaiveEngine(document)`` and nothing else that a page should use. It loads nothing
    and runs nothing until it is called.

    Examples
    --------
    >>> "const unnaiveEngine" in engine_script()
    True
    """
    folder = files("unnaive.report") / "static"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)


def _values(column: ColumnSchema) -> State:
    """Describe what values a column has."""
    labels = values_of(column)
    if isinstance(column, NumericColumn):
        return {"kind": "bins", "labels": labels, "edges": list(column.edges)}
    found: State = {"kind": "category", "labels": labels}
    if column.categories and not column.is_text:
        found["numbers"] = [float(label) for label in column.categories]
    return found


def _numbers(fitted: GaussianFitted) -> dict[int, State]:
    """Describe the columns that are numbers and stay numbers, by their positions."""
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
    """Describe densities and, beside them, the tables of columns that are no numbers."""
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
    """Positions of the columns that tables look at."""
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
