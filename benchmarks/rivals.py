"""Measure one library in a separate process: times, threads, and agreement with ours.

Each function takes a :class:`Job` and fills a :class:`Finding`. Times come first; only then is
``unnaive`` fitted with the library's own smoothing, prior and parents, and posteriors compared.
"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from benchmarks import data, timing, weka, weka_rivals
from benchmarks.found import CHECK_ROWS, Absent, Finding, Job, check_tree, parents_of

if TYPE_CHECKING:
    from collections.abc import Callable

PGMPY_ROWS = 50
OURS: dict[str, dict[str, Any]] = {
    "NaiveBayes": {},
    "TAN": {},
    "AODE": {},
    "HNB": {},
    "WAODE": {},
    "KDB": {"k": 2},
}
PIP = "pip install --group peers"


def measure_ours(job: Job, found: Finding) -> None:
    """Models of this library that others have, too, and KDB, which is compared with TAN."""
    import unnaive  # noqa: PLC0415

    X, y = data.load(Path(job.folder))
    found.version, found.threads = unnaive.__version__, str(job.jobs)
    for name, options in OURS.items():
        if not hasattr(unnaive, name):
            found.notes.append(f"there is no {name} yet")
            continue
        estimator = getattr(unnaive, name)(discretize=None, n_jobs=job.jobs, **options)
        estimator.fit(X, y).predict_proba(X)
        fit = timing.best_of(lambda estimator=estimator: estimator.fit(X, y), job.repeats)
        predict = timing.best_of(
            lambda estimator=estimator: estimator.predict_proba(X), job.repeats
        )
        found.time(name, "fit", fit)
        found.time(name, "predict_proba", predict, len(X))


def measure_sklearn(job: Job, found: Finding) -> None:
    """scikit-learn's CategoricalNB; its class prior is the relative frequency, ours smoothed."""
    import sklearn  # noqa: PLC0415
    from sklearn.naive_bayes import CategoricalNB  # noqa: PLC0415

    X, y = data.load(Path(job.folder))
    found.version, found.threads = sklearn.__version__, "1 (it has no more)"
    model = CategoricalNB().fit(X, y)
    found.time("NaiveBayes", "fit", timing.best_of(lambda: CategoricalNB().fit(X, y), job.repeats))
    predict = timing.best_of(lambda: model.predict_proba(X), job.repeats)
    found.time("NaiveBayes", "predict_proba", predict, len(X))

    from unnaive import NaiveBayes  # noqa: PLC0415

    ours = NaiveBayes(discretize=None, class_prior=np.bincount(y) / len(y)).fit(X, y)
    found.check(
        "posteriors, class_prior= its relative frequencies",
        model.predict_proba(X),
        ours.predict_proba(X),
        1e-9,
    )


def measure_pyagrum(job: Job, found: Finding) -> None:
    """pyAgrum's skbn TAN with Laplace(1); its tuned threshold is reported and undone."""
    _require("pyagrum", "pandas")
    import pyagrum  # noqa: PLC0415
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor  # noqa: PLC0415
    from pyagrum.skbn import BNClassifier, bnclassifier  # noqa: PLC0415

    X, y = data.load(Path(job.folder))
    found.version = pyagrum.__version__
    found.threads = f"up to {pyagrum.getNumberOfThreads()}"
    model = BNClassifier(
        type_processor=DiscreteTypeProcessor(discretizationThreshold=10**6),
        learningMethod="TAN",
        prior="Smoothing",
        priorWeight=1.0,
    )
    tuned: list[float] = []
    threshold = bnclassifier.CThreshold

    def tune(*arguments: Any) -> Any:
        answer: list[Any] = []
        tuned.append(timing.seconds(lambda: answer.append(threshold(*arguments))))
        return answer[0]

    with mock.patch.object(bnclassifier, "CThreshold", tune):
        found.time("TAN", "fit", timing.best_of(lambda: model.fit(X, y), job.repeats))
    model.threshold_ = 0.5
    some = X[:CHECK_ROWS]
    predict = timing.best_of(lambda: model.predict_proba(some), job.repeats)
    found.time("TAN", "predict_proba", predict, len(some))
    if tuned:
        rest = found.timings[0]["seconds"] - min(tuned)
        found.notes.append(
            f"its fit tunes a threshold on the training rows; it takes {rest:.3g} s without"
        )
    net = model.bn_
    names = [(net.variable(a).name(), net.variable(b).name()) for a, b in net.arcs()]
    check_tree(found, X, y, parents_of(names, X.shape[1]), model.predict_proba(some))


def measure_pgmpy(job: Job, found: Finding) -> None:
    """pgmpy's TreeSearch TAN and a K2 (Laplace) fit; prediction is one query for each row."""
    _require("pgmpy", "pandas")
    import joblib  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415
    import pgmpy  # noqa: PLC0415
    from pgmpy.estimators import TreeSearch  # noqa: PLC0415
    from pgmpy.models import DiscreteBayesianNetwork  # noqa: PLC0415
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator  # noqa: PLC0415

    X, y = data.load(Path(job.folder))
    found.version, found.threads = pgmpy.__version__, str(job.jobs)
    found.notes.append("run on threads, which is faster than its processes")
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(y=y)
    fitted = []

    def fit() -> None:
        search = TreeSearch(frame, root_node="x0", n_jobs=job.jobs)
        with joblib.parallel_config(backend="threading"):
            graph = search.estimate("tan", class_node="y", show_progress=False)
        net = DiscreteBayesianNetwork(graph.edges())
        fitted.append(net.fit(frame, estimator=DiscreteBayesianEstimator(prior_type="K2")))

    found.time("TAN", "fit", timing.best_of(fit, job.repeats))
    some, answers = frame.drop(columns="y").head(PGMPY_ROWS), []
    predict = timing.seconds(lambda: answers.append(fitted[-1].predict_probability(some)))
    found.time("TAN", "predict_proba", predict, len(some))
    posteriors = answers[0][[f"y_{label}" for label in np.unique(y)]].to_numpy()
    check_tree(found, X, y, parents_of(fitted[-1].edges(), X.shape[1]), posteriors)


RIVALS: dict[str, tuple[str, Callable[[Job, Finding], None]]] = {
    "ours": ("unnaive", measure_ours),
    "sklearn": ("scikit-learn CategoricalNB", measure_sklearn),
    "pyagrum": ("pyAgrum skbn TAN", measure_pyagrum),
    "pgmpy": ("pgmpy TAN", measure_pgmpy),
    "weka-aode": ("WEKA AODE", weka_rivals.measure_weka_aode),
    "weka-tan": ("WEKA BayesNet TAN", weka_rivals.measure_weka_tan),
    "weka-hnb": ("WEKA HNB", weka_rivals.measure_weka_hnb),
    "weka-waode": ("WEKA WAODE", weka_rivals.measure_weka_waode),
}


class Written(Finding):
    """Results that are written after every time, so that a time limit does not lose them."""

    def __init__(self, out: Path) -> None:
        super().__init__()
        self._out = out

    def time(self, model: str, operation: str, seconds: float, rows: int | None = None) -> None:
        """Record a time."""
        super().time(model, operation, seconds, rows)
        self._out.write_text(json.dumps(asdict(self)))


def main(job: Job, out: Path) -> None:
    """Measure one library and write the results."""
    found: Finding = Written(out)
    try:
        RIVALS[job.name][1](job, found)
    except (Absent, weka.WekaAbsent) as absent:
        found = Finding(status="absent", message=str(absent))
    out.write_text(json.dumps(asdict(found)))


def _require(*modules: str) -> None:
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise Absent(PIP)
