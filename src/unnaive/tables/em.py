r"""Expectation maximization: tables and graphs of networks from rows with missing values.

Given tables, every row has expected counts: the probabilities of its missing cells given its
observed ones. Tables that are estimated from the expected counts have a higher likelihood,

.. math:: \ell(\theta) = \sum_r \log P(x_{r,\text{observed}} \mid \theta)

so that repeating both never lowers it (Dempster, Laird & Rubin 1977). It is right if cells are
missing at random: whether one is missing may depend on observed cells only. Structural EM also
changes the graph, by a search with expected counts (Friedman 1997, 1998).

References
----------
Dempster, Laird & Rubin, "Maximum likelihood from incomplete data via the EM algorithm", J. R.
Statist. Soc. B 39, 1977; Lauritzen, "The EM algorithm for graphical association models with missing
data", Comput. Statist. Data Anal. 19, 1995; Friedman, "The Bayesian structural EM algorithm", UAI
1998.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.information.scores import FamilyScores
from unnaive.structure.climb import Climber, hill_climbing
from unnaive.structure.dag import DAG
from unnaive.tables.evidence import chances_of, encoded, is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import CodeArray, FloatArray
    from unnaive.tables.clique_tree import CliqueTree
    from unnaive.tables.network import Network

_BLOCK_BYTES = 1 << 24  # of the cliques of rows that are computed together
_MOST_COMPLETIONS = 1 << 12  # of one row; of rows with more, this many are sampled
_NEGLIGIBLE = 1e-12  # completions of smaller probability are left out of a search


@dataclass(frozen=True, eq=False)
class EM:
    """Result of :func:`expectation_maximization`.

    Attributes
    ----------
    network : Network
        The network with the estimated tables.
    path : ndarray of shape (m,)
        Log-likelihood of the rows before every step and after the last (with ``pseudo_count``,
        plus the log prior of the tables); it never falls.
    converged : bool
        Whether the last step gained no more than the tolerance.
    """

    network: Network
    path: FloatArray
    converged: bool

    def __repr__(self) -> str:
        """Name the gain."""
        steps, gain = len(self.path) - 1, self.path[-1] - self.path[0]
        end = "converged" if self.converged else "not converged"
        return f"EM({steps} steps, log-likelihood {self.path[-1]:.6g} (+{gain:.4g}), {end})"


@dataclass(frozen=True, eq=False)
class StructuralEM:
    """Result of :func:`structural_em`.

    Attributes
    ----------
    network : Network
        The network with the graph and the tables that were learned.
    path : ndarray of shape (m,)
        BIC of the observed cells for every graph that was kept, the given one first; it rises.
    """

    network: Network
    path: FloatArray


@dataclass(frozen=True, eq=False)
class _Rows:
    """Distinct rows: counts of families of complete ones, and the others with their weights."""

    families: list[FloatArray]
    codes: CodeArray
    weights: FloatArray
    total: float


def expectation_maximization(
    network: Network,
    rows: object,
    *,
    pseudo_count: float = 0.0,
    max_steps: int = 200,
    tolerance: float = 1e-6,
) -> EM:
    """Estimate the tables of a network from rows with missing values.

    Parameters
    ----------
    network : Network
        The graph, the states, and the tables from which to start; ``Network.uniform`` makes some.
        A variable that is never observed needs a random start. With a ``pseudo_count``, tables
        must not have zeros.
    rows : list of dict, data frame or array
        As in ``Network.log_probability``; missing cells are None or NaN.
    pseudo_count : float, default=0
        Added to every expected count: the mode under a Dirichlet prior.
    max_steps : int, default=200
        Largest number of steps.
    tolerance : float, default=1e-6
        Stop when a step gains no more than this, per row.

    Returns
    -------
    EM
        The network and the path of the log-likelihood.

    See Also
    --------
    structural_em : Also learns the graph.

    Examples
    --------
    >>> from unnaive import Network
    >>> dag = DAG.of_edges(["rain", "wet"], [("rain", "wet")])
    >>> start = Network.uniform(dag, (("no", "yes"), ("no", "yes")))
    >>> rows = [{"rain": "yes", "wet": "yes"}, {"rain": "no", "wet": "no"}, {"wet": "yes"}] * 10
    >>> result = expectation_maximization(start, rows)
    >>> result.network.query("rain").round(3)
    array([0.333, 0.667])
    >>> bool((np.diff(result.path) >= 0).all())
    True
    """
    _require_whole(1, max_steps=max_steps)
    if not is_number(tolerance) or math.isnan(tolerance):
        raise UnnaiveError(f"tolerance={tolerance!r}; it must be a number")
    distinct = _distinct(network, encoded(network, rows))
    return _maximized(network, distinct, pseudo_count, max_steps, tolerance)


def _maximized(
    network: Network, rows: _Rows, pseudo_count: float, max_steps: int, tolerance: float
) -> EM:
    _require_prior(network, pseudo_count)
    tree, tables = network._tree, list(network.tables)  # noqa: SLF001
    path, converged = list[float](), False
    for _ in range(max_steps + 1):
        expected, log = _expected(network, tree, rows, tables, pseudo_count)
        path.append(max(log, path[-1]) if path and log > path[-1] - _rounding(log) else log)
        converged = len(path) > 1 and path[-1] - path[-2] <= tolerance * max(1.0, rows.total)
        if converged or len(path) > max_steps:
            break
        tables = [_shares(*pair, pseudo_count) for pair in zip(expected, tables, strict=True)]
        tree = tree.with_tables(tables)
    return EM(replace(network, tables=tuple(tables)), np.array(path), converged)


def _require_whole(least: int, **numbers: object) -> None:
    for name, number in numbers.items():
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not whole or number < least:  # type: ignore[operator]
            raise UnnaiveError(f"{name}={number!r}; it must be a whole number of at least {least}")


def _require_prior(network: Network, pseudo_count: float) -> None:
    """Raise if there is no such prior, or if the tables to start from have probability 0 by it."""
    if not is_number(pseudo_count) or not 0 <= pseudo_count < math.inf:
        raise UnnaiveError(f"pseudo_count={pseudo_count!r}; it must be a number of at least 0")
    zeros = [
        name
        for name, table in zip(network.dag.names, network.tables, strict=True)
        if not table.all()
    ]
    if pseudo_count and zeros:
        raise UnnaiveError(
            f"pseudo_count={pseudo_count:g} allows no probability 0, and the table of "
            f"{zeros[0]!r} to start from has one; start from Network.uniform(dag, states)"
        )


def _rounding(log: float) -> float:
    """Error of a sum of logarithms; a path that is flat up to it does not fall."""
    return 1e-11 * max(1.0, abs(log))


def _distinct(network: Network, codes: CodeArray) -> _Rows:
    """Split rows into complete ones, which are counted once, and distinct others."""
    unique, weights = np.unique(codes, axis=1, return_counts=True)
    missing = (unique >= network.sizes[:, None]).any(axis=0)
    families = []
    for node, above in enumerate(network.dag.parents):
        shape = network.sizes[[*above, node]].tolist()
        cells = np.ravel_multi_index(unique[[*above, node]][:, ~missing].astype(np.int64), shape)
        counts = np.bincount(cells, weights[~missing], math.prod(shape))
        families.append(counts.reshape(shape).astype(float))
    return _Rows(families, unique[:, missing], weights[missing].astype(float), float(weights.sum()))


def _expected(
    network: Network,
    tree: CliqueTree,
    rows: _Rows,
    tables: Sequence[FloatArray],
    pseudo_count: float,
) -> tuple[list[FloatArray], float]:
    """Return the expected counts of all families, and the log-likelihood of the tables."""
    expected, log = [counts.copy() for counts in rows.families], 0.0
    for counts, table in zip(rows.families, tables, strict=True):
        some = counts > 0
        with np.errstate(divide="ignore"):
            log += float((counts[some] * np.log(table[some])).sum())
            if pseudo_count:
                log += pseudo_count * float(np.log(table).sum())
    size = max(1, min(_BLOCK_BYTES, network.max_memory) // tree.row_bytes)
    for start, stop in _parallel.row_blocks(len(rows.weights), size):
        weights = rows.weights[start:stop]
        beliefs, logs = tree.observed(chances_of(network, rows.codes[:, start:stop]))
        logs = np.broadcast_to(logs, weights.shape)
        if np.isneginf(logs).any():
            _refuse(network, rows.codes[:, start + int(np.isneginf(logs).argmax())])
        log += float((weights * logs).sum())
        for table, more in zip(expected, tree.expected(beliefs, weights), strict=True):
            np.add(table, more, out=table)
    if log == -math.inf:
        raise UnnaiveError(
            "some rows have probability 0 by the tables to start from; start from "
            "Network.uniform(dag, states)"
        )
    return expected, log


def _refuse(network: Network, codes: CodeArray) -> None:
    seen = np.flatnonzero(codes < network.sizes).tolist()
    spelled = network._spelled(seen, codes[seen])  # noqa: SLF001
    raise UnnaiveError(
        f"a row has probability 0 by the tables to start from: {spelled}; start from "
        "Network.uniform(dag, states)"
    )


def _shares(counts: FloatArray, table: FloatArray, pseudo_count: float) -> FloatArray:
    """Divide counts by their sums; contexts without rows keep their probabilities."""
    counts = counts + pseudo_count
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), table)


def structural_em(
    network: Network,
    rows: object,
    *,
    max_parents: int = 3,
    max_graphs: int = 20,
    pseudo_count: float = 0.0,
    random_state: int | None = 0,
) -> StructuralEM:
    """Learn the graph of a network, too, from rows with missing values.

    Tables are estimated by EM. Every incomplete row is replaced by all of its completions,
    weighted by their probabilities, and hill climbing with BIC searches for a better graph. This
    is repeated while the BIC of the observed cells rises.

    Parameters
    ----------
    network : Network
        States, and the graph and tables from which to start, such as
        ``Network.uniform(DAG.empty(names), states)``.
    rows : list of dict, data frame or array
        As in ``Network.log_probability``.
    max_parents : int, default=3
        Largest number of parents of a variable.
    max_graphs : int, default=20
        Largest number of graphs.
    pseudo_count : float, default=0
        As in :func:`expectation_maximization`.
    random_state : int or None, default=0
        Random seed for rows with more than 4,096 completions, of which as many are sampled.

    Returns
    -------
    StructuralEM
        The network and the path of the score.

    See Also
    --------
    expectation_maximization : Estimates tables only.
    """
    _require_whole(0, max_parents=max_parents, max_graphs=max_graphs)
    codes = encoded(network, rows)
    if not codes.shape[1]:
        raise UnnaiveError("there are no rows; nothing to learn a graph from")
    random = np.random.default_rng(random_state)
    best = _fitted(network, codes, pseudo_count)
    path = [_bic(best, codes)]
    free = np.zeros((len(network.sizes),) * 2, dtype=bool)
    while len(path) <= max_graphs:
        completed, weights = _completed(best, codes, random)
        scores = FamilyScores(completed, network.sizes, "bic", weights)
        start = [set(above) for above in best.dag.parents]
        found = hill_climbing(Climber(scores, max_parents, free, free, start))
        parents = tuple(tuple(sorted(above)) for above in found.parents)
        if parents == best.dag.parents:
            break
        dag = DAG(network.dag.names, parents)
        tables = _counted(dag, network.sizes.tolist(), completed, weights, pseudo_count)
        tried = _fitted(replace(best, dag=dag, tables=tables), codes, pseudo_count)
        score = _bic(tried, codes)
        if score <= path[-1]:
            break
        best, path = tried, [*path, score]
    return StructuralEM(best, np.array(path))


def _fitted(network: Network, codes: CodeArray, pseudo_count: float) -> Network:
    return _maximized(network, _distinct(network, codes), pseudo_count, 200, 1e-6).network


def _bic(network: Network, codes: CodeArray) -> float:
    """Log-likelihood of the observed cells less half of log n for each parameter."""
    rows = _distinct(network, codes)
    _, log = _expected(network, network._tree, rows, network.tables, 0.0)  # noqa: SLF001
    free = sum(table.size - table.size // table.shape[-1] for table in network.tables)
    return float(log - 0.5 * math.log(max(2.0, rows.total)) * free)


def _completed(
    network: Network, codes: CodeArray, random: np.random.Generator
) -> tuple[CodeArray, FloatArray]:
    """Return distinct rows without missing cells, and their expected numbers."""
    unique, weights = np.unique(codes, axis=1, return_counts=True)
    pieces, shares = [], []
    for row, weight in zip(unique.T, weights.tolist(), strict=True):
        gaps = np.flatnonzero(row >= network.sizes)
        number = math.prod(network.sizes[gaps].tolist())
        if number > _MOST_COMPLETIONS:
            seen = {
                network.dag.names[node]: network.states[node][row[node]]
                for node in np.flatnonzero(row < network.sizes).tolist()
            }
            drawn = network.sample(_MOST_COMPLETIONS, seen, random).codes
            pieces.append(drawn)
            shares.append(np.full(drawn.shape[1], weight / drawn.shape[1]))
            continue
        filled = np.repeat(row[:, None], number, axis=1)
        filled[gaps] = np.array(list(product(*map(range, network.sizes[gaps])))).T
        logs, _ = network._eliminated(filled, set(), (), network._all)  # noqa: SLF001
        chances = np.exp(logs - logs.max())
        chances /= chances.sum()
        kept = chances > _NEGLIGIBLE
        pieces.append(filled[:, kept])
        shares.append(weight * chances[kept])
    return np.ascontiguousarray(np.concatenate(pieces, axis=1)), np.concatenate(shares)


def _counted(
    dag: DAG, sizes: list[int], codes: CodeArray, weights: FloatArray, pseudo_count: float
) -> tuple[FloatArray, ...]:
    """Estimate tables from complete rows; contexts without rows are uniform."""
    tables = []
    for node, above in enumerate(dag.parents):
        shape = [sizes[v] for v in (*above, node)]
        cells = np.ravel_multi_index(codes[[*above, node]].astype(np.int64), shape)
        counts = np.bincount(cells, weights, math.prod(shape)).reshape(shape).astype(float)
        tables.append(_shares(counts, np.full(shape, 1 / shape[-1]), pseudo_count))
    return tuple(tables)
