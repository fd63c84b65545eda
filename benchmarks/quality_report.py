"""Summary of the quality benchmark: ranks, ratios, wins, times, targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import unnaive
from benchmarks import report
from benchmarks.quality_methods import BASELINE, PEERS, parse
from unnaive.evaluate.significance import nemenyi, rank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unnaive._typing import FloatArray

MEASURES = {  # what they are called, and whether less is better
    "log_loss": ("log loss", True),
    "accuracy": ("accuracy", False),
    "brier": ("Brier", True),
    "auc": ("AUC", False),
    "calibration": ("ECE", True),
}
TIMES = ("fit_wall", "predict_wall", "fit_process", "predict_process")
FLOOR = 1e-4  # log losses below count as this in ratios
WORST = 8  # data sets named for each of ours
RATIO = {"best": 1.1, "blend": 1.0}  # targets of `auto`
POINTS = 0.5  # of accuracy that it may lose against the best peer, on average

Results = dict[str, dict[str, Any]]  # by method and data set; None if a unit is not done
Figures = dict[str, "FloatArray"]  # by method, one a data set; NaN where the method failed


def show(results: Results, titles: Mapping[str, str], tables: Sequence[str]) -> dict[str, Any]:
    """Print all tables, and return their figures."""
    complete = {spec: found for spec, found in results.items() if None not in found.values()}
    for spec in results:
        if spec not in complete:
            _show_part(spec, results[spec], complete, titles)
    if not complete:
        return {}
    data = list(next(iter(complete.values())))
    _show_troubles(complete, titles)
    values = {name: gather(complete, name) for name in MEASURES}
    times = {name: gather(complete, name) for name in TIMES}
    for name in tables:
        _show_sets(name, values[name], data, titles)
    ranks = _show_ranks(values, titles)
    figures = _show_figures(values, times, titles)
    _show_threads(complete)
    _show_losses(values, data, titles)
    targets = _show_targets(ranks, figures, titles)
    return {"data": data, "ranks": ranks, "figures": figures, "targets": targets}


def gather(results: Results, name: str) -> Figures:
    """Return a measure of every method on every data set, the mean over folds."""
    return {
        spec: np.array([_figure(unit, name) for unit in found.values()])
        for spec, found in results.items()
    }


def mean_ranks(figures: Figures, *, lower_is_better: bool) -> dict[str, float]:
    """Return the mean rank of every method; ties share ranks, and a failed method is last.

    >>> figures = {"a": np.array([0.1, 0.2]), "b": np.array([0.1, np.nan])}
    >>> mean_ranks(figures, lower_is_better=True)
    {'a': 1.25, 'b': 1.75}
    """
    table = np.column_stack(list(figures.values()))
    filled = np.where(np.isnan(table), np.inf if lower_is_better else -np.inf, table)
    ranks = rank(filled, lower_is_better=lower_is_better).mean(axis=0)
    return dict(zip(figures, ranks.tolist(), strict=True))


def loss_ratios(losses: Figures, spec: str) -> FloatArray:
    """Return log losses divided by the baseline's, for each data set; at least ``FLOOR``."""
    return np.maximum(losses[spec], FLOOR) / np.maximum(losses[BASELINE], FLOOR)


def geometric_mean(ratios: FloatArray) -> float:
    """Return the geometric mean of the available values.

    >>> geometric_mean(np.array([2.0, np.nan, 0.5]))
    1.0
    """
    return float(np.exp(known_mean(np.log(ratios))))


def known_mean(series: FloatArray) -> float:
    """Return the mean of the available values; NaN if there are none."""
    known = series[~np.isnan(series)]
    return float(known.mean()) if len(known) else np.nan


def record(ours: FloatArray, theirs: FloatArray, *, lower_is_better: bool) -> tuple[int, int, int]:
    """Count wins, ties and losses; a failure is a loss."""
    sign = -1 if lower_is_better else 1
    won = int(np.sum(sign * (ours - theirs) > 1e-12))
    tied = int(np.sum(np.abs(ours - theirs) <= 1e-12))
    return won, tied, len(ours) - won - tied


def _figure(unit: dict[str, Any], name: str) -> float:
    if "failed" in unit:
        return np.nan
    if name in unit:
        return float(unit[name])
    series = np.array([fold[name] for fold in unit["folds"]])
    return float(series.sum()) if name in TIMES else known_mean(series)


def _show_part(
    spec: str, found: dict[str, Any], complete: Results, titles: Mapping[str, str]
) -> None:
    """Compare an unfinished method on its finished data sets only."""
    done = [name for name, unit in found.items() if unit is not None]
    report.section(f"{titles[spec]} is unfinished: {len(done)} of {len(found)} data sets are done")
    part = {other: {name: all_[name] for name in done} for other, all_ in complete.items()}
    part[spec] = {name: found[name] for name in done}
    if not done or BASELINE not in part:
        return
    losses, right = gather(part, "log_loss"), gather(part, "accuracy")
    ranks = mean_ranks(losses, lower_is_better=True)
    rows = [
        [
            titles[other],
            f"{ranks[other]:.2f}",
            f"{geometric_mean(loss_ratios(losses, other)):.3f}",
            f"{known_mean(right[other]):.4f}",
        ]
        for other in sorted(ranks, key=ranks.__getitem__)
    ]
    print(f"On those ({', '.join(done)}):")
    report.show(["method", "rank of log loss", "ratio", "accuracy"], rows)


def _show_troubles(results: Results, titles: Mapping[str, str]) -> None:
    for spec, found in results.items():
        warned = [name for name, unit in found.items() if unit.get("warnings")]
        for name, unit in found.items():
            if "failed" in unit:
                print(f"{titles[spec]} failed on {name}: {unit['failed']}")
        if warned:
            first = found[warned[0]]["warnings"][0]
            print(f"{titles[spec]} warned on {len(warned)} sets ({', '.join(warned)}): {first}")


def _show_sets(name: str, figures: Figures, data: Sequence[str], titles: Mapping[str, str]) -> None:
    title, lower = MEASURES[name]
    report.section(f"{title[0].upper()}{title[1:]} for every data set, mean of the folds")
    table = np.column_stack(list(figures.values()))
    best = (np.fmin if lower else np.fmax).reduce(table, axis=1)
    rows = [
        [one, *(f"{value:.4f}{'*' if abs(value - top) <= 1e-12 else ' '}" for value in line)]
        for one, line, top in zip(data, table.tolist(), best.tolist(), strict=True)
    ]
    report.show(["data set", *(titles[spec] for spec in figures)], rows)
    print("* the best")


def _show_ranks(
    values: Mapping[str, Figures], titles: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Print mean ranks, methods in the order of log loss."""
    report.section("Mean ranks, 1 is best")
    ranks = {
        name: mean_ranks(values[name], lower_is_better=lower)
        for name, (_, lower) in MEASURES.items()
    }
    losses = values["log_loss"]
    order = sorted(losses, key=ranks["log_loss"].__getitem__)
    rows = [[titles[spec], *(f"{ranks[name][spec]:.2f}" for name in MEASURES)] for spec in order]
    report.show(["method", *(title for title, _ in MEASURES.values())], rows)
    if len(losses) > 1:
        critical = nemenyi(losses, lower_is_better=True).critical
        print(f"Differences of ranks below {critical:.2f} are not significant (Nemenyi, 5 %).")
    return ranks


def _show_figures(
    values: Mapping[str, Figures], times: Mapping[str, Figures], titles: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Print means, ratios, wins and times, methods in the order given."""
    report.section("Means, ratios, wins, times")
    found: dict[str, dict[str, Any]] = {}
    for spec in values["log_loss"]:
        means = {name: known_mean(figures[spec]) for name, figures in values.items()}
        totals = {name: float(np.nansum(figures[spec])) for name, figures in times.items()}
        best = count_best(values["log_loss"], spec)
        found[spec] = {**means, **totals, "best_log_loss": best}
        if BASELINE in values["log_loss"]:
            found[spec]["ratio"] = geometric_mean(loss_ratios(values["log_loss"], spec))
            for name in ("log_loss", "accuracy"):
                series, lower = values[name], MEASURES[name][1]
                against = record(series[spec], series[BASELINE], lower_is_better=lower)
                found[spec][f"against_{name}"] = against
    report.show(_HEADERS, [[titles[spec], *_figure_row(spec, one)] for spec, one in found.items()])
    print(f"Ratio: geometric mean of log loss divided by {PEERS[BASELINE][0]}'s, each loss at")
    print(f"least {FLOOR:g}. Best: number of data sets with the lowest log loss.")
    print(f"Then wins-ties-losses against {PEERS[BASELINE][0]}, by log loss and by accuracy. Times")
    print("are totals over all sets and folds: wall time and CPU time.")
    return found


_HEADERS = [
    *("method", "ratio", "log loss", "accuracy", "Brier", "AUC", "ECE", "best"),
    *("by log loss", "by accuracy", "fit", "predict", "fit CPU", "predict CPU"),
]


def count_best(figures: Figures, spec: str) -> int:
    """Count the data sets on which a method is best."""
    least = np.fmin.reduce(np.column_stack(list(figures.values())), axis=1)
    return int(np.sum(figures[spec] <= least + 1e-12))


def _figure_row(spec: str, one: Mapping[str, Any]) -> list[str]:
    none = "-"
    pairs = [
        "-".join(map(str, one[f"against_{name}"])) if "ratio" in one and spec != BASELINE else none
        for name in ("log_loss", "accuracy")
    ]
    return [
        f"{one['ratio']:.3f}" if "ratio" in one else none,
        *(f"{one[name]:.4f}" for name in MEASURES),
        str(one["best_log_loss"]),
        *pairs,
        *(report.duration(one[name]) for name in TIMES),
    ]


def _show_threads(results: Results) -> None:
    threads = {unit["threads"] for found in results.values() for unit in found.values()}
    print(f"Every method on {' or '.join(map(str, sorted(threads)))} threads", end="")
    print("." if len(threads) == 1 else ": times are NOT comparable.")


def _show_losses(
    values: Mapping[str, Figures], data: Sequence[str], titles: Mapping[str, str]
) -> None:
    """Print the data sets where each of ours is worst relative to the baseline."""
    losses = values["log_loss"]
    ours = [spec for spec in losses if spec not in PEERS]
    if BASELINE not in losses or not ours:
        return
    report.section(f"Where ours is worst compared with {PEERS[BASELINE][0]}: ratios of log loss")
    for spec in ours:
        ratios = loss_ratios(losses, spec)
        order = [i for i in np.argsort(-ratios, kind="stable") if ratios[i] > 1][:WORST]
        told = ", ".join(f"{data[i]} {ratios[i]:.2f}" for i in order) or "nowhere"
        print(f"{titles[spec]}: {told}")


def _show_targets(
    ranks: Mapping[str, dict[str, float]],
    figures: Mapping[str, dict[str, Any]],
    titles: Mapping[str, str],
) -> list[list[str]]:
    """Check the targets of every ``auto``."""
    rows: list[list[str]] = []
    peers = [spec for spec in figures if spec in PEERS]
    for spec in figures:
        if spec in PEERS or parse(spec)[0] != "auto" or BASELINE not in peers:
            continue
        key, parameters = parse(spec)
        choose = unnaive.make(key, **parameters).get_params()["choose"]
        name, one, losses = titles[spec], figures[spec], ranks["log_loss"]
        if choose == "blend":
            first = min(losses[peer] for peer in peers)
            rows.append(
                report.target(
                    f"{name}: mean rank of log loss, the best peer's being {first:.2f}",
                    *(losses[spec], round(first, 2), ""),
                    at_least=False,
                )
            )
        title = f"{name}: ratio of log loss"
        rows.append(report.target(title, one["ratio"], RATIO[choose], "", at_least=False))
        short = 100 * (max(figures[peer]["accuracy"] for peer in peers) - one["accuracy"])
        title = f"{name}: accuracy lost against the best peer, points"
        rows.append(report.target(title, short, POINTS, "", at_least=False))
        title = f"{name}: fit time over {titles[BASELINE]}'s"
        share = one["fit_wall"] / figures[BASELINE]["fit_wall"]
        rows.append(report.target(title, share, 1.0, "", at_least=False))
    if rows:
        report.section("Targets")
        report.show(["target", "wanted", "measured", ""], rows)
    return rows
