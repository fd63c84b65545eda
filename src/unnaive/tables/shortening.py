r"""Fewer terms of a weighted model: those that matter least are dropped.

.. math:: \Delta_t = \frac{w_t^2}{2 \, (H^{-1})_{tt}}

is what the penalized log loss grows by, to second order, if the weight of term t becomes 0 and all
other weights adapt; H has the second derivatives.

References
----------
Hassibi & Stork, "Second order derivatives for network pruning: optimal brain surgeon", NIPS 5,
1993.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._core.tables import log_posterior

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, FloatArray, IntArray
    from unnaive.tables.weighing import Weighing

_SHARE = 4  # of the terms that are too many, one in four is dropped before weights are fitted anew
_RIDGE = 1e-9  # relative; without penalties, second derivatives may be singular
_TIE = 1e-6  # relative; terms that are copies of each other differ by rounding


class Shortened(NamedTuple):
    """The terms that are kept.

    Attributes
    ----------
    weighing : Weighing
        Log factors of the terms that are kept.
    point : ndarray of shape (r + k,)
        Their weights, above 0, and the biases.
    kept : ndarray of shape (m,)
        Which of all terms these are.
    path : dict of arrays
        "terms": number of terms; "log_loss": of rows that are held out of the weights.
    """

    weighing: Weighing
    point: FloatArray
    kept: BoolArray
    path: dict[str, FloatArray | IntArray]


def shortened(weighing: Weighing, point: FloatArray, most: int) -> Shortened:
    """Drop terms until at most ``most`` have a weight, the least important first.

    A quarter of those that are too many, at least one, is dropped at a time; then the weights of
    the others are fitted anew.

    Parameters
    ----------
    weighing : Weighing
        Log factors of m terms.
    point : ndarray of shape (m + k,)
        The fitted weights and biases.
    most : int
        Most terms.

    Returns
    -------
    Shortened
        The terms that are kept; those of weight 0 never are.
    """
    number = len(weighing.penalty)
    places = np.arange(number)
    path = []
    while True:
        stays = point[: len(places)] > 0
        weighing, point, places = _only(weighing, point, places, stays)
        path.append((len(places), held_out_loss(weighing, point)))
        if len(places) <= most:
            break
        n_dropped = max(1, (len(places) - most) // _SHARE)
        stays = np.ones(len(places), dtype=bool)
        stays[cheapest(weighing, point, n_dropped)] = False
        weighing, point, places = _only(weighing, point, places, stays)
        point = weighing.fit(point)
    kept = np.zeros(number, dtype=bool)
    kept[places] = True
    terms, losses = zip(*path, strict=True)
    return Shortened(
        weighing, point, kept, {"terms": np.array(terms), "log_loss": np.array(losses)}
    )


def cheapest(weighing: Weighing, point: FloatArray, number: int) -> IntArray:
    """Choose the terms without which the loss grows least, to second order; shape (number,).

    One is chosen after the other, and the weights of the rest adapt each time: of two terms that
    say the same, only one is cheap.

    Parameters
    ----------
    weighing : Weighing
        Log factors of m terms.
    point : ndarray of shape (m + k,)
        The fitted weights, all above 0, and the biases.
    number : int
        How many terms to choose.

    Returns
    -------
    ndarray of shape (number,)
        Positions of the terms, the cheapest first.
    """
    weights = point[: len(weighing.penalty)].copy()
    curvature = weighing.curve(point, np.ones(len(point), dtype=bool)).curvature
    diagonal = np.einsum("ii->i", curvature)
    diagonal += _RIDGE * max(float(diagonal.mean()), np.finfo(float).tiny)
    spread = np.linalg.inv(curvature)[: len(weights), : len(weights)]
    chosen = np.zeros(number, dtype=np.int64)
    left = np.ones(len(weights), dtype=bool)
    least = np.finfo(float).eps * np.abs(spread.diagonal())  # rounding may leave less than 0
    for place in range(number):
        growth, widths = np.full(len(weights), np.inf), np.maximum(spread.diagonal(), least)
        growth[left] = weights[left] ** 2 / (2 * widths[left])
        term = _last_of_least(growth)
        chosen[place], left[term] = term, False
        line = spread[term] / widths[term]
        weights -= weights[term] * line
        spread = spread - np.outer(spread[:, term], line)
    return chosen


def held_out_loss(weighing: Weighing, point: FloatArray) -> float:
    """Mean log loss of the rows, each with weights that were fitted without its fold."""
    joint = np.ascontiguousarray(weighing.cross_validated(point))
    logs = np.empty_like(joint)
    log_posterior(joint, logs)
    true = logs[np.arange(len(logs)), weighing.classes]
    return -float(np.average(true, weights=weighing.importance))


def _last_of_least(growth: FloatArray) -> int:
    """Position of the smallest growth; of those that are alike, the last one."""
    return int(np.flatnonzero(growth <= growth.min() * (1 + _TIE))[-1])


def _only(
    weighing: Weighing, point: FloatArray, places: IntArray, stays: BoolArray
) -> tuple[Weighing, FloatArray, IntArray]:
    """Keep some of the terms, their weights, and their places among all terms."""
    if stays.all():
        return weighing, point, places
    biases = np.ones(len(weighing.prior), dtype=bool)
    return weighing.some(stays), point[np.concatenate([stays, biases])], places[stays]
