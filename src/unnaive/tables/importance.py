r"""Estimates from weighted samples, for networks whose exact answers need too much memory.

Samples are drawn forwards, hidden variables from proposals :math:`Q_i`, and weighted by

.. math:: w = \prod_i P(x_i \mid pa_i) \Big/ \prod_{i\ \mathrm{hidden}} Q_i(x_i \mid pa_i),
          \qquad \hat P(a \mid e) = \sum_{s:\, a} w_s \Big/ \sum_s w_s

With Q = P this is likelihood weighting. If the findings are improbable, few samples then have all
the weight, so the proposals of ancestors of findings are learned from weighted samples first. A
share of the samples is still drawn from P, and the weights are those of the mixture. Parts of the
network that the findings separate have weights of their own.

References
----------
Shachter & Peot, "Simulation approaches to general probabilistic inference on belief networks",
UAI 1989; Cheng & Druzdzel, "AIS-BN: an adaptive importance sampling algorithm for evidential
reasoning in large Bayesian networks", JAIR 13, 2000; Hesterberg, "Weighted average importance
sampling and defensive mixture distributions", Technometrics 37, 1995.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import memory_words
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.schema.columns import code_type
from unnaive.tables.evidence import findings_of, with_findings
from unnaive.tables.sampling import drawn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.tables.network import Network

    Nodes = tuple[int, ...]

_ROUNDS = 12  # of learning the proposals, at most
_GOOD = 0.5  # effective share of the samples from which on proposals need not become better
_LEARNED_FROM = 0.2  # effective share of the samples that proposals are learned from
_PRIOR = 10.0  # samples that count for the earlier proposal
_KEPT = 0.3  # share of P in every proposal
_PLAIN = 0.5  # share of the samples that are drawn from P: they find what proposals have lost
_IMPOSSIBLE = -50.0  # log-probability that impossible findings count as when proposals are learned
_LEAST = 10  # effective samples; of fewer, the standard error is unknown, too


@dataclass(frozen=True, eq=False)
class EstimatedProbabilities:
    """Probabilities that were estimated from samples.

    Attributes
    ----------
    probabilities : ndarray
        The estimates, of the shape of the exact answer.
    standard_errors : ndarray
        Their standard errors, of the same shape. They are not below the share of the heaviest
        sample, nor 1 / ``effective_samples``, since a state that was never drawn is not
        impossible; 0 for what was observed. They are estimates, too: the fewer effective
        samples, the rougher.
    effective_samples : ndarray
        Number of equally weighted samples that would be as precise, (Σw)² / Σw²; a number, or of
        shape (n,) for a batch.
    """

    probabilities: FloatArray
    standard_errors: FloatArray
    effective_samples: FloatArray


class ImportanceSampler:
    """Draws weighted samples of a network given one row of findings; see the module.

    Parameters
    ----------
    network : Network
        The network.
    codes : ndarray of shape (d,)
        Observed states; the number of states means not observed.
    random : Generator
        Source of chance.

    Attributes
    ----------
    parts : list of lists of int
        Variables of each part that the findings separate from others: hidden ancestors of
        findings, and the findings that depend on them.
    touched : list of frozensets of int
        Parts whose weights matter for each variable.
    """

    def __init__(self, network: Network, codes: CodeArray, random: np.random.Generator) -> None:
        self.network, self.random, self.codes = network, random, codes
        self.seen = frozenset(np.flatnonzero(codes < network.sizes).tolist())
        self.parts = self._separate()
        self._part_of = {v: number for number, part in enumerate(self.parts) for v in part}
        self.touched: list[frozenset[int]] = [frozenset()] * len(codes)
        for v in (v for v in network.dag.order if v not in self.seen):
            parents = (self.touched[parent] for parent in network.dag.parents[v])
            alone = v in self._part_of
            self.touched[v] = frozenset([self._part_of[v]] if alone else ()).union(*parents)
        self._proposals: dict[int, FloatArray] = {}
        self._weights: dict[frozenset[int], tuple[FloatArray, float]] = {}

    def _separate(self) -> list[list[int]]:
        """Group hidden ancestors of findings by the families that join them."""
        parents, part_of = self.network.dag.parents, dict[int, list[int]]()
        for v in sorted(self.network._with_ancestors(self.seen)):  # noqa: SLF001
            hidden = [m for m in (v, *parents[v]) if m not in self.seen]
            if not hidden and not self.network.tables[v][tuple(self.codes[[*parents[v], v]])]:
                seen = sorted(self.seen)
                spelled = self.network._spelled(seen, self.codes[seen])  # noqa: SLF001
                raise UnnaiveError(f"this evidence cannot occur, its probability is 0: {spelled}")
            joined = {id(part): part for m in hidden if (part := part_of.get(m)) is not None}
            merged = sorted({*hidden, v}.union(*joined.values())) if hidden else []
            part_of.update(dict.fromkeys(merged, merged))
        return sorted({id(part): part for part in part_of.values()}.values())

    def draw(self, n: int, nodes: Iterable[int] = ()) -> CodeArray:
        """Draw samples of some variables and of all ancestors of findings; shape (d, n)."""
        network = self.network
        nodes = network._with_ancestors(self.seen.union(nodes))  # noqa: SLF001
        self._weights.clear()
        codes = np.repeat(self.codes[:, None], n, axis=1)
        plain = self.random.random((len(self.parts), n)) < _PLAIN
        self._likelihoods, self._ratios = np.zeros((2, len(self.parts), n))
        self._impossible = np.zeros((len(self.parts), n), dtype=bool)
        for v in (v for v in network.dag.order if v in nodes):
            parents, part = list(network.dag.parents[v]), self._part_of.get(v, -1)
            if v in self.seen:
                if part >= 0:
                    chances = network._logs[v][tuple(codes[[*parents, v]])]  # noqa: SLF001
                    self._impossible[part] |= np.isneginf(chances)
                    self._likelihoods[part] += np.maximum(chances, _IMPOSSIBLE)
            elif v not in self._proposals:
                codes[v] = drawn(network.tables[v], codes[parents], self.random)
            else:
                table, proposal = network.tables[v], self._proposals[v]
                for some, used in ((plain[part], table), (~plain[part], proposal)):
                    codes[v, some] = drawn(used, codes[parents][:, some], self.random)
                ratio = proposal / np.where(table > 0, table, 1.0)
                self._ratios[part] += np.log(ratio[tuple(codes[[*parents, v]])])
        return codes

    def log_weights(self, parts: Iterable[int]) -> FloatArray:
        """Logarithms of the weights of the samples that were drawn last; shape (n,)."""
        logs = np.zeros(self._likelihoods.shape[1])
        for part in sorted(parts):
            logs += np.where(self._impossible[part], -np.inf, self._softened(part))
        return logs

    def _softened(self, part: int) -> FloatArray:
        """Log weights in which impossible findings are only improbable."""
        drawn_from = np.logaddexp(math.log(_PLAIN), math.log1p(-_PLAIN) + self._ratios[part])
        return np.asarray(self._likelihoods[part] - drawn_from)

    def weights(self, parts: frozenset[int]) -> tuple[FloatArray, float]:
        """Weights of the samples up to a factor, and their effective number; raise if too small."""
        if parts not in self._weights:
            logs = self.log_weights(parts)
            number = effective(logs)
            if number < min(_LEAST, len(logs)):
                self._refuse(len(logs), number)
            self._weights[parts] = np.exp(logs - logs.max()), number
        return self._weights[parts]

    def require_possible(self) -> None:
        """Raise if findings of some part are impossible in all samples."""
        if self._impossible.all(axis=1).any():
            self._refuse(self._impossible.shape[1], 0.0)

    @staticmethod
    def _refuse(n: int, number: float) -> NoReturn:
        raise UnnaiveError(
            f"of {n:,} samples, {number:.1f} effective ones agree with the evidence: its "
            "probability is 0, or too small for sampling; raise n_samples, or observe less"
        )

    def answer(self, nodes: Nodes, samples: CodeArray) -> EstimatedProbabilities:
        """Weighted shares of states in the last samples, and errors by the delta method."""
        weights, number = self.weights(frozenset[int]().union(*(self.touched[v] for v in nodes)))
        shape = tuple(self.network.sizes[list(nodes)].tolist())
        places = _joined(samples, list(nodes), shape)
        shares = np.bincount(places, weights, math.prod(shape)) / weights.sum()
        squares = np.bincount(places, weights**2, math.prod(shape)) / weights.sum() ** 2
        variances = (1 - shares) ** 2 * squares + shares**2 * (squares.sum() - squares)
        least = max(1 / number, float(weights.max() / weights.sum()))
        errors = np.maximum(np.sqrt(variances), least).reshape(shape)
        possible = np.zeros(shape, dtype=bool)
        known = (int(self.codes[v]) if v in self.seen else slice(None) for v in nodes)
        possible[tuple(known)] = True
        errors[~possible | (possible.sum() == 1)] = 0.0
        return EstimatedProbabilities(shares.reshape(shape), errors, np.asarray(number))

    def learn(self, n: int) -> None:
        """Learn proposals of ancestors of findings, as long as few samples have the weight."""
        best = dict.fromkeys(range(len(self.parts)), -1.0)
        kept: dict[int, FloatArray] = {}
        waiting = list(best)
        for _ in range(_ROUNDS):
            codes = self.draw(n)
            for part in waiting:
                hidden = [v for v in self.parts[part] if v not in self.seen]
                share = effective(self.log_weights([part])) / n
                if share > best[part]:
                    best[part] = share
                    kept.update({v: self._proposals[v] for v in hidden if v in self._proposals})
                weights = tempered(self._softened(part), _LEARNED_FROM * n)
                for v in hidden:
                    self._proposals[v] = self._learned(v, codes, weights)
            waiting = [part for part in waiting if best[part] < _GOOD]
            if not waiting:
                break
        self._proposals = kept

    def _learned(self, v: int, codes: CodeArray, weights: FloatArray) -> FloatArray:
        """Estimate P(x | parents, evidence) from weighted samples; zeros of P stay."""
        table = self.network.tables[v]
        family = [*self.network.dag.parents[v], v]
        places = _joined(codes, family, table.shape)
        counts = np.bincount(places, weights, table.size).reshape(table.shape)
        now = counts + _PRIOR * self._proposals.get(v, table)
        learned = now / now.sum(axis=-1, keepdims=True)
        return np.asarray((1 - _KEPT) * learned + _KEPT * table)


def _joined(codes: CodeArray, nodes: list[int], shape: tuple[int, ...]) -> IntArray:
    """Give the joint states of some variables numbers, in row-major order; shape (n,)."""
    places = np.zeros(codes.shape[1], dtype=np.int64)
    for v, size in zip(nodes, shape, strict=True):
        places = places * size + codes[v]
    return places


def effective(logs: FloatArray) -> float:
    """Compute the number of equally weighted samples that are as precise as these weights."""
    high = logs.max()
    if not np.isfinite(high):
        return 0.0
    weights = np.exp(logs - high)
    return float(weights.sum() ** 2 / (weights**2).sum())


def tempered(logs: FloatArray, wanted: float) -> FloatArray:
    """Weights exp(t · logs), t ≤ 1, of ``wanted`` effective samples; they sum to this number."""
    low, power = 0.0, 1.0
    if effective(logs) < wanted:
        for _ in range(10):
            middle = (low + power) / 2
            low, power = (middle, power) if effective(middle * logs) >= wanted else (low, middle)
        power = low
    logs = power * (logs - logs.max())
    weights = np.exp(logs)
    return np.asarray(weights * (effective(logs) / weights.sum()))


def estimates(
    network: Network,
    evidence: object,
    asked: Sequence[Nodes],
    n_samples: int = 10_000,
    random_state: int | np.random.Generator | None = 0,
) -> list[list[EstimatedProbabilities]]:
    """Estimate P(variables | evidence) for some sets of variables, given each row of evidence.

    Parameters
    ----------
    network : Network
        The network.
    evidence : dict or rows
        Findings, as in ``Network.marginals``.
    asked : sequence of tuples of int
        Variables of every answer.
    n_samples : int, default=10_000
        Number of weighted samples for each row; up to three times as many are drawn to learn.
    random_state : int, Generator or None, default=0
        Random seed.

    Returns
    -------
    list of lists of EstimatedProbabilities
        For each row, an answer for each set of variables.

    Raises
    ------
    UnnaiveError
        If too few samples agree with the evidence.
    TableTooLarge
        If the samples need more than the network's ``max_memory``.

    Examples
    --------
    >>> from unnaive import Network
    >>> from unnaive.structure.dag import DAG
    >>> dag = DAG.of_edges(["ill", "test"], [("ill", "test")])
    >>> tables = ([0.99, 0.01], [[0.95, 0.05], [0.1, 0.9]])
    >>> network = Network(dag, (("no", "yes"), ("no", "yes")), tables)
    >>> found = network.query("ill", {"test": "yes"}, method="sampling")
    >>> found.probabilities.round(2), found.standard_errors.round(3)
    (array([0.85, 0.15]), array([0.006, 0.006]))
    """
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise UnnaiveError(f"n_samples={n_samples!r}; it must be a whole number, at least 1")
    n_rows, findings = findings_of(network, evidence)
    random = np.random.default_rng(random_state)
    given = (_given(network, {v: f[row] for v, f in findings.items()}) for row in range(n_rows))
    return [_estimate(*one, asked, n_samples, random) for one in given]


def _given(network: Network, findings: dict[int, FloatArray]) -> tuple[Network, CodeArray]:
    """Return a network and the codes of its observed variables, from P(finding | state)."""
    codes, soft = list[int](network.sizes.tolist()), dict[str, object]()
    for v, chances in findings.items():
        possible = np.flatnonzero(chances)
        if len(possible) == 1:
            codes[v] = int(possible[0])
        elif chances.min() < 1.0:
            labels = network.states[v]
            soft[network.dag.names[v]] = dict(zip(labels, chances.tolist(), strict=True))
    network, plain = with_findings(network, soft)
    narrow = code_type(int(network.sizes.max(initial=0)))
    return network, np.array([*codes, *[1] * len(plain)], dtype=narrow)


def _estimate(
    network: Network,
    codes: CodeArray,
    asked: Sequence[Nodes],
    n_samples: int,
    random: np.random.Generator,
) -> list[EstimatedProbabilities]:
    """Estimate P(variables | observed codes) for sets of variables, from the same samples."""
    sampler = ImportanceSampler(network, codes, random)
    widest = int(network.sizes.max(initial=0))
    width = len(codes) * codes.itemsize + 8 * (4 * len(sampler.parts) + widest)
    if n_samples * width > network.max_memory:
        raise TableTooLarge(
            f"{n_samples:,} samples would need {memory_words(n_samples * width)}, more than "
            f"max_memory ({memory_words(network.max_memory)}); lower n_samples, or raise max_memory"
        )
    sampler.learn(max(1, n_samples // 4))
    samples = sampler.draw(n_samples, {v for nodes in asked for v in nodes})
    sampler.require_possible()
    return [sampler.answer(nodes, samples) for nodes in asked]


def stacked(rows: Sequence[EstimatedProbabilities], size: int) -> EstimatedProbabilities:
    """Put the answers (v,) of n rows of evidence into one, of shape (n, v); n may be 0."""
    shape = (len(rows), size)
    return EstimatedProbabilities(
        np.array([row.probabilities for row in rows], dtype=np.float64).reshape(shape),
        np.array([row.standard_errors for row in rows], dtype=np.float64).reshape(shape),
        np.array([row.effective_samples for row in rows], dtype=np.float64),
    )


def is_sampling(method: str) -> bool:
    """Whether a method of inference is sampling; raise if there is none of this name."""
    if method not in ("exact", "sampling"):
        raise UnnaiveError(f"method={method!r}; it must be 'exact' or 'sampling'")
    return method == "sampling"


@contextmanager
def or_sampling(name: str) -> Iterator[None]:
    """Name sampling as a cure where exact inference is refused."""
    try:
        yield
    except TableTooLarge as error:
        cure = f'estimate the answer by {name}(…, method="sampling")'
        raise TableTooLarge(f"{error}; or {cure}") from None
