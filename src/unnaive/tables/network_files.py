"""Bayesian networks as files, as graphs of other libraries, and as classifiers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.io import networks
from unnaive.io.bif import TYPES
from unnaive.io.networks import NetworkDescription, write_network
from unnaive.structure.dag import DAG
from unnaive.structure.dot import read_dot, write_dot

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from unnaive._typing import Label, State
    from unnaive.models import BayesNet
    from unnaive.tables.network import Network

Own = TypeVar("Own", bound="Network")


def read_network(path: str | os.PathLike[str], format: str | None = None) -> Network:  # noqa: A002
    """Read a Bayesian network that this library or another program wrote.

    Parameters
    ----------
    path : str or path
        A file in BIF (``.bif``) or XMLBIF (``.xml``, ``.xmlbif``, ``.bifxml``), also compressed
        (``.bif.gz``).
    format : {"bif", "xmlbif"}, default=None
        The format, if the name does not determine it.

    Returns
    -------
    Network
        The network; ``network.to_classifier("target")`` makes a classifier of it.

    See Also
    --------
    Network : Queries, samples, interventions.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import unnaive
    >>> from unnaive.structure.dag import DAG
    >>> coin = unnaive.Network(DAG.empty(["coin"]), ((0, 1),), ([0.5, 0.5],))
    >>> with TemporaryDirectory() as folder:
    ...     coin.write(Path(folder) / "coin.bif")
    ...     unnaive.read_network(Path(folder) / "coin.bif").states
    ((0, 1),)
    """
    from unnaive.tables.network import Network  # noqa: PLC0415 - it is made of these methods

    return Network.read(path, format)


class NetworkFiles:
    """Methods of :class:`~unnaive.tables.network.Network` that exchange networks.

    States, their order and types, and the edges of bins are kept.
    """

    @classmethod
    def uniform(
        cls,
        dag: DAG,
        states: Sequence[Sequence[Label]],
        random_state: int | np.random.Generator | None = None,
    ) -> Self:
        """Create a network in which all states are equally probable, or random tables.

        Parameters
        ----------
        dag : DAG
            The parents of every variable.
        states : sequence of sequences
            Labels of every variable.
        random_state : int, Generator or None, default=None
            Random seed: tables are then drawn from all tables alike; None: 1/v everywhere.

        Returns
        -------
        Network
            A start for :func:`unnaive.tables.em.expectation_maximization`.
        """
        sizes, tables = [len(labels) for labels in states], []
        random = None if random_state is None else np.random.default_rng(random_state)
        for node, above in enumerate(dag.parents):
            shape = [sizes[parent] for parent in above]
            table = np.full([*shape, sizes[node]], 1 / max(1, sizes[node]))
            tables.append(
                table if random is None else random.dirichlet(np.ones(sizes[node]), shape)
            )
        return cls(dag, tuple(map(tuple, states)), tuple(tables))  # type: ignore[call-arg]

    def to_description(self: Own, name: str = "network") -> NetworkDescription:  # type: ignore[misc]
        """Return the description that is written to files, with labels as text.

        Parameters
        ----------
        name : str, default="network"
            Name of the network.

        Returns
        -------
        NetworkDescription
            Names, states, parents, tables, types of the states, and edges of the bins.
        """
        types = tuple(tuple(map(_type_of, labels)) for labels in self.states)
        return NetworkDescription(
            name,
            self.dag.names,
            tuple(tuple(map(str, labels)) for labels in self.states),
            self.dag.parents,
            self.tables,
            tuple(words if set(words) - {"text"} else () for words in types),
            tuple(self.bins.get(variable) for variable in self.dag.names),
        )

    @classmethod
    def of_description(cls, description: NetworkDescription) -> Self:
        """Create a network from a description; parents are sorted as in the DAG.

        Parameters
        ----------
        description : NetworkDescription
            What :func:`unnaive.io.networks.read_network` returns.

        Returns
        -------
        Network
            The network.
        """
        pairs = zip(description.tables, description.parents, strict=True)
        tables = tuple(np.transpose(table, [*np.argsort(up), len(up)]) for table, up in pairs)
        types = description.types or ((),) * len(tables)
        states = tuple(map(_typed, description.states, types))
        pairs_of_bins = zip(description.variables, description.bins, strict=False)
        bins = {name: edges for name, edges in pairs_of_bins if edges is not None}
        dag = DAG(description.variables, description.parents)
        return cls(dag, states, tables, bins=bins)  # type: ignore[call-arg]

    def write(self: Own, path: str | os.PathLike[str], format: str | None = None) -> None:  # type: ignore[misc]  # noqa: A002
        """Write the network to a file for other programs, see :mod:`unnaive.io.networks`.

        Parameters
        ----------
        path : str or path
            The file.
        format : str, default=None
            Format; None uses the file's ending.
        """
        write_network(path, self.to_description(), format)

    @classmethod
    def read(cls, path: str | os.PathLike[str], format: str | None = None) -> Self:  # noqa: A002
        """Read a network from a file of another program, see :mod:`unnaive.io.networks`.

        Parameters
        ----------
        path : str or path
            The file.
        format : str, default=None
            Format; None uses the file's ending.

        Returns
        -------
        Network
            The network.
        """
        return cls.of_description(networks.read_network(path, format))

    def to_networkx(self: Own) -> Any:  # type: ignore[misc]
        """Make a ``networkx.DiGraph`` whose nodes have the attributes states, table and bins.

        Returns
        -------
        networkx.DiGraph
            Nodes in the order of the network; the axes of ``table`` are the parents in this
            order, then the node. ``bins`` is None for variables that are no cut numbers.
        """
        graph = self.dag.to_networkx()
        for place, name in enumerate(self.dag.names):
            known = {"states": self.states[place], "table": self.tables[place]}
            graph.nodes[name].update(known, bins=self.bins.get(name))
        return graph

    @classmethod
    def of_networkx(cls, graph: Any) -> Self:
        """Create a network from a graph with the attributes of :meth:`to_networkx`.

        Parameters
        ----------
        graph : networkx.DiGraph
            Its nodes have the attributes ``states`` and ``table``, and perhaps ``bins``.

        Returns
        -------
        Network
            The network. A graph without tables is a structure, for ``BayesNet(structure=graph)``.
        """
        dag, nodes = DAG.of_networkx(graph), list(graph.nodes(data=True))
        known = {str(name): attributes for name, attributes in nodes}
        return cls._of_attributes(dag, known)

    def to_dot(self: Own) -> str:  # type: ignore[misc]
        """Write the network in Graphviz' language; attributes of nodes hold states and tables.

        Returns
        -------
        str
            A graph that Graphviz draws and :meth:`of_dot` reads.
        """
        known = self.to_description()
        attributes = {}
        for place, name in enumerate(self.dag.names):
            values = {"states": list(self.states[place]), "table": known.tables[place].tolist()}
            if self.bins.get(name) is not None:
                values["bins"] = list(self.bins[name])
            attributes[name] = {key: json.dumps(value) for key, value in values.items()}
        return write_dot(self.dag.names, self.dag._arrows, attributes=attributes)  # noqa: SLF001

    @classmethod
    def of_dot(cls, text: str) -> Self:
        """Create a network from a text of :meth:`to_dot`.

        Parameters
        ----------
        text : str
            A directed graph whose nodes have the attributes ``states`` and ``table``.

        Returns
        -------
        Network
            The network. :meth:`unnaive.structure.dag.DAG.of_dot` reads graphs without tables.
        """
        nodes, arrows = read_dot(text)
        known: dict[str, State] = {}
        for name, given in nodes.items():
            try:
                known[name] = {key: json.loads(given[key]) for key in _ATTRIBUTES if key in given}
            except ValueError as error:
                raise UnnaiveError(
                    f"the attributes of node {name!r} are not JSON: {error}"
                ) from None
        return cls._of_attributes(DAG.of_edges(tuple(nodes), arrows), known)

    @classmethod
    def _of_attributes(cls, dag: DAG, known: dict[str, State]) -> Self:
        """Create a network from the attributes of the nodes of a graph."""
        for name in dag.names:
            lacking = [key for key in ("states", "table") if known[name].get(key) is None]
            if lacking:
                raise UnnaiveError(
                    f"node {name!r} has no attribute {lacking[0]!r}; a graph without tables is a "
                    "structure: fit BayesNet(structure=graph) to rows"
                )
        states = tuple(tuple(known[name]["states"]) for name in dag.names)
        bins = {name: tuple(known[name]["bins"]) for name in dag.names if known[name].get("bins")}
        tables = tuple(known[name]["table"] for name in dag.names)
        return cls(dag, states, tables, bins=bins)  # type: ignore[call-arg]

    def to_classifier(  # type: ignore[misc]
        self: Own, target: str, equivalent_sample_size: float = 100.0
    ) -> BayesNet:
        """Make a classifier that predicts one variable from the others.

        Its probabilities are those of the network: ``predict_proba`` is P(target | row), whatever
        cells are missing. It explains, reports, saves and exports like every model, and
        ``partial_fit`` updates its tables by rows.

        Parameters
        ----------
        target : str
            Name of the variable to predict.
        equivalent_sample_size : float, default=100
            Number of rows that the network is worth when rows are added by ``partial_fit``, and
            for intervals of probabilities. It does not change predictions.

        Returns
        -------
        BayesNet
            A fitted model; its features are the other variables, in the order of the network.

        Notes
        -----
        The model is fitted to expected counts, the probability of every family of variables times
        the equivalent sample size. Rows that are added make the tables the posterior means under
        a Dirichlet prior with the network as its mean (Heckerman, Geiger & Chickering 1995).
        What fits again, such as the cross-validation of a report, keeps the graph and estimates
        the tables from the rows alone.

        Examples
        --------
        >>> from unnaive import Network
        >>> from unnaive.structure.dag import DAG
        >>> dag = DAG.of_edges(["ill", "test"], [("ill", "test")])
        >>> tables = ([0.9, 0.1], [[0.95, 0.05], [0.2, 0.8]])
        >>> network = Network(dag, (("no", "yes"), ("negative", "positive")), tables)
        >>> model = network.to_classifier("ill")
        >>> model.predict_proba([{"test": "positive"}, {}]).round(3)
        array([[0.36, 0.64],
               [0.9 , 0.1 ]])
        """
        from unnaive.models.given import classifier_of  # noqa: PLC0415 - loads when asked

        return classifier_of(self, target, equivalent_sample_size)


_ATTRIBUTES = ("states", "table", "bins")


def _type_of(label: Label) -> str:
    """Return the type of a state, as files spell it."""
    kind = type(label.item() if isinstance(label, np.generic) else label).__name__
    return kind if kind in TYPES else "text"


def _typed(states: Sequence[str], types: Sequence[str]) -> tuple[Label, ...]:
    """States with their types, from texts."""
    if not types:
        return tuple(states)
    return tuple(TYPES[kind](state) for kind, state in zip(types, states, strict=True))
