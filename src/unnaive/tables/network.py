r"""Bayesian networks with their tables, and exact inference by variable elimination.

.. math:: P(x) = \prod_i P(x_i \mid \text{parents of } x_i)

The answer to a query is a sum, or a maximum, of this product over the variables that are neither
queried nor observed, see :mod:`unnaive.tables.elimination`. Factors are logarithms, so hundreds of
variables and zeros are no problem. Their sizes are known before memory is allocated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from unnaive import _parallel
from unnaive._dataclasses import dataclass
from unnaive._html import html_nodes
from unnaive.counts.sizes import memory_words
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.tables.base import hopeless_rows, patterns_of
from unnaive.tables.clique_tree import CliqueTree
from unnaive.tables.elimination import eliminate, elimination_order, multiply
from unnaive.tables.evidence import (
    chances_of,
    encoded,
    is_plain,
    listed,
    node_of,
    with_findings,
)
from unnaive.tables.importance import estimates, is_sampling, or_sampling
from unnaive.tables.interventions import Interventions
from unnaive.tables.network_files import NetworkFiles
from unnaive.tables.questions import Questions
from unnaive.tables.sampling import Sample, drawn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from unnaive._typing import CodeArray, FloatArray, IntArray, Label
    from unnaive.structure.dag import DAG
    from unnaive.tables.elimination import Factor, Scope, Step
    from unnaive.tables.importance import EstimatedProbabilities

    Names = str | Sequence[str]
    Evidence = Mapping[str, object] | None
    Seed = int | np.random.Generator | None
    Nodes = set[int] | frozenset[int]

_BLOCK_BYTES = 1 << 24  # rows are computed together as long as their factors need no more
_MANY_PATTERNS = 8  # of missing cells, from which on the clique tree is worth its price
_ROUNDED, _ROUNDING = 1e-6, 1e-12  # a sum that differs more from 1 is refused, or divided out


@dataclass(frozen=True, eq=False, repr=False)
class Network(Interventions, Questions, NetworkFiles):
    """A Bayesian network with its tables: exact queries, most probable states, and sampling.

    Parameters
    ----------
    dag : DAG
        The parents of every variable.
    states : tuple of tuples
        Distinct labels of every variable.
    tables : tuple of ndarray
        P(x | parents); axes: the parents, ascending, then the variable, which sums to 1 (±1e-6).
    max_memory : int, default=2**31
        Bytes that the tables of an answer may use; ``TableTooLarge`` is raised if it needs more.
    bins : dict of str to tuple of float, default={}
        Edges of the bins of variables that are cut numbers, by name: e₁ < … < e_m for the states
        (−∞, e₁], (e₁, e₂], …, (e_m, ∞), and perhaps one more for missing values. Such variables
        take numbers as well as states: ``network.query("ill", {"age": 73})``.

    See Also
    --------
    unnaive.read_network : Reads a network of another program.
    unnaive.BayesNet : Learns a network; its ``to_network`` returns this object.

    Examples
    --------
    >>> from unnaive.structure.dag import DAG
    >>> dag = DAG.of_edges(["rain", "sprinkler", "wet"], [(0, 1), (0, 2), (1, 2)])
    >>> states = (("no", "yes"), ("off", "on"), ("dry", "wet"))
    >>> rain, sprinkler = [0.8, 0.2], [[0.6, 0.4], [0.99, 0.01]]
    >>> wet = [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]]
    >>> network = Network(dag, states, (rain, sprinkler, wet))
    >>> network.query("rain", {"wet": "wet"}).round(4)
    array([0.6423, 0.3577])
    >>> network.most_probable({"wet": "wet"})
    ({'rain': 'no', 'sprinkler': 'on'}, -1.2447...)
    >>> network.log_probability([{"wet": "wet"}, {"rain": "yes", "wet": "dry"}]).round(4)
    array([-0.8021, -3.2284])
    >>> network.sample(3, {"wet": "wet"}, random_state=0).decode()["wet"]
    ['wet', 'wet', 'wet']
    >>> network.do({"sprinkler": "on"}).query("rain").round(4)
    array([0.8, 0.2])
    """

    dag: DAG
    states: tuple[tuple[Label, ...], ...]
    tables: tuple[FloatArray, ...]
    max_memory: int = 2**31
    bins: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.dag.names
        if not len(names) == len(self.states) == len(self.tables):
            numbers = f"{len(self.states)} lists of states and {len(self.tables)} tables"
            raise UnnaiveError(f"there are {len(names)} variables, but {numbers}")
        object.__setattr__(self, "states", tuple(map(tuple, self.states)))
        for name, labels in zip(names, self.states, strict=True):
            if not labels or len(set(labels)) < len(labels):
                raise UnnaiveError(f"variable {name!r} has no states, or a state twice: {labels}")
        vars(self)["bins"] = {name: self._edges(name) for name in self.bins}
        vars(self)["tables"] = tuple(self._checked(*pair) for pair in enumerate(self.tables))

    def __repr__(self) -> str:
        """Size of the network."""
        return f"Network({len(self.dag.names)} nodes, {len(self.dag.edges)} edges)"

    def _repr_html_(self) -> str:
        """Table of the nodes for a notebook."""
        return html_nodes(repr(self), self.dag.names, self.dag.parents, self.states)

    def _edges(self, name: str) -> tuple[float, ...]:
        """Return the edges of the bins of a variable, or raise an error."""
        edges, n_states = tuple(map(float, self.bins[name])), len(self.states[node_of(self, name)])
        rising = all(low < high for low, high in pairwise(edges)) and all(map(math.isfinite, edges))
        if not rising or n_states - len(edges) not in {1, 2}:
            raise UnnaiveError(
                f"variable {name!r} has {n_states} states and the bin edges {listed(edges)}; "
                "edges must rise, and there is one less than states"
            )
        return edges

    def _checked(self, node: int, values: FloatArray) -> FloatArray:
        """Return a read-only copy of a table, or raise an error that says what is wrong."""
        name, parents = self.dag.names[node], self.dag.parents[node]
        table = np.array(values, dtype=np.float64)
        shape = tuple(len(self.states[member]) for member in (*parents, node))
        if table.shape != shape:
            above = ", ".join(repr(self.dag.names[parent]) for parent in parents) or "none"
            wanted = f"by its parents ({above}) and states it should have {shape}"
            raise UnnaiveError(f"the table of {name!r} has shape {table.shape}; {wanted}")
        wrong = table[~((table >= 0) & np.isfinite(table))]
        if len(wrong):
            raise UnnaiveError(f"the table of {name!r} has {wrong[0]}, which is not a probability")
        sums = table.sum(axis=-1)
        for context in map(tuple, np.argwhere(np.abs(sums - 1) > _ROUNDED)):
            case = f" given {self._spelled(parents, context)}" if parents else ""
            raise UnnaiveError(f"the table of {name!r}{case} sums to {sums[context]:.9g}, not to 1")
        table /= np.where(np.abs(sums - 1) > _ROUNDING, sums, 1.0)[..., None]
        table.setflags(write=False)
        return table

    @cached_property
    def sizes(self) -> IntArray:
        """Number of states of every variable; shape (d,)."""
        return np.array([len(labels) for labels in self.states], dtype=np.int64)

    @overload
    def query(
        self, variables: Names, evidence: Evidence = None, *, method: Literal["exact"] = "exact"
    ) -> FloatArray: ...

    @overload
    def query(
        self,
        variables: Names,
        evidence: Evidence = None,
        *,
        method: Literal["sampling"],
        n_samples: int = 10_000,
        random_state: Seed = 0,
    ) -> EstimatedProbabilities: ...

    def query(
        self,
        variables: Names,
        evidence: Evidence = None,
        *,
        method: str = "exact",
        n_samples: int = 10_000,
        random_state: Seed = 0,
    ) -> FloatArray | EstimatedProbabilities:
        """Return P(variables | evidence).

        Parameters
        ----------
        variables : str or sequence of str
            The variables that are queried. One that is also observed has probability 1 at its
            observed state.
        evidence : dict, default=None
            Observed states by name. None and NaN mean not observed. A list or set has states of
            which one is true, ``slice(low, high)`` is a range of numbers above low up to high, and
            a dictionary is soft evidence: P(finding | state) by state. Evidence of probability 0
            raises an error.
        method : {"exact", "sampling"}, default="exact"
            "sampling" estimates the answer from weighted samples (adaptive importance sampling),
            for networks that are too large for an exact one.
        n_samples : int, default=10_000
            Number of samples of "sampling". Four times as many halve the standard error.
        random_state : int, Generator or None, default=0
            Random seed of "sampling".

        Returns
        -------
        ndarray or EstimatedProbabilities
            Probabilities, with one axis per variable in the order of ``variables``; of
            "sampling" with their standard errors.

        Raises
        ------
        TableTooLarge
            If an exact answer needs more than ``max_memory`` bytes.
        """
        sampled = is_sampling(method)
        if isinstance(evidence, Mapping) and not (sampled or is_plain(evidence)):
            network, evidence = with_findings(self, evidence)
            return network.query(variables, evidence)
        names = (variables,) if isinstance(variables, str) else tuple(variables)
        asked = [node_of(self, name) for name in names]
        if len(set(asked)) < len(asked):
            raise UnnaiveError(f"a variable is asked for twice: {', '.join(map(repr, names))}")
        self._require_memory([asked])
        if sampled:
            _require_mapping(evidence)
            return estimates(self, evidence or {}, [tuple(asked)], n_samples, random_state)[0][0]
        with or_sampling("query"):
            codes, hidden, joint, _ = self._given(evidence, asked)
        weights = np.exp(joint - joint.max())
        kept = [v for v in asked if v in hidden]
        free = (weights / weights.sum()).transpose([sorted(kept).index(v) for v in kept])
        answer = np.zeros(self.sizes[asked])
        answer[tuple(slice(None) if v in hidden else int(codes[v, 0]) for v in asked)] = free
        return answer

    def most_probable(
        self, evidence: Evidence = None, variables: Sequence[str] | None = None
    ) -> tuple[dict[str, Label], float]:
        """Return the most probable states of all other variables, or of some of them.

        Parameters
        ----------
        evidence : dict, default=None
            As in :meth:`query`.
        variables : sequence of str, default=None
            Variables that are explained (MAP); all others are summed out. None: all that are not
            observed (the most probable explanation).

        Returns
        -------
        states : dict
            State of every variable that is not observed. Of several equally probable answers,
            always the same one is returned.
        log_probability : float
            Log P(states, evidence).
        """
        if isinstance(evidence, Mapping) and not is_plain(evidence):
            network, plain = with_findings(self, evidence)
            return network.most_probable(plain, variables)
        if variables is not None:
            return self._maximized(evidence, {node_of(self, name) for name in variables})
        codes, hidden, _, steps = self._given(evidence, maximize=True)
        for variable, rest, best in reversed(steps):
            codes[variable] = best[(0, *codes[list(rest), 0])]
        states = {self.dag.names[v]: self.states[v][int(codes[v, 0])] for v in sorted(hidden)}
        return states, float(self._eliminated(codes, set(), (), self._all)[0][0])

    def _maximized(self, evidence: Evidence, asked: Nodes) -> tuple[dict[str, Label], float]:
        """Sum out what is not asked for, then maximize over the rest."""
        codes, every, _, _ = self._given(evidence)
        kept = tuple(sorted(every.intersection(asked)))
        nodes, hidden = self._with_ancestors(self._all - every | set(kept)), every - set(kept)
        scopes = [every.intersection((node, *self.dag.parents[node])) for node in nodes]
        order, cliques = elimination_order(scopes, kept, self.sizes)
        self._require_memory([*cliques[:-1], *scopes])
        left, _ = eliminate(self._factors(codes, every, nodes), order, self.sizes)
        order, cliques = elimination_order([scope for scope, _ in left], (), self.sizes)
        self._require_memory(cliques)
        _, steps = eliminate(left, order, self.sizes, maximize=True)
        for variable, rest, best in reversed(steps):
            codes[variable] = best[(0, *codes[list(rest), 0])]
        states = {self.dag.names[v]: self.states[v][int(codes[v, 0])] for v in kept}
        return states, float(self._eliminated(codes, hidden, (), nodes)[0][0])

    def log_probability(self, rows: object) -> FloatArray:
        """Log P(row) of every row, missing variables summed out.

        Parameters
        ----------
        rows : dict, list of dict, data frame or array
            Data frames have variables as columns, arrays have the columns of ``dag.names``. A
            cell is missing if it is None or NaN, or if its key or column does not exist.

        Returns
        -------
        ndarray of shape (n,)
            Log-probabilities; −inf for impossible rows.
        """
        codes = encoded(self, rows)
        logs = np.empty(codes.shape[1])
        patterns = list(patterns_of(codes >= self.sizes[:, None]))
        if len(patterns) > _MANY_PATTERNS:
            logs = self._by_cliques(codes)
            patterns = list(patterns_of(codes[:, np.isnan(logs)] >= self.sizes[:, None]))
            places = np.flatnonzero(np.isnan(logs))
            patterns = [(places[members], hidden) for members, hidden in patterns]
        for members, hidden in patterns:
            nodes = self._with_ancestors(self._all - hidden)
            logs[members], _ = self._eliminated(codes[:, members], hidden, (), nodes)
        return logs

    def _by_cliques(self, codes: CodeArray) -> FloatArray:
        """Log P(row) by the clique tree; NaN where only logarithms can tell, or it is too large."""
        logs = np.full(codes.shape[1], np.nan)
        try:
            tree = self._tree
        except TableTooLarge:
            return logs
        size = max(1, min(_BLOCK_BYTES, self.max_memory) // tree.row_bytes)
        for start, stop in _parallel.row_blocks(len(logs), size):
            logs[start:stop] = tree.log_probability(chances_of(self, codes[:, start:stop]))
        return np.where(np.isneginf(logs), np.nan, logs)

    def posterior(self, variable: str, codes: CodeArray) -> FloatArray:
        """P(variable | all other cells) of coded rows.

        Only variables that the observed cells leave connected to the variable are summed out. If
        its Markov blanket is observed, the answer is a product of look-ups.

        Parameters
        ----------
        variable : str
            Name of the variable; its own line of codes is ignored.
        codes : ndarray of shape (d, n)
            Positions of states in the order of ``dag.names``; the number of states means missing.

        Returns
        -------
        ndarray of shape (n, v)
            Probabilities. An impossible row gets P(variable).
        """
        node, codes = node_of(self, variable), np.asarray(codes)
        if codes.ndim != 2 or len(codes) != len(self.sizes) or codes.min(initial=0) < 0:
            expected = f"positions of states, one line for each of {len(self.sizes)} variables"
            raise UnnaiveError(f"codes have shape {codes.shape}; they must be {expected}")
        missing = codes >= self.sizes[:, None]
        missing[:, ~missing[sorted(self.dag.markov_blanket(node))].any(axis=0)] = False
        alike: dict[tuple[Nodes, Nodes], list[IntArray]] = {}
        for rows, hidden in patterns_of(missing):
            alike.setdefault(self._connected(node, hidden | {node}), []).append(rows)
        joint = np.empty((codes.shape[1], self.sizes[node]))
        for (unseen, nodes), parts in alike.items():
            members = np.concatenate(parts)
            joint[members], _ = self._eliminated(codes[:, members], unseen, (node,), nodes)
        hopeless = hopeless_rows(joint)
        if len(hopeless):
            above = self._with_ancestors({node})
            joint[hopeless], _ = self._eliminated(codes[:, :1], self._all, (node,), above)
        weights = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def sample(self, n: int, evidence: Evidence = None, random_state: Seed = None) -> Sample:
        """Sample rows from P(all variables | evidence), exactly and without rejection.

        Ancestors of the evidence are sampled backwards along an elimination, each variable given
        those that were eliminated later; all others then forwards, given their parents.

        Parameters
        ----------
        n : int
            Number of rows.
        evidence : dict, default=None
            As in :meth:`query`.
        random_state : int, Generator or None, default=None
            Random seed.

        Returns
        -------
        Sample
            The rows.
        """
        if isinstance(evidence, Mapping) and not is_plain(evidence):
            network, plain = with_findings(self, evidence)
            drawn_codes = network.sample(n, plain, random_state).codes
            return Sample(self.dag.names, self.states, drawn_codes[: len(self.states)])
        codes, hidden, _, steps = self._given(evidence)
        random, codes = np.random.default_rng(random_state), np.repeat(codes, n, axis=1)
        for variable, rest, weights in reversed(steps):
            codes[variable] = drawn(weights[0], codes[list(rest)], random)
        below = self._all - self._with_ancestors(self._all - hidden)
        for node in (node for node in self.dag.order if node in below):
            codes[node] = drawn(self.tables[node], codes[list(self.dag.parents[node])], random)
        return Sample(self.dag.names, self.states, codes)

    @cached_property
    def _tree(self) -> CliqueTree:
        """The cliques, for all questions about all variables."""
        return CliqueTree(self)

    @cached_property
    def _all(self) -> frozenset[int]:
        return frozenset(range(len(self.sizes)))

    @cached_property
    def _logs(self) -> tuple[FloatArray, ...]:
        with np.errstate(divide="ignore"):
            return tuple(np.log(table) for table in self.tables)

    def _with_ancestors(self, nodes: Nodes) -> frozenset[int]:
        """Nodes and their ancestors; all other nodes (barren nodes) sum to one."""
        return self.dag.ancestors(nodes) | nodes

    def _connected(self, node: int, hidden: Nodes) -> tuple[Nodes, Nodes]:
        """Hidden variables that are not separated from a node, and nodes whose tables matter."""
        relevant = self._with_ancestors(self._all - hidden | {node})
        reached, families, waiting = {node}, set[int](), [node]
        while waiting:
            variable = waiting.pop()
            new = relevant.intersection((variable, *self.dag.children[variable])) - families
            families |= new
            around = hidden & {m for child in new for m in (child, *self.dag.parents[child])}
            waiting += around - reached
            reached |= around
        return frozenset(reached), frozenset(families)

    def _eliminated(
        self, codes: CodeArray, hidden: Nodes, kept: Scope, nodes: Nodes, maximize: bool = False
    ) -> tuple[FloatArray, list[Step]]:
        """Log product of nodes' tables, hidden but not kept ones summed (n, *kept); and steps."""
        scopes = [hidden.intersection((node, *self.dag.parents[node])) for node in nodes]
        order, cliques = elimination_order(scopes, kept, self.sizes)
        width = self._require_memory([*cliques, *scopes])
        joint = np.empty((codes.shape[1], *self.sizes[list(kept)]))
        steps: list[Step] = []
        size = max(1, min(_BLOCK_BYTES, self.max_memory) // width)
        for start, stop in _parallel.row_blocks(len(joint), size):
            factors = self._factors(codes[:, start:stop], hidden, nodes)
            left, steps = eliminate(factors, order, self.sizes, maximize)
            joint[start:stop] = multiply(left, kept, self.sizes)
        return joint, steps

    def _require_memory(self, scopes: Sequence[Collection[int]]) -> int:
        """Return the bytes that tables over some variables need, or raise if too many."""
        cells: list[int] = [math.prod(self.sizes[list(scope)].tolist()) for scope in scopes]
        if 8 * sum(cells) > self.max_memory:
            widest = [self.dag.names[v] for v in scopes[cells.index(max(cells))]]
            raise TableTooLarge(
                f"the tables of this answer would need {memory_words(8 * sum(cells))}, more than "
                f"max_memory ({memory_words(self.max_memory)}); the largest is of "
                f"{listed(widest)}: observe some of these, query fewer, or raise max_memory"
            )
        return 8 * sum(cells)

    def _factors(self, codes: CodeArray, hidden: Nodes, nodes: Nodes) -> Iterator[Factor]:
        """Yield log P(node | parents) of every node, at the values of the observed variables."""
        for node in sorted(nodes):
            family = (*self.dag.parents[node], node)
            scope = tuple(sorted(hidden.intersection(family)))
            seen = [member for member in family if member not in hidden]
            table = self._logs[node].transpose([family.index(v) for v in (*seen, *scope)])
            yield scope, table[tuple(codes[seen])] if seen else table[None]

    def _given(
        self, evidence: Evidence, asked: Iterable[int] = (), *, maximize: bool = False
    ) -> tuple[CodeArray, set[int], FloatArray, list[Step]]:
        """Codes (d, 1) of evidence, hidden variables, log P(asked, evidence), and the steps."""
        _require_mapping(evidence)
        codes = encoded(self, [evidence or {}])
        hidden = set(np.flatnonzero(codes[:, 0] >= self.sizes).tolist())
        kept = tuple(sorted(hidden.intersection(asked)))
        nodes = self._all if maximize else self._with_ancestors(self._all - hidden | set(kept))
        joint, steps = self._eliminated(codes, hidden, kept, nodes, maximize)
        if np.isneginf(joint).all():
            seen = sorted(self._all - hidden)
            spelled = self._spelled(seen, codes[seen, 0])
            raise UnnaiveError(f"this evidence cannot occur, its probability is 0: {spelled}")
        return codes, hidden, joint[0], steps

    def _spelled(self, nodes: Iterable[int], codes: Iterable[int]) -> str:
        """Variables and their states as text."""
        pairs = zip(nodes, codes, strict=True)
        return ", ".join(f"{self.dag.names[v]}={self.states[v][code]!r}" for v, code in pairs)


def _require_mapping(evidence: object) -> None:
    if not isinstance(evidence, Mapping | None):
        raise UnnaiveError(f"evidence={evidence!r}; it must be a dictionary or None")
