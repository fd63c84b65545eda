"""The methods of the quality benchmark: others with default parameters, and our models.

Every method is given the same pandas frame: labels are categories with their declared values,
numbers are floats, and a missing cell is missing. What a peer cannot take as it is, its own
pipeline makes of it, inside the training fold and inside the time of the fit.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import unnaive

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import FloatArray, IntArray

# Specifications, see parse(); add one to compare more.
OURS = ("auto", "auto:choose=best", "nb", "tan", "aode", "hnb")
SEED = 0  # of every method that draws
_NOT_PREDICTING = ("cli", "datasets", "evaluate", "explain", "report")  # rooms


@dataclass(frozen=True)
class Method:
    """One of the methods compared.

    Attributes
    ----------
    spec : str
        What it is called on the command line and in the file of results.
    title : str
        What it is called in tables.
    version : str
        Changes whenever its results may: units of another version are computed again.
    make : callable
        From a number of threads to a new estimator.
    """

    spec: str
    title: str
    version: str
    make: Callable[[int], Any] = field(repr=False, compare=False)


def method(spec: str) -> Method:
    """Return the method of a specification: the name of a peer, or a model of ours."""
    if spec not in PEERS:
        key, parameters = parse(spec)
        unnaive.make(key, **parameters)  # an unknown key or parameter is told before the work
        version = f"source {_source()}"
        return Method(spec, spec, version, lambda jobs: _ours(key, parameters, jobs))
    title, package, settings, make = PEERS[spec]
    return Method(spec, title, f"{package} {_version(package)}, settings {settings}", make)


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """Read ``key:parameter=value,…``; a bare word is text, all else is written as in Python.

    >>> parse("kdb:k=3,smoothing=backoff")
    ('kdb', {'k': 3, 'smoothing': 'backoff'})
    >>> parse("tan:smoothing='laplace:0.5',root=None")
    ('tan', {'smoothing': 'laplace:0.5', 'root': None})
    """
    key, _, text = spec.partition(":")
    try:
        return key, _parameters(text)
    except (SyntaxError, ValueError) as error:
        example = "kdb:k=3,smoothing='laplace:0.5'"
        raise ValueError(f"{spec!r} cannot be read ({error}); write it like {example}") from None


def missing_packages(specs: list[str]) -> dict[str, str]:
    """Return the libraries that are not installed, with the package of each."""
    packages = {spec: PEERS[spec][1] for spec in specs if spec in PEERS}
    return {spec: package for spec, package in packages.items() if not _version(package)}


class BinnedNaiveBayes:
    """scikit-learn's CategoricalNB on codes: 0 for missing, then categories or quantile bins.

    Declared labels that no training row has keep a place of their own, so that no code of a
    test row is unknown.
    """

    def __init__(self, bins: int = 5) -> None:
        self.bins = bins

    def fit(self, X: Any, y: IntArray) -> BinnedNaiveBayes:
        """Learn bins and tables."""
        from sklearn.naive_bayes import CategoricalNB  # noqa: PLC0415

        self.cuts_ = [self._cuts(X[name]) for name in X.columns]
        sizes = [
            2 + len(cuts) if cuts is not None else 1 + len(X[name].cat.categories)
            for name, cuts in zip(X.columns, self.cuts_, strict=True)
        ]
        self.model_ = CategoricalNB(min_categories=sizes).fit(self.encode(X), y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return P(c | x)."""
        return np.asarray(self.model_.predict_proba(self.encode(X)))

    def encode(self, X: Any) -> IntArray:
        """Return the codes of rows; shape (n, d)."""
        columns = [X[name] for name in X.columns]
        return np.column_stack([*map(_codes, columns, self.cuts_)])

    def _cuts(self, column: Any) -> FloatArray | None:
        """Return the inner quantiles of numbers, each once; None for labels."""
        if hasattr(column, "cat"):
            return None
        known = column.to_numpy()[column.notna().to_numpy()]
        if not len(known):
            return np.empty(0)
        return np.unique(np.quantile(known, np.arange(1, self.bins) / self.bins))


class HistogramBoosting:
    """scikit-learn's HistGradientBoostingClassifier, with a workaround for two errors.

    Those are columns without any value (of ``sick``), which are left out, and a class of one
    row where it sets rows apart for early stopping, that is, beyond 10,000 rows (``nursery``):
    there it does not stop early. All else is its default.
    """

    def fit(self, X: Any, y: IntArray) -> HistogramBoosting:
        """Fit the model."""
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415

        self.columns_ = [name for name in X.columns if X[name].notna().any()]
        counts = np.bincount(y)
        early = "auto" if counts[counts > 0].min() > 1 else False
        self.model_ = HistGradientBoostingClassifier(
            categorical_features="from_dtype", early_stopping=early, random_state=SEED
        ).fit(X[self.columns_], y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return P(c | x)."""
        return np.asarray(self.model_.predict_proba(X[self.columns_]))


class CatBoost:
    """CatBoost's classifier; it takes missing categories only as text of their own."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def fit(self, X: Any, y: IntArray) -> CatBoost:
        """Fit the model."""
        from catboost import CatBoostClassifier  # noqa: PLC0415

        labels = [name for name in X.columns if hasattr(X[name], "cat")]
        self.model_ = CatBoostClassifier(
            cat_features=labels,
            thread_count=self.threads,
            random_seed=SEED,
            verbose=False,
            allow_writing_files=False,
        ).fit(self._text(X), y)
        self.classes_ = np.asarray(self.model_.classes_)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return P(c | x)."""
        return np.asarray(self.model_.predict_proba(self._text(X)))

    def _text(self, X: Any) -> Any:
        labels = [name for name in X.columns if hasattr(X[name], "cat")]
        return X.assign(**{n: X[n].astype(object).where(X[n].notna(), "").map(str) for n in labels})


class XGBoost:
    """XGBoost's classifier with its own categories; it takes only classes 0, 1, … without gaps."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def fit(self, X: Any, y: IntArray) -> XGBoost:
        """Fit the model."""
        from xgboost import XGBClassifier  # noqa: PLC0415

        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = XGBClassifier(
            enable_categorical=True, n_jobs=self.threads, random_state=SEED
        ).fit(X, codes)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return P(c | x)."""
        return np.asarray(self.model_.predict_proba(X), dtype=np.float64)


def _codes(column: Any, cuts: FloatArray | None) -> IntArray:
    if cuts is None:
        return np.asarray(column.cat.codes, dtype=np.int64) + 1
    values = column.to_numpy()
    return np.where(np.isnan(values), 0, 1 + np.searchsorted(cuts, values, side="right"))


def _matrix(*, scaled: bool) -> Any:
    """Return numeric columns: one-hot categories (also for missing), medians for numbers."""
    from sklearn.compose import make_column_selector, make_column_transformer  # noqa: PLC0415
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: PLC0415

    numbers = SimpleImputer(strategy="median", keep_empty_features=True)
    labels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer(
        (
            make_pipeline(numbers, StandardScaler()) if scaled else numbers,
            make_column_selector(dtype_include="number"),
        ),
        (labels, make_column_selector(dtype_include="category")),
    )


def _lightgbm(threads: int) -> Any:
    from lightgbm import LGBMClassifier  # noqa: PLC0415

    return LGBMClassifier(n_jobs=threads, random_state=SEED, verbosity=-1)


def _histogram_boosting(threads: int) -> Any:  # noqa: ARG001 - by the limit of OpenMP
    return HistogramBoosting()


def _forest(threads: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415

    forest = RandomForestClassifier(500, n_jobs=threads, random_state=SEED)
    return make_pipeline(_matrix(scaled=False), forest)


def _logistic(threads: int) -> Any:  # noqa: ARG001 - by the limit of BLAS
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415

    return make_pipeline(_matrix(scaled=True), LogisticRegression(max_iter=10_000))


def _naive_bayes(threads: int) -> Any:  # noqa: ARG001 - it has one
    return BinnedNaiveBayes()


class LighterEBM:
    """interpret's ExplainableBoostingClassifier with as few pairs as before its version 0.6.13.

    Its present default, three pairs a column, may take minutes for a hundred rows. Its authors
    advise 0.9 pairs a column for two classes, and none for more, to who finds that too long
    (interpretml/interpret#619). All else is its default.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def fit(self, X: Any, y: IntArray) -> LighterEBM:
        """Fit the model."""
        pairs = 0.9 if len(np.unique(y)) == 2 else 0
        self.model_ = _explainable_boosting(self.threads, interactions=pairs).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return P(c | x)."""
        return np.asarray(self.model_.predict_proba(X))


def _explainable_boosting(threads: int, **parameters: Any) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier  # noqa: PLC0415

    return ExplainableBoostingClassifier(n_jobs=threads, random_state=SEED, **parameters)


def _ours(key: str, parameters: dict[str, Any], threads: int) -> Any:
    return unnaive.make(key, **{"n_jobs": threads, **parameters})


BASELINE = "lightgbm"
PEERS: dict[str, tuple[str, str, int, Callable[[int], Any]]] = {
    # title, package, version of the settings here, from threads to a new estimator
    BASELINE: ("LightGBM", "lightgbm", 1, _lightgbm),
    "catboost": ("CatBoost", "catboost", 1, CatBoost),
    "xgboost": ("XGBoost", "xgboost", 1, XGBoost),
    "histgb": ("HistGradientBoosting", "scikit-learn", 1, _histogram_boosting),
    "forest": ("RandomForest(500)", "scikit-learn", 1, _forest),
    "logistic": ("LogisticRegression", "scikit-learn", 1, _logistic),
    "categorical-nb": ("CategoricalNB", "scikit-learn", 1, _naive_bayes),
    "ebm-light": ("EBM (fewer pairs)", "interpret-core", 1, LighterEBM),
    "ebm": ("EBM", "interpret-core", 1, _explainable_boosting),
}
LONG = ("ebm", "catboost")  # peers that are run only if they are named


def _parameters(text: str) -> dict[str, Any]:
    call = ast.parse(f"make({text})", mode="eval").body
    if not isinstance(call, ast.Call) or call.args:
        raise ValueError("a parameter needs a name")
    return {str(word.arg): _value(word.value) for word in call.keywords}


def _value(node: ast.expr) -> Any:
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


@cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


@cache
def _source() -> str:
    """Return a fingerprint of all sources that our predictions depend on."""
    root = Path(unnaive.__file__).parent
    total = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in _NOT_PREDICTING:
            total.update(path.read_bytes())
    return total.hexdigest()[:12]
