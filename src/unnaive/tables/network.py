r"""Bayesian networks with their tables, and exact answers by variable elimination.

.. math:: P(x) = \prod_i P(x_i \mid \text{parents of } x_i)

Every question is a sum, or a maximum, of this product over variables that are neither asked
for nor observed. They go one by one: the factors that hold a variable are multiplied, it is
summed out, and what is left is a factor again. Factors are logarithms, so that neither hundreds
of variables nor zeros do harm; their sizes are known before they are made.

References
----------
Zhang & Poole, "A simple approach to Bayesian network computations", Canadian AI 1994; Dechter,
"Bucket elimination: a unifying framework for reasoning", Artificial Intelligence 113, 1999.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._ties import TIE_TOLERANCE
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.io.frames import to_frame
from unnaive.io.networks import NetworkDescription, read_network, write_network
from unnaive.schema.columns import code_type
from unnaive.structure.dag import DAG
from unnaive.tables.base import rows_alike

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator

    from unnaive._typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, Label
    from unnaive.io.frames import Column

    Names = str | Sequence[str]
    Evidence = Mapping[str, object] | None
    Seed = int | np.random.Generator | None
    Nodes = set[int] | frozenset[int]
    Scope = tuple[int, ...]  # variables, ascending
    Factor = tuple[Scope, FloatArray]  # log values; axes: rows (or 1), then the variables
    Step = tuple[int, Scope, AnyArray]  # a variable, what it then depends on, see _eliminate

_BLOCK_BYTES = 1 << 24  # rows are answered together while their factors take no more than that
_ROUNDED, _ROUNDING = 1e-6, 1e-12  # sums that are off by so much are refused, or divided out


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that a network drew, as codes (d, n): positions of labels in ``states``."""

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    codes: CodeArray

    def decode(self) -> dict[str, list[Label]]:
        """Return the labels of every variable, as data frames like to be made of."""
        lines = zip(self.names, self.states, self.codes.tolist(), strict=True)
        return {name: [labels[code] for code in line] for name, labels, line in lines}


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network with its tables: ask it anything.

    Parameters
    ----------
    dag : DAG
        Which variable depends on which.
    states : tuple of tuples
        Labels of every variable, all different.
    tables : tuple of ndarray
        P(x | parents); axes: the parents in the order of ``dag.parents``, which is ascending,
        then the variable. The last axis sums to 1 (±1e-6, which is divided out).
    max_memory : int, default=2 GiB
        Bytes that the tables of an answer may take; more raises
        :class:`~unnaive.exceptions.TableTooLarge` before they are made.

    Examples
    --------
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
    """

    dag: DAG
    states: tuple[tuple[Label, ...], ...]
    tables: tuple[FloatArray, ...]
    max_memory: int = 2**31

    def __post_init__(self) -> None:
        names = self.dag.names
        if not len(names) == len(self.states) == len(self.tables):
            numbers = f"{len(self.states)} lists of states and {len(self.tables)} tables"
            raise UnnaiveError(f"there are {len(names)} variables, but {numbers}")
        object.__setattr__(self, "states", tuple(map(tuple, self.states)))
        for name, labels in zip(names, self.states, strict=True):
            if not labels or len(set(labels)) < len(labels):
                raise UnnaiveError(f"variable {name!r} has no states, or one twice: {labels}")
        checked = tuple(self._checked(*pair) for pair in enumerate(self.tables))
        object.__setattr__(self, "tables", checked)

    def _checked(self, node: int, given: FloatArray) -> FloatArray:
        """Copy a table that nobody can change, or say what is wrong with it."""
        name, parents = self.dag.names[node], self.dag.parents[node]
        table = np.array(given, dtype=np.float64)
        shape = tuple(len(self.states[member]) for member in (*parents, node))
        if table.shape != shape:
            above = ", ".join(repr(self.dag.names[parent]) for parent in parents) or "none"
            wanted = f"by its parents ({above}) and states it should have {shape}"
            raise UnnaiveError(f"the table of {name!r} has shape {table.shape}; {wanted}")
        wrong = table[~((table >= 0) & np.isfinite(table))]
        if len(wrong):
            raise UnnaiveError(f"the table of {name!r} holds {wrong[0]}, which is no probability")
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

    def query(self, variables: Names, evidence: Evidence = None) -> FloatArray:
        """Return P(variables | evidence), with an axis a variable, in the order asked.

        A variable that is asked for and observed has all of the probability at its observed
        state. Evidence that cannot occur raises; None and NaN in it mean not observed. What is
        above neither a variable asked for nor an observed one is never looked at.
        """
        names = (variables,) if isinstance(variables, str) else tuple(variables)
        asked = [self._node(name) for name in names]
        if len(set(asked)) < len(asked):
            raise UnnaiveError(f"a variable is asked for twice: {', '.join(map(repr, names))}")
        self._require_memory([asked])
        codes, hidden, joint, _ = self._given(evidence, asked)
        weights = np.exp(joint - joint.max())
        kept = [v for v in asked if v in hidden]
        free = (weights / weights.sum()).transpose([sorted(kept).index(v) for v in kept])
        found = np.zeros(self.sizes[asked])
        found[tuple(slice(None) if v in hidden else int(codes[v, 0]) for v in asked)] = free
        return found

    def query_table(self, variables: Names, evidence: Evidence = None) -> dict[Label, float]:
        """Return what :meth:`query` does by label, or by tuples of labels for a list of names."""
        names = [variables] if isinstance(variables, str) else variables
        labels = product(*(self.states[self._node(name)] for name in names))
        keys = [key[0] if isinstance(variables, str) else key for key in labels]
        return dict(zip(keys, self.query(variables, evidence).ravel().tolist(), strict=True))

    def most_probable(self, evidence: Evidence = None) -> tuple[dict[str, Label], float]:
        """Return the most probable states of all other variables, and log P(these, evidence).

        Of what ties, one is returned, always the same.
        """
        codes, hidden, _, steps = self._given(evidence, maximize=True)
        for variable, rest, best in reversed(steps):
            codes[variable] = best[(0, *codes[list(rest), 0])]
        found = {self.dag.names[v]: self.states[v][int(codes[v, 0])] for v in sorted(hidden)}
        return found, float(self._eliminated(codes, set(), (), self._all)[0][0])

    def log_probability(self, rows: object) -> FloatArray:
        """Log P(row) of every row, what is missing summed out; shape (n,).

        ``rows`` is a dictionary or a list of them, a data frame with variables as columns, or an
        array with the columns of ``dag.names``. A cell is missing if it is None or NaN, or if its
        key or its column is not there. Rows that cannot occur have −inf.
        """
        codes = self._encoded(rows)
        found = np.empty(codes.shape[1])
        for members, hidden in _patterns(codes >= self.sizes[:, None]):
            nodes = self._with_ancestors(self._all - hidden)
            found[members], _ = self._eliminated(codes[:, members], hidden, (), nodes)
        return found

    def posterior(self, variable: str, codes: CodeArray) -> FloatArray:
        """P(variable | all other cells) of coded rows (d, n) in the order of ``dag.names``; (n, v).

        A code that is the number of states means missing; the variable's own line is ignored.
        Only what the observed cells leave connected to the variable is looked at: where all of
        the Markov blanket is observed, a product of look-ups. Other rows are answered together
        if they leave the same to be summed out. If that cannot occur, a row gets P(variable).
        """
        node, codes = self._node(variable), np.asarray(codes)
        if codes.ndim != 2 or len(codes) != len(self.sizes) or codes.min(initial=0) < 0:
            expected = f"positions of states, a line for each of {len(self.sizes)} variables"
            raise UnnaiveError(f"codes of shape {codes.shape} are given, not {expected}")
        missing = codes >= self.sizes[:, None]
        missing[:, ~missing[sorted(self.dag.markov_blanket(node))].any(axis=0)] = False
        alike: dict[tuple[Nodes, Nodes], list[IntArray]] = {}
        for rows, hidden in _patterns(missing):
            alike.setdefault(self._connected(node, hidden | {node}), []).append(rows)
        joint = np.empty((codes.shape[1], self.sizes[node]))
        for (unseen, nodes), parts in alike.items():
            members = np.concatenate(parts)
            joint[members], _ = self._eliminated(codes[:, members], unseen, (node,), nodes)
        hopeless = np.isneginf(joint).all(axis=1)
        if hopeless.any():
            above = self._with_ancestors({node})
            joint[hopeless], _ = self._eliminated(codes[:, :1], self._all, (node,), above)
        weights = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def sample(self, n: int, evidence: Evidence = None, random_state: Seed = None) -> Sample:
        """Draw rows from P(all variables | evidence), exactly and without rejecting any.

        Evidence and what is above it are drawn backwards along an elimination, each variable
        given those that were eliminated later; all others then forwards, given their parents.
        """
        codes, hidden, _, steps = self._given(evidence)
        random, codes = np.random.default_rng(random_state), np.repeat(codes, n, axis=1)
        for variable, rest, weights in reversed(steps):
            codes[variable] = _drawn(weights[0], codes[list(rest)], random)
        below = self._all - self._with_ancestors(self._all - hidden)
        for node in (node for node in self.dag.order if node in below):
            codes[node] = _drawn(self.tables[node], codes[list(self.dag.parents[node])], random)
        return Sample(self.dag.names, self.states, codes)

    def to_description(self, name: str = "network") -> NetworkDescription:
        """Return the network as files of other programs describe one, labels turned into text."""
        labels = tuple(tuple(map(str, own)) for own in self.states)
        return NetworkDescription(name, self.dag.names, labels, self.dag.parents, self.tables)

    @classmethod
    def of_description(cls, description: NetworkDescription) -> Network:
        """Make the network that a file described, parents brought into the order of the DAG."""
        pairs = zip(description.tables, description.parents, strict=True)
        tables = tuple(np.transpose(table, [*np.argsort(own), len(own)]) for table, own in pairs)
        return cls(DAG(description.variables, description.parents), description.states, tables)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:  # noqa: A002
        """Write the network for other programs, see :mod:`unnaive.io.networks`."""
        write_network(path, self.to_description(), format)

    @classmethod
    def read(cls, path: str | os.PathLike[str], format: str | None = None) -> Network:  # noqa: A002
        """Read a network of other programs, see :mod:`unnaive.io.networks`."""
        return cls.of_description(read_network(path, format))

    @cached_property
    def _all(self) -> frozenset[int]:
        return frozenset(range(len(self.sizes)))

    @cached_property
    def _logs(self) -> tuple[FloatArray, ...]:
        with np.errstate(divide="ignore"):
            return tuple(np.log(table) for table in self.tables)

    def _with_ancestors(self, nodes: Nodes) -> frozenset[int]:
        """Nodes and all above them; whatever else there is sums to one (barren nodes)."""
        return self.dag.ancestors(nodes) | nodes

    def _connected(self, node: int, hidden: Nodes) -> tuple[Nodes, Nodes]:
        """Hidden variables that a node is not separated from, and the nodes whose tables count."""
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
        """Log product of nodes' tables, summed over hidden but kept, (n, *kept); and the steps."""
        scopes = [hidden.intersection((node, *self.dag.parents[node])) for node in nodes]
        order, cliques = _elimination_order(scopes, kept, self.sizes)
        width = self._require_memory([*cliques, *scopes])
        found = np.empty((codes.shape[1], *self.sizes[list(kept)]))
        steps: list[Step] = []
        size = max(1, min(_BLOCK_BYTES, self.max_memory) // width)
        for start, stop in _parallel.row_blocks(len(found), size):
            factors = self._factors(codes[:, start:stop], hidden, nodes)
            left, steps = _eliminate(factors, order, self.sizes, maximize)
            found[start:stop] = _multiplied(left, kept, self.sizes)
        return found, steps

    def _require_memory(self, scopes: Sequence[Collection[int]]) -> int:
        """Return the bytes that tables over some variables take, or raise if too many."""
        cells: list[int] = [math.prod(self.sizes[list(scope)].tolist()) for scope in scopes]
        if 8 * sum(cells) > self.max_memory:
            widest = [self.dag.names[v] for v in scopes[cells.index(max(cells))]]
            raise TableTooLarge(
                f"the tables of this answer would take {sum(cells) / 2**27:,.2f} GiB, more than "
                f"max_memory ({self.max_memory / 2**30:,.2f} GiB); the largest is of "
                f"{_listed(widest)}: observe some of these, ask for fewer, or raise max_memory"
            )
        return 8 * sum(cells)

    def _factors(self, codes: CodeArray, hidden: Nodes, nodes: Nodes) -> Iterator[Factor]:
        """Yield log P(node | parents) of every node, observed members looked up."""
        for node in sorted(nodes):
            family = (*self.dag.parents[node], node)
            scope = tuple(sorted(hidden.intersection(family)))
            seen = [member for member in family if member not in hidden]
            table = self._logs[node].transpose([family.index(v) for v in (*seen, *scope)])
            yield scope, table[tuple(codes[seen])] if seen else table[None]

    def _given(
        self, evidence: Evidence, asked: Iterable[int] = (), *, maximize: bool = False
    ) -> tuple[CodeArray, set[int], FloatArray, list[Step]]:
        """Codes (d, 1) of evidence, what is hidden, log P(asked, evidence), and the steps."""
        if not isinstance(evidence, Mapping | None):
            raise UnnaiveError(f"evidence={evidence!r}; it must be a dictionary, or None")
        codes = self._encoded([evidence or {}])
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
        """Name variables and their states for people."""
        pairs = zip(nodes, codes, strict=True)
        return ", ".join(f"{self.dag.names[v]}={self.states[v][code]!r}" for v, code in pairs)

    def _node(self, name: str) -> int:
        names = self.dag.names
        if name not in names:
            raise UnnaiveError(f"there is no variable {name!r}; the variables are {_listed(names)}")
        return names.index(name)

    def _code(self, node: int, label: object) -> int:
        """Code of a label, the number of states for None, NaN, and pandas' NA."""
        labels = self.states[node]
        if label is None or type(label).__name__ == "NAType" or label != label:  # noqa: PLR0124
            return len(labels)
        if label not in labels:
            own = f"variable {self.dag.names[node]!r} has no state {label!r}"
            raise UnnaiveError(f"{own}; its states are {_listed(labels)}")
        return labels.index(label)

    def _encoded(self, rows: object) -> CodeArray:
        """Codes of rows, the number of states where a cell is missing; shape (d, n)."""
        rows = [rows] if isinstance(rows, Mapping) else rows
        if isinstance(rows, Sequence) and all(isinstance(row, Mapping) for row in rows):
            keys = dict.fromkeys(name for row in rows for name in row)
            n_rows, columns = len(rows), {name: [row.get(name) for row in rows] for name in keys}
        else:
            frame = to_frame(rows)
            named = not isinstance(rows, Sequence | np.ndarray)
            if not named and len(frame.names) != len(self.sizes):
                raise UnnaiveError(f"rows have {len(frame.names)} columns, not {len(self.sizes)}")
            n_rows, names = frame.n_rows, frame.names if named else self.dag.names
            columns = {name: _labels(frame.column(place)) for place, name in enumerate(names)}
        sizes = self.sizes.astype(code_type(int(self.sizes.max(initial=0))))
        codes = np.repeat(sizes[:, None], n_rows, axis=1)
        for name, labels in columns.items():
            node = self._node(name)
            known = {label: self._code(node, label) for label in set(labels)}
            codes[node] = [known[label] for label in labels]
        return codes


def _labels(column: Column) -> list[Label]:
    """Cells of a column; missing ones are None or NaN."""
    if column.categories is None:
        return list(column.values.tolist())
    labels = [*column.categories, None]  # the place −1 is the last
    return [labels[place] for place in column.values.tolist()]


def _listed(labels: Sequence[Label]) -> str:
    return ", ".join(map(repr, labels[:20])) + (", …" if len(labels) > 20 else "")


def _patterns(missing: BoolArray) -> Iterator[tuple[IntArray, set[int]]]:
    """Rows that miss the same cells, and these cells; rows without gaps come first."""
    gapped = missing.any(axis=0)
    if not gapped.all():
        yield np.flatnonzero(~gapped), set()
    rest = np.flatnonzero(gapped)
    for rows, gaps in rows_alike(missing[:, rest]):
        yield rest[rows], set(np.flatnonzero(gaps).tolist())


def _elimination_order(
    scopes: Iterable[Nodes], kept: Scope, sizes: IntArray
) -> tuple[list[int], list[Scope]]:
    """Choose an order by min-fill, and name the variables of every factor on the way.

    Next goes the variable that joins the fewest pairs of others, then the one with the
    smallest factor, then the lowest (Koller & Friedman, "Probabilistic Graphical Models",
    2009, section 9.4.3). The last factor is that of the variables kept.
    """
    near: dict[int, set[int]] = {}
    widths = sizes.tolist()
    for scope in scopes:
        for variable in scope:
            near.setdefault(variable, set()).update(scope)

    def price(variable: int) -> tuple[int, int, int]:
        around = near[variable]
        fill = sum(len(around - near[other]) for other in around)
        return fill, math.prod(widths[other] for other in around), variable

    prices = {variable: price(variable) for variable in near if variable not in kept}
    order, cliques = [], []
    while prices:
        fill, _, variable = min(prices.values())
        around = near.pop(variable)
        del prices[variable]
        order.append(variable)
        cliques.append(tuple(sorted(around)))
        changed = around - {variable}
        for other in changed:
            near[other] = (near[other] | around) - {variable}
        if fill:
            changed = changed.union(*(near[other] for other in changed))
        prices.update((other, price(other)) for other in changed if other in prices)
    return order, [*cliques, kept]


def _eliminate(
    factors: Iterable[Factor], order: list[int], sizes: IntArray, maximize: bool
) -> tuple[list[Factor], list[Step]]:
    """Sum variables out of a product of factors, or maximize over them.

    Returns the factors left, and the steps: each variable with those that it then depends on,
    and its weights given these, on the last axis (its best codes given these, if maximized).
    """
    turn = {variable: place for place, variable in enumerate(order)}
    buckets: list[list[Factor]] = [[] for _ in range(len(order) + 1)]
    steps: list[Step] = []

    def put(factor: Factor) -> None:
        buckets[min((turn[v] for v in factor[0] if v in turn), default=-1)].append(factor)

    for factor in factors:
        put(factor)
    for variable, bucket in zip(order, buckets, strict=False):
        scope = tuple(sorted({member for members, _ in bucket for member in members}))
        rest = tuple(member for member in scope if member != variable)
        axis = 1 + scope.index(variable)
        joined = _multiplied(bucket, scope, sizes)
        high = joined.max(axis=axis, keepdims=True)
        if maximize:
            best = np.argmax(joined >= high - TIE_TOLERANCE, axis=axis)
            put((rest, high.squeeze(axis)))
        else:
            high[np.isneginf(high)] = 0.0
            best = np.moveaxis(np.exp(np.subtract(joined, high, out=joined), out=joined), axis, -1)
            with np.errstate(divide="ignore"):
                put((rest, np.log(best.sum(axis=-1)) + high.squeeze(axis)))
        steps.append((variable, rest, best))
    return buckets[-1], steps


def _multiplied(factors: list[Factor], scope: Scope, sizes: IntArray) -> FloatArray:
    """Log product of factors over all variables of a scope; shape (rows, *scope)."""
    rows = max((len(table) for _, table in factors), default=1)
    total = np.zeros((rows, *sizes[list(scope)]))
    for members, table in factors:
        total += table.reshape(len(table), *(sizes[v] if v in members else 1 for v in scope))
    return total


def _drawn(weights: FloatArray, given: CodeArray, random: np.random.Generator) -> IntArray:
    """Draw a state a row from weights (*given, states), by what was drawn before (m, n)."""
    cumulated = np.cumsum(weights, axis=-1)
    drawn = np.empty(given.shape[1], dtype=np.int64)
    uniform = random.random(len(drawn))
    size = max(1, _BLOCK_BYTES // (8 * cumulated.shape[-1]))
    for start, stop in _parallel.row_blocks(len(drawn), size):
        steps = np.atleast_2d(cumulated[tuple(given[:, start:stop])])
        point = uniform[start:stop] * steps[:, -1]  # below the total, however it is rounded
        drawn[start:stop] = (steps <= point[:, None]).sum(axis=1)
    return drawn
