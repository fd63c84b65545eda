"""Questions to Bayesian networks: all marginals, value of information, sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeVar, overload

import numpy as np

from unnaive import _parallel
from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.tables.evidence import code_of, findings_of, node_of, with_findings
from unnaive.tables.importance import estimates, is_sampling, or_sampling, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, Label
    from unnaive.tables.importance import EstimatedProbabilities
    from unnaive.tables.network import Network, Seed

Own = TypeVar("Own", bound="Network")
_BLOCK_BYTES = 1 << 24  # of the cliques of rows that are answered together


@dataclass(frozen=True)
class Sensitivity:
    r"""A query as a function of one entry θ of a table.

    .. math:: P(q \mid e) = \frac{a + b\,\theta}{c + d\,\theta}

    The other entries of the same row keep their proportions.

    Attributes
    ----------
    entry : float
        The entry θ of the network.
    value : float
        P(q | e) of the network.
    derivative : float
        Derivative of P(q | e) by θ at the entry.
    coefficients : tuple of float
        The numbers a, b, c and d.
    """

    entry: float
    value: float
    derivative: float
    coefficients: tuple[float, float, float, float]

    def at(self, entry: float) -> float:
        """Return P(q | e) if the entry were another number.

        Parameters
        ----------
        entry : float
            A number from 0 to 1.

        Returns
        -------
        float
            The probability; NaN if the evidence then cannot occur.
        """
        a, b, c, d = self.coefficients
        return (a + b * entry) / (c + d * entry) if c + d * entry > 0 else float("nan")

    def needed(self, value: float) -> float | None:
        """Return the entry for which P(q | e) has a value.

        Parameters
        ----------
        value : float
            A probability.

        Returns
        -------
        float or None
            A number from 0 to 1; None if no entry gives this value, or all do.
        """
        a, b, c, d = self.coefficients
        slope = b - value * d
        entry = (value * c - a) / slope if slope else float("nan")
        return entry if 0 <= entry <= 1 else None


class Questions:
    """Methods of :class:`~unnaive.tables.network.Network` that use its clique tree."""

    def query_table(  # type: ignore[misc]
        self: Own, variables: str | Sequence[str], evidence: Mapping[str, object] | None = None
    ) -> dict[Label, float]:
        """Return the answer of :meth:`query` as a dictionary.

        Parameters
        ----------
        variables : str or sequence of str
            As in :meth:`query`.
        evidence : dict, default=None
            As in :meth:`query`.

        Returns
        -------
        dict
            Probabilities by label, or by tuple of labels if ``variables`` is a sequence.
        """
        names = [variables] if isinstance(variables, str) else variables
        labels = product(*(self.states[node_of(self, name)] for name in names))
        keys = [key[0] if isinstance(variables, str) else key for key in labels]
        return dict(zip(keys, self.query(variables, evidence).ravel().tolist(), strict=True))

    @overload
    def marginals(  # type: ignore[misc]
        self: Own, evidence: object = None, *, method: Literal["exact"] = "exact"
    ) -> dict[str, FloatArray]: ...

    @overload
    def marginals(  # type: ignore[misc]
        self: Own,
        evidence: object = None,
        *,
        method: Literal["sampling"],
        n_samples: int = 10_000,
        random_state: Seed = 0,
    ) -> dict[str, EstimatedProbabilities]: ...

    def marginals(  # type: ignore[misc]
        self: Own,
        evidence: object = None,
        *,
        method: str = "exact",
        n_samples: int = 10_000,
        random_state: Seed = 0,
    ) -> dict[str, FloatArray] | dict[str, EstimatedProbabilities]:
        """Return P(variable | evidence) of all variables at once.

        The clique tree is made in the first call and used again in all others.

        Parameters
        ----------
        evidence : dict, or rows as in ``log_probability``, default=None
            Findings by name; a list of dictionaries, a data frame or an array are a batch, of
            which every row is answered. A finding may be soft, see ``query``.
        method : {"exact", "sampling"}, default="exact"
            "sampling" estimates the answers from weighted samples, as in ``query``; every row of
            a batch has its own.
        n_samples : int, default=10_000
            Number of samples of "sampling".
        random_state : int, Generator or None, default=0
            Random seed of "sampling".

        Returns
        -------
        dict of str to ndarray or EstimatedProbabilities
            Probabilities of the states of every variable; of shape (v,), or (n, v) for a batch.

        Raises
        ------
        TableTooLarge
            If the cliques need more than ``max_memory`` bytes, before they are allocated.
            ``query`` may still answer, and ``method="sampling"``.
        """
        single = evidence is None or isinstance(evidence, Mapping)
        if is_sampling(method):
            asked = [(node,) for node in range(len(self.sizes))]
            given = (evidence or {}) if single else evidence
            rows = estimates(self, given, asked, n_samples, random_state)
            if single:
                return dict(zip(self.dag.names, rows[0], strict=True))
            return {
                name: stacked([row[node] for row in rows], size)
                for node, (name, size) in enumerate(self._named_sizes())
            }
        n_rows, findings = findings_of(self, {} if evidence is None else evidence)
        answers = {name: np.empty((n_rows, size)) for name, size in self._named_sizes()}
        with or_sampling("marginals"):
            tree = self._tree
        size = max(1, min(_BLOCK_BYTES, self.max_memory) // tree.row_bytes)
        for start, stop in _parallel.row_blocks(n_rows, size):
            block = {node: chances[start:stop] for node, chances in findings.items()}
            beliefs, logs = tree.observed(block)
            found = tree.marginals(beliefs)
            for node, name in enumerate(self.dag.names):
                answers[name][start:stop] = found[node]
            for row in np.flatnonzero(np.isneginf(logs)).tolist():
                alone = {node: chances[row] for node, chances in block.items() if len(chances) > 1}
                self._answer_rare(
                    alone or {n: c[0] for n, c in block.items()}, answers, start + row
                )
        return {name: one[0] for name, one in answers.items()} if single else answers

    def _named_sizes(self: Own) -> list[tuple[str, int]]:  # type: ignore[misc]
        return list(zip(self.dag.names, self.sizes.tolist(), strict=True))

    def _answer_rare(  # type: ignore[misc]
        self: Own, findings: dict[int, FloatArray], answers: dict[str, FloatArray], row: int
    ) -> None:
        """Answer for findings of a probability that only logarithms can hold, or raise."""
        named = {
            self.dag.names[node]: dict(zip(self.states[node], chances.tolist(), strict=True))
            for node, chances in findings.items()
        }
        network, evidence = with_findings(self, named)
        for name in self.dag.names:
            answers[name][row] = network.query(name, evidence)

    def value_of_information(  # type: ignore[misc]
        self: Own,
        target: str,
        evidence: Mapping[str, object] | None = None,
        candidates: Sequence[str] | None = None,
    ) -> dict[str, float]:
        r"""Return how much each variable, if it were observed, would tell about a target.

        .. math:: I(T; X \mid e) = H(T \mid e) - \sum_x P(x \mid e)\, H(T \mid x, e)

        Parameters
        ----------
        target : str
            Name of the variable of interest.
        evidence : dict, default=None
            What is known already, as in ``query``.
        candidates : sequence of str, default=None
            Variables that could be observed; None: all that are not.

        Returns
        -------
        dict of str to float
            Expected loss of entropy of the target in nats, the most informative variable first.
        """
        label, given = node_of(self, target), dict(evidence or {})
        if target in given:
            raise UnnaiveError(f"{target!r} is observed, so nothing can tell more about it")
        chances = self.query(target, given)
        known = [code for code in range(len(chances)) if chances[code] > 0]
        rows = [{**given, target: self.states[label][code]} for code in known]
        conditional = self.marginals(rows)
        names = [n for n in self.dag.names if n != target and n not in given]
        for name in candidates or ():
            if node_of(self, name) == label or name in given:
                raise UnnaiveError(f"{name!r} is the target or observed, and no candidate")
        weights = chances[known][:, None]
        values = {}
        for name in names if candidates is None else candidates:
            table = conditional[name]
            mixed = (weights * table).sum(axis=0, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(table > 0, np.log(table / mixed), 0.0)
            values[name] = max(0.0, float((weights * table * ratio).sum()))
        return dict(sorted(values.items(), key=lambda pair: -pair[1]))

    def sensitivity(  # type: ignore[misc]
        self: Own,
        asked: Mapping[str, Label],
        table: str,
        entry: Mapping[str, Label],
        evidence: Mapping[str, object] | None = None,
    ) -> Sensitivity:
        """Return how the answer to a query depends on one entry of a table.

        Parameters
        ----------
        asked : dict
            States whose probability is asked for.
        table : str
            Name of the variable whose table has the entry.
        entry : dict
            State of this variable and of all its parents.
        evidence : dict, default=None
            As in ``query``.

        Returns
        -------
        Sensitivity
            Value, derivative, and the value for any other entry.

        References
        ----------
        Castillo, Gutiérrez & Hadi, "Sensitivity analysis in discrete Bayesian networks", IEEE
        Trans. SMC-A 27, 1997; Chan & Darwiche, "When do numbers really matter?", JAIR 17, 2002.

        Examples
        --------
        >>> from unnaive import Network
        >>> from unnaive.structure.dag import DAG
        >>> dag = DAG.of_edges(["ill", "test"], [("ill", "test")])
        >>> tables = ([0.99, 0.01], [[0.95, 0.05], [0.1, 0.9]])
        >>> network = Network(dag, (("no", "yes"), ("no", "yes")), tables)
        >>> false = {"test": "yes", "ill": "no"}
        >>> found = network.sensitivity({"ill": "yes"}, "test", false, {"test": "yes"})
        >>> round(found.value, 3), round(found.at(0.01), 3), round(found.needed(0.5), 5)
        (0.154, 0.476, 0.00909)
        """
        node = node_of(self, table)
        family = (*self.dag.parents[node], node)
        wanted = [self.dag.names[v] for v in family]
        if set(entry) != set(wanted):
            raise UnnaiveError(
                f"the entry names {', '.join(map(repr, entry))}; name the states of "
                f"{', '.join(map(repr, wanted))}, the table's variable and its parents"
            )
        *context, code = (code_of(self, v, entry[self.dag.names[v]]) for v in family)
        plain, given = with_findings(self, evidence or {})
        logs = np.empty((2, 2))  # of the evidence without and with what is asked, for θ = 0 and 1
        row = plain.tables[node][tuple(context)]
        for theta in (0, 1):
            changed = plain.tables[node].copy()
            changed[tuple(context)] = _moved(row, code, theta)
            tables = (*plain.tables[:node], changed, *plain.tables[node + 1 :])
            rows = [given, _agreeing(plain, given, asked)]
            logs[theta] = replace(plain, tables=tables).log_probability(rows)
        if np.isneginf(logs).all():
            raise UnnaiveError("the evidence cannot occur, whatever the entry")
        (c, a), (to_c, to_a) = np.exp(logs - logs.max()).tolist()
        now, b, d = float(row[code]), to_a - a, to_c - c
        below = c + d * now
        if below <= 0:
            raise UnnaiveError("the evidence cannot occur, its probability is 0")
        slope = (b * c - a * d) / below**2
        return Sensitivity(now, (a + b * now) / below, slope, (a, b, c, d))


def _moved(row: FloatArray, code: int, entry: float) -> FloatArray:
    """Set an entry of a row of probabilities; the others keep their proportions."""
    rest = 1.0 - row[code]
    others = row / rest if rest > 0 else np.full(len(row), 1.0 / max(1, len(row) - 1))
    moved = (1.0 - entry) * others
    moved[code] = entry
    return np.asarray(moved if len(row) > 1 else np.ones(1))


def _agreeing(
    network: Network, given: Mapping[str, object], asked: Mapping[str, Label]
) -> dict[str, object]:
    """Add what is asked to the evidence; raise if both name a variable."""
    for name in asked:
        node_of(network, name)
        if name in given:
            raise UnnaiveError(f"{name!r} is asked for and observed; ask for another variable")
    return {**given, **asked}
