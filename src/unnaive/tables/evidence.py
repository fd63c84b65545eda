"""Names, states and rows of Bayesian networks as codes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import to_frame
from unnaive.schema.columns import code_type
from unnaive.structure.dag import DAG

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, CodeArray, FloatArray, Label
    from unnaive.io.frames import Column
    from unnaive.tables.network import Network


def node_of(network: Network, name: str) -> int:
    """Position of a variable; raise if there is none of this name."""
    names = network.dag.names
    if name not in names:
        raise UnnaiveError(f"there is no variable {name!r}; the variables are {listed(names)}")
    return names.index(name)


def is_missing(label: object) -> bool:
    """Whether a cell is None, NaN, or pandas' NA."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)  # noqa: PLR0124


def code_of(network: Network, node: int, label: object) -> int:
    """Code of a state; the number of states for a missing cell.

    A number is also the state whose bin contains it, and a label the state that is written alike:
    ``0`` and ``"0"`` are the same state of a network that has only one of them.
    """
    labels, name = network.states[node], network.dag.names[node]
    if is_missing(label):
        return len(labels)
    if label in labels:
        return labels.index(label)
    edges = network.bins.get(name)
    if edges is not None and is_number(label):
        return bisect_left(edges, float(label))  # type: ignore[arg-type]
    alike = [code for code, known in enumerate(labels) if str(known) == str(label)]
    if len(alike) != 1:
        states = f"its states are {listed(labels)}"
        more = "" if edges is None else ", bins of numbers"
        raise UnnaiveError(f"variable {name!r} has no state {label!r}; {states}{more}")
    return alike[0]


def is_number(label: object) -> bool:
    """Whether a label is a number and not a truth value."""
    return isinstance(label, int | float | np.integer | np.floating) and not isinstance(label, bool)


def encoded(network: Network, rows: object) -> CodeArray:
    """Codes of rows; the number of states if a cell is missing; shape (d, n)."""
    rows = [rows] if isinstance(rows, Mapping) else rows
    if isinstance(rows, Sequence) and all(isinstance(row, Mapping) for row in rows):
        keys = dict.fromkeys(name for row in rows for name in row)
        for row in rows:
            _require_single_states(row)
        n_rows, columns = len(rows), {name: [row.get(name) for row in rows] for name in keys}
    else:
        frame = to_frame(rows)
        named = not isinstance(rows, Sequence | np.ndarray)
        if not named and len(frame.names) != len(network.sizes):
            raise UnnaiveError(f"rows have {len(frame.names)} columns, not {len(network.sizes)}")
        n_rows, names = frame.n_rows, frame.names if named else network.dag.names
        columns = {name: _labels(frame.column(place)) for place, name in enumerate(names)}
    sizes = network.sizes.astype(code_type(int(network.sizes.max(initial=0))))
    codes = np.repeat(sizes[:, None], n_rows, axis=1)
    for name, labels in columns.items():
        node = node_of(network, name)
        known = {label: code_of(network, node, label) for label in set(labels)}
        codes[node] = [known[label] for label in labels]
    return codes


def _require_single_states(row: Mapping[str, object]) -> None:
    for name, label in row.items():
        if isinstance(label, _SEVERAL):
            raise UnnaiveError(
                f"variable {name!r} has {label!r} in a row; a cell is one state or missing, and "
                "several states are a finding of query or marginals"
            )


def _labels(column: Column) -> list[Label]:
    """Cells of a column; missing ones are None or NaN."""
    if column.categories is None:
        return list(column.values.tolist())
    labels = [*column.categories, None]  # −1 selects the last
    return [labels[place] for place in column.values.tolist()]


def listed(labels: Sequence[Label]) -> str:
    """List labels in a message, the first twenty of them."""
    return ", ".join(map(repr, labels[:20])) + (", …" if len(labels) > 20 else "")


def finding(network: Network, node: int, value: object) -> FloatArray | None:
    """P(finding | state) of a value of evidence, shape (v,); None if it is missing.

    Parameters
    ----------
    network : Network
        The network.
    node : int
        The variable that was observed.
    value : label, collection of labels, slice or dict
        The observed state (or a number in its bin), states of which one is true, a range
        ``slice(low, high)`` of numbers above low up to high, or P(finding | state) by state.

    Returns
    -------
    ndarray of shape (v,) or None
        Numbers from 0 to 1.
    """
    chances = np.zeros(len(network.states[node]))
    if isinstance(value, Mapping):
        for label, chance in value.items():
            if not (is_number(chance) and 0 <= chance <= 1):
                name = network.dag.names[node]
                raise UnnaiveError(
                    f"the finding on {name!r} has {chance!r} for state {label!r}; give "
                    "P(finding | state), a number from 0 to 1"
                )
            chances[_known(network, node, label)] = chance
    elif isinstance(value, slice):
        chances[_within(network, node, value)] = 1.0
    elif isinstance(value, list | tuple | set | frozenset):
        chances[[_known(network, node, label) for label in value]] = 1.0
    elif is_missing(value):
        return None
    else:
        chances[code_of(network, node, value)] = 1.0
    return chances


def _known(network: Network, node: int, label: object) -> int:
    """Code of a state that may not be missing."""
    if is_missing(label):
        name = network.dag.names[node]
        raise UnnaiveError(f"a finding on {name!r} names {label!r}, which is no state")
    return code_of(network, node, label)


def _within(network: Network, node: int, interval: slice) -> BoolArray:
    """Which states are numbers, or bins of numbers, in a range; shape (v,)."""
    name, labels = network.dag.names[node], network.states[node]
    low = -np.inf if interval.start is None else float(interval.start)
    high = np.inf if interval.stop is None else float(interval.stop)
    edges = network.bins.get(name)
    if edges is None:
        if not all(map(is_number, labels)):
            raise UnnaiveError(f"variable {name!r} has no numbers; its states are {listed(labels)}")
        numbers = np.array(labels, dtype=np.float64)
        return np.asarray((low < numbers) & (numbers <= high))
    inner = [end for end in (low, high) if np.isfinite(end) and end not in edges]
    if inner:
        raise UnnaiveError(
            f"the range of {name!r} ends at {inner[0]:g}, inside of a bin, of which only a part is "
            f"meant; end it at one of the edges {listed(edges)}"
        )
    starts, stops = np.array([-np.inf, *edges]), np.array([*edges, np.inf])
    inside = np.zeros(len(labels), dtype=bool)  # a state of missing values is never inside
    inside[: len(starts)] = (starts >= low) & (stops <= high)
    return inside


def is_plain(evidence: Mapping[str, object]) -> bool:
    """Whether all findings are single states."""
    return not any(isinstance(value, _SEVERAL) for value in evidence.values())


_SEVERAL = (Mapping, slice, list, tuple, set, frozenset)


def with_findings(
    network: Network, evidence: Mapping[str, object]
) -> tuple[Network, dict[str, object]]:
    """Return a network in which soft findings are observed children of their variables.

    Pearl's virtual evidence: a new variable with P(yes | state) = P(finding | state), observed as
    yes. All questions are then answered as for single states.

    Parameters
    ----------
    network : Network
        The network.
    evidence : mapping
        Findings by name, see :func:`finding`.

    Returns
    -------
    network : Network
        The network with a further variable for each soft finding, after all others.
    evidence : dict
        Findings that are single states.
    """
    names, parents = list(network.dag.names), list(network.dag.parents)
    states, tables, plain = list(network.states), list(network.tables), dict[str, object]()
    for name, value in evidence.items():
        if not isinstance(value, _SEVERAL):
            plain[name] = value
            continue
        node = node_of(network, name)
        chances = finding(network, node, value)
        if chances is None:
            continue
        added = f"finding on {name}"
        while added in names:
            added += " "
        names.append(added)
        parents.append((node,))
        states.append(("no", "yes"))
        tables.append(np.stack([1 - chances, chances], axis=1))
        plain[added] = "yes"
    dag = DAG(tuple(names), tuple(parents))
    return replace(network, dag=dag, states=tuple(states), tables=tuple(tables)), plain


def findings_of(network: Network, rows: object) -> tuple[int, dict[int, FloatArray]]:
    """Return the number of rows, and P(finding | state) of observed variables, shape (n, v)."""
    rows = [rows] if isinstance(rows, Mapping) else rows
    mappings = isinstance(rows, Sequence) and all(isinstance(row, Mapping) for row in rows)
    if mappings and not all(map(is_plain, rows)):  # type: ignore[call-overload]
        listed_rows: list[Mapping[str, object]] = list(rows)  # type: ignore[call-overload]
        names = dict.fromkeys(name for row in listed_rows for name in row)
        nodes = {node_of(network, name): name for name in names}
        soft = {node: np.ones((len(listed_rows), int(network.sizes[node]))) for node in nodes}
        for place, row in enumerate(listed_rows):
            for node, name in nodes.items():
                chances = finding(network, node, row.get(name))
                if chances is not None:
                    soft[node][place] = chances
        return len(listed_rows), soft
    codes = encoded(network, rows)
    return codes.shape[1], chances_of(network, codes)


def chances_of(network: Network, codes: CodeArray) -> dict[int, FloatArray]:
    """P(finding | state) of variables that are observed in some of the coded rows; (n, v)."""
    seen = np.flatnonzero((codes < network.sizes[:, None]).any(axis=1))
    choices = {node: np.eye(network.sizes[node] + 1)[:, :-1] for node in seen.tolist()}
    for chances in choices.values():
        chances[-1] = 1.0  # nothing was observed
    return {node: table[codes[node]] for node, table in choices.items()}
