"""How sure: intervals against the truth, prediction sets against MAPIE, abstention.

``intervals``: 200 networks of known structure, with tables drawn from the prior that the model
smooths with; how often the true posterior lies in its interval. ``cost``: time of intervals over
that of ``predict_proba``. ``draws``: closed form against sampling. ``sets``: coverage and size of
prediction sets on the papers' data sets, five folds, beside MAPIE with the same model. ``abstain``:
area under the risk-coverage curve beside LightGBM. Finished data sets are kept (``--resume``).
"""

from __future__ import annotations

import json
import os
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from benchmarks import paper, quality, report
from benchmarks.quality_methods import method
from unnaive import KDB, TAN, BDeu, ConformalClassifier, Laplace, NaiveBayes, make
from unnaive.evaluate import risk_coverage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unnaive._typing import FloatArray, IntArray

    Tables = tuple[FloatArray, list[FloatArray]]

__all__ = ["PARTS", "paper", "run"]
PARTS = ("intervals", "cost", "draws", "sets", "abstain")
LEVEL = COVERAGE = 0.9
NETWORKS, TEST_ROWS = 200, 50


def known_network(
    random: np.random.Generator, sizes: list[int], parents: list[int], k: int, strength: float
) -> Tables:
    """Draw the prior (k,) and a table (k, values of the parent, values) of every column."""
    prior = random.dirichlet(np.full(k, strength))
    tables = [
        random.dirichlet(np.full(v, strength), size=(k, sizes[p] if p >= 0 else 1))
        for v, p in zip(sizes, parents, strict=True)
    ]
    return prior, tables


def sampled(
    random: np.random.Generator, network: Tables, parents: list[int], n: int
) -> tuple[IntArray, IntArray]:
    """Sample rows (n, d) and classes (n,); parents come before children."""
    prior, tables = network
    y = random.choice(len(prior), size=n, p=prior)
    X = np.zeros((n, len(tables)), dtype=np.int64)
    for column, (table, parent) in enumerate(zip(tables, parents, strict=True)):
        lines = table[y, X[:, parent] if parent >= 0 else 0]
        X[:, column] = (random.random(n)[:, None] > np.cumsum(lines, axis=1)).sum(axis=1)
    return np.minimum(X, [t.shape[2] - 1 for t in tables]), y


def true_posterior(network: Tables, parents: list[int], X: IntArray) -> FloatArray:
    """P(c | x) of rows, by the network that they were sampled from; shape (n, k)."""
    prior, tables = network
    joint = np.repeat(np.log(prior)[None], len(X), axis=0)
    for column, (table, parent) in enumerate(zip(tables, parents, strict=True)):
        above = X[:, parent] if parent >= 0 else np.zeros(len(X), dtype=np.int64)
        joint += np.log(table[:, above, X[:, column]]).T
    return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def intervals() -> list[list[Any]]:
    """Share of true posteriors inside their intervals, by model, rows and classes."""
    random, found = np.random.default_rng(20_261_118), {}
    for index in range(NETWORKS):
        k, d = int(random.integers(2, 5)), int(random.integers(3, 12))
        n = int(random.choice([50, 200, 1000]))
        sizes = random.integers(2, 5, d).tolist()
        tree = index % 2 == 1
        parents = [-1, *(int(random.integers(0, c)) for c in range(1, d))] if tree else [-1] * d
        network = known_network(random, sizes, parents, k, 1.0)
        X, y = sampled(random, network, parents, n)
        test, _ = sampled(random, network, parents, TEST_ROWS)
        declared = [list(range(v)) for v in sizes]
        known: dict[str, Any] = {"discretize": None, "categories": declared}
        known["smoothing"] = Laplace(1.0)
        above = [p if p >= 0 else None for p in parents]
        model = TAN(parents=above, **known) if tree else NaiveBayes(**known)
        model.partial_fit(X, y, classes=list(range(k)))
        bounds = model.predict_interval(test, LEVEL)
        truth = true_posterior(network, parents, test)
        inside = ((bounds.lower <= truth) & (truth <= bounds.upper)).mean()
        for key in ("all", "TAN" if tree else "NB", f"{n} rows", f"{k} classes"):
            found.setdefault(key, []).append((inside, bounds.width.mean()))
    lines = []
    for key in sorted(found):
        inside, width = np.array(found[key]).T
        lines.append([key, len(inside), f"{inside.mean():.1%}", f"{width.mean():.3f}"])
    return lines


def cost() -> list[list[Any]]:
    """Processor time of intervals over that of probabilities, best of interleaved rounds."""
    random, lines = np.random.default_rng(0), []
    for rows, columns, k in ((100_000, 10, 2), (100_000, 50, 2), (50_000, 30, 5)):
        y = random.integers(0, k, rows)
        X = random.integers(0, 4, (rows, columns)) + (
            random.random((rows, columns)) < 0.1 * y[:, None]
        )
        for model in (NaiveBayes(discretize=None), TAN(discretize=None), KDB(discretize=None)):
            model.set_params(n_jobs=1).fit(X, y)
            model.predict_interval(X[:10])
            times = np.array(
                [
                    [_processor(model.predict_proba, X), _processor(model.predict_interval, X)]
                    for _ in range(7)
                ]
            ).min(axis=0)
            name = f"{type(model).__name__} {rows:,} x {columns}, {k} classes"
            lines.append(
                [name, f"{times[0]:.3f} s", f"{times[1]:.3f} s", f"{times[1] / times[0]:.2f}"]
            )
    return lines


def _processor(function: Callable[[Any], Any], X: Any) -> float:
    begun = time.process_time()
    function(X)
    return time.process_time() - begun


def draws() -> list[list[Any]]:
    """Moments and quantiles in closed form against 4,000 draws of the tables."""
    random, lines = np.random.default_rng(1), []
    for n in (50, 200, 1000):
        y = random.integers(0, 2, n)
        X = random.integers(0, 3, (n, 8)) + (random.random((n, 8)) < 0.3 * y[:, None])
        for model in (NaiveBayes(discretize=None), TAN(discretize=None, smoothing=BDeu(4))):
            model.fit(X, y)
            closed = model.predict_interval(X[:50], LEVEL)
            drawn = model.predict_interval(X[:50], LEVEL, method="sample", draws=4000)
            gaps = [
                np.abs(getattr(closed, b) - getattr(drawn, b)).mean()
                for b in ("lower", "median", "upper")
            ]
            name = f"{type(model).__name__}, {n} rows"
            lines.append([name, *(f"{gap:.4f}" for gap in gaps), f"{closed.width.mean():.3f}"])
    return lines


def sets_of(name: str) -> dict[str, Any]:
    """Coverage, size and seconds of sets on one data set, by method, means over folds."""
    rows = quality.read_rows(name)
    found: dict[str, list[tuple[float, float, float]]] = {}
    numbers, labels = _numbers(rows.X)  # MAPIE asks models about rows of zeros
    for train, test in rows.folds:
        X, y, other, truth = numbers[train], rows.y[train], numbers[test], rows.y[test]
        for kind, predict in _set_methods(labels).items():
            begun = time.process_time()
            try:
                included, classes = predict(X, y, other)
            except Exception as error:
                found.setdefault(kind, []).append((np.nan, np.nan, np.nan))
                print(f"  {name}: {kind} {type(error).__name__}: {str(error)[:80]}")
                continue
            spent = time.process_time() - begun
            covered = (included & (classes == truth[:, None])).any(axis=1).mean()
            found.setdefault(kind, []).append((covered, included.sum(axis=1).mean(), spent))
    means = {kind: np.mean(values, axis=0).tolist() for kind, values in found.items()}
    return {"name": name, "rows": len(rows.y), "methods": means}


def _numbers(X: Any) -> tuple[FloatArray, list[bool]]:
    """Return a frame as numbers, labels by their codes, and which columns are labels."""
    labels = [column.dtype.kind not in "biuf" for _, column in X.items()]
    columns = [
        np.where(column.isna(), np.nan, column.astype("category").cat.codes)
        if label
        else column.to_numpy(dtype=np.float64, na_value=np.nan)
        for (_, column), label in zip(X.items(), labels, strict=True)
    ]
    return np.column_stack(columns), labels


def _set_methods(labels: list[bool]) -> dict[str, Callable[[Any, IntArray, Any], tuple[Any, Any]]]:
    known = {"categorical_features": labels, "n_jobs": 1}

    def ours(how: str) -> Callable[[Any, IntArray, Any], tuple[Any, Any]]:
        def predict(X: Any, y: IntArray, other: Any) -> tuple[Any, Any]:
            model = ConformalClassifier(make("tan", **known), method=how).fit(X, y)
            return model.predict_set(other, COVERAGE).included, model.classes_

        return predict

    def split(X: Any, y: IntArray, other: Any) -> tuple[Any, Any]:
        from mapie.classification import SplitConformalClassifier  # noqa: PLC0415 - a peer
        from sklearn.model_selection import train_test_split  # noqa: PLC0415 - with it

        inner, held, y_inner, y_held = train_test_split(X, y, test_size=0.25, random_state=0)
        fitted = make("tan", **known).fit(inner, y_inner)
        model = SplitConformalClassifier(
            fitted, confidence_level=COVERAGE, conformity_score="lac", prefit=True
        )
        model.conformalize(held, y_held)
        return model.predict_set(other)[1][:, :, 0], np.unique(y_inner)

    def cross(X: Any, y: IntArray, other: Any) -> tuple[Any, Any]:
        from mapie.classification import CrossConformalClassifier  # noqa: PLC0415 - a peer

        model = CrossConformalClassifier(
            make("tan", **known), confidence_level=COVERAGE, conformity_score="lac", cv=5
        )
        model.fit_conformalize(X, y)
        return model.predict_set(other)[1][:, :, 0], np.unique(y)

    return {
        "loo": ours("loo"),
        "cross": ours("cross"),
        "split": ours("split"),
        "MAPIE split": split,
        "MAPIE cross": cross,
    }


def abstention_of(name: str) -> dict[str, Any]:
    """Area under the risk-coverage curve on one data set, held out, by method."""
    rows, areas = quality.read_rows(name), {}
    for spec in ("auto", "lightgbm"):
        chances = np.zeros((len(rows.y), int(rows.y.max()) + 1))
        for train, test in rows.folds:
            model = method(spec).make(1)
            model.fit(rows.X.iloc[train], rows.y[train])
            classes = np.unique(rows.y[train])
            chances[np.ix_(test, classes)] = model.predict_proba(rows.X.iloc[test])
        areas[spec] = risk_coverage(rows.y, chances, np.arange(chances.shape[1])).area
    return {"name": name, "rows": len(rows.y), "areas": areas}


def _units(
    part: str, measure: Callable[[str], dict[str, Any]], resume: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the result of every data set; finished ones come from the file."""
    path = Path(resume) if resume else None
    done = {}
    if path and path.exists():
        lines = map(json.loads, path.read_text().splitlines())
        done = {line["name"]: line for line in lines if line["part"] == part}
    for name in sorted(quality.NAMES, key=quality.size_of):  # small ones first
        if name in quality.SKIPPED:
            continue
        if name not in done:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                done[name] = {"part": part, **measure(name)}
            if path:
                with path.open("a") as stream:
                    stream.write(json.dumps(done[name]) + "\n")
        yield done[name]


def show_sets(resume: str | None) -> list[dict[str, Any]]:
    """Show coverage and size on all data sets."""
    found = list(_units("sets", sets_of, resume))
    kinds = list(_set_methods([]))
    rows = [
        [
            one["name"],
            one["rows"],
            *(f"{one['methods'][k][0]:.3f} / {one['methods'][k][1]:.2f}" for k in kinds),
        ]
        for one in found
    ]
    means = np.nanmean([[one["methods"][kind] for kind in kinds] for one in found], axis=0)
    rows.append(["mean", "", *(f"{line[0]:.3f} / {line[1]:.3f}" for line in means)])
    rows.append(["processor seconds", "", *(f"{line[2]:.2f}" for line in means)])
    report.show(["data set", "rows", *kinds], rows)
    return found


def show_abstention(resume: str | None) -> list[dict[str, Any]]:
    """Show the areas on all data sets."""
    found = list(_units("abstain", abstention_of, resume))
    rows = [
        [one["name"], one["rows"], *(f"{area:.4f}" for area in one["areas"].values())]
        for one in found
    ]
    report.show(["data set", "rows", "auto", "LightGBM"], rows)
    better = sum(one["areas"]["auto"] <= one["areas"]["lightgbm"] for one in found)
    print(f"area no worse than LightGBM's on {better} of {len(found)} sets")
    return found


def run(
    folder: Path,
    *,
    only: list[str] | None = None,
    resume: str | None = None,
    json_file: str | None = None,
) -> None:
    """Run the parts, or some of them."""
    os.environ["UNNAIVE_DATA"] = str(folder)
    results: dict[str, Any] = {"machine": report.show_machine(), "load": os.getloadavg()}
    print(f"load {results['load']}")
    tables: dict[str, tuple[Callable[[], list[list[Any]]], list[str]]] = {
        "intervals": (intervals, ["networks", "number", "inside", "mean width"]),
        "cost": (cost, ["model", "predict_proba", "predict_interval", "ratio"]),
        "draws": (draws, ["model", "gap of lower", "of median", "of upper", "mean width"]),
    }
    for part in only or PARTS:
        report.section(part)
        if part in tables:
            results[part] = tables[part][0]()
            report.show(tables[part][1], results[part])
        else:
            results[part] = (show_sets if part == "sets" else show_abstention)(resume)
    report.write_json(json_file, results)
