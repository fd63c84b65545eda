"""WEKA's models on the rows of ``peers``, each compared with our model of the same kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import data, weka
from benchmarks.found import CHECK_ROWS, check_tree

if TYPE_CHECKING:
    from benchmarks.found import Finding, Job


def measure_weka_aode(job: Job, found: Finding) -> None:
    """WEKA's AODE; timed inside the JVM."""
    X, y, theirs = _run_weka(job, found, "AODE", weka.AODE)

    from unnaive import AODE  # noqa: PLC0415

    ours = AODE(discretize=None, n_jobs=job.jobs).fit(X, y)
    found.check("posteriors", theirs.posteriors, ours.predict_proba(X[: theirs.checked]), 1e-9)


def measure_weka_tan(job: Job, found: Finding) -> None:
    """WEKA's BayesNet with TAN, ENTROPY and Laplace(1); timed inside the JVM."""
    X, y, theirs = _run_weka(job, found, "TAN", weka.TAN)
    check_tree(found, X, y, theirs.parents, theirs.posteriors)


def measure_weka_hnb(job: Job, found: Finding) -> None:
    """WEKA's HNB, whose information leaves small terms out; timed inside the JVM."""
    X, y, theirs = _run_weka(job, found, "HNB", weka.HNB)

    from unnaive import HNB  # noqa: PLC0415

    ours = HNB(discretize=None, smoothing="weka", n_jobs=job.jobs).fit(X, y)
    mine = ours.predict_proba(X[: theirs.checked])
    found.check('posteriors, smoothing="weka"', theirs.posteriors, mine, 1e-9)


def measure_weka_waode(job: Job, found: Finding) -> None:
    """WEKA's WAODE; timed inside the JVM."""
    X, y, theirs = _run_weka(job, found, "WAODE", weka.WAODE)

    from unnaive import WAODE  # noqa: PLC0415

    ours = WAODE(discretize=None, n_jobs=job.jobs).fit(X, y)
    found.check("posteriors", theirs.posteriors, ours.predict_proba(X[: theirs.checked]), 1e-9)


def _run_weka(job: Job, found: Finding, model: str, command: str) -> tuple[Any, Any, weka.Times]:
    X, y = data.load(Path(job.folder))
    theirs = weka.run(X, y, command, repeats=job.repeats, checked=CHECK_ROWS)
    found.version, found.threads = theirs.version, "1"
    found.notes.append(f"best of {theirs.passes} passes in one JVM after a first one")
    found.time(model, "fit", theirs.fit)
    found.time(model, "predict_proba", theirs.predict, len(X))
    return X, y, theirs
