"""ONNX for every kind of tables: the log joint of all rows and classes, shape (n, k)."""

from __future__ import annotations

from math import log, prod
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.export.onnx_gaussian import gaussian
from unnaive.export.onnx_summing import Summing
from unnaive.export.reading import NOTHING, plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, State
    from unnaive.export.onnx_graph import Graph
    from unnaive.export.reading import Plan, Reading


class Compiler:
    """Compiles the tables of one model.

    Parameters
    ----------
    reading : Reading
        The model.
    graph : Graph
        Where nodes are added.
    codes : list of str or None
        Code of every column (n,), its size if missing; a number, 0 if missing.
    finite : dict
        Whether a number (n,) is not missing, by the name of the number.
    """

    def __init__(
        self,
        reading: Reading,
        graph: Graph,
        codes: Sequence[str | None],
        finite: dict[str, str] | None = None,
    ) -> None:
        self.reading, self.graph, self.codes = reading, graph, codes
        self.finite = finite or {}
        self.k = reading.n_classes

    def joint(self, tables: State) -> str:
        """Return the log joint.

        Parameters
        ----------
        tables : dict
            A description of tables, see :mod:`unnaive.tables.describe`.

        Returns
        -------
        str
            Name of log P(c, x), shape (n, k) or (1, k), missing columns summed out.
        """
        return self.answered(tables)[0]

    def answered(self, tables: State) -> tuple[str, str | None]:
        """Return the log joint, and whether each row has one.

        Parameters
        ----------
        tables : dict
            A description of tables.

        Returns
        -------
        tuple
            Name of the log joint; name of the truth values (n, 1), or None if all rows have one.
        """
        kind = tables["kind"]
        if kind == "average":
            return self._average(tables)
        own = {
            "product": self._product,
            "hidden": self._hidden,
            "gaussian": lambda spec: gaussian(self, spec),
            "classes": self._classes,
            "sum": lambda spec: self.graph.add([self.joint(part) for part in spec["parts"]]),
            "first": self._first,
            "rescue": lambda spec: self.graph.unless_lost(*map(self.joint, spec["parts"])),
            "mean": self._mean,
        }
        return own[kind](tables), None

    def code(self, place: int) -> str:
        """Return the code of a column that the model uses; shape (n,)."""
        code = self.codes[place]
        if code is None:
            raise UnnaiveError(f"column {self.reading.columns[place]['name']!r} has no values")
        return code

    def known(self, place: int) -> str:
        """Whether a column is observed; shape (n,)."""
        size = self.graph.integers([self.reading.sizes[place]])
        return self.graph.node("Less", self.code(place), size)

    def look_up(self, table: FloatArray, columns: Sequence[int]) -> str:
        """Look up a table that has a slot for missing values.

        Parameters
        ----------
        table : ndarray
            Entries; each column has an axis with one slot more than it has values.
        columns : list of int
            Positions of the columns.

        Returns
        -------
        str
            Name of the entries (n, k).
        """
        sizes = [self.reading.sizes[c] + 1 for c in columns]
        index = self.graph.number_of([self.code(c) for c in columns], sizes)
        return self.graph.rows(table.reshape(prod(sizes), -1), index)

    # ---- products -----------------------------------------------------------------------------

    def _product(self, spec: State) -> str:
        graph, sizes = self.graph, self.reading.sizes
        terms = [graph.constant(self.reading.logs(spec["base"])[None])]
        dense = []
        for factor in spec["factors"]:
            columns = factor["tables"][0]["columns"]
            slots = np.zeros([*(sizes[c] + 1 for c in columns), self.k])
            for table in reversed(factor["tables"]):
                values = np.moveaxis(self.reading.dense(table), 0, -1)
                shape = [sizes[c] if c in table["columns"] else 1 for c in columns]
                inside = tuple(
                    slice(0, -1) if c in table["columns"] else slice(None) for c in columns
                )
                slots[inside] = values.reshape(*shape, self.k)
            if columns:
                terms.append(self.look_up(slots, columns))
            dense.append((columns, slots))
        plan = plan_of(spec["factors"], sizes)
        if spec["marginalize"] and plan.steps:
            terms.append(self._summed_out(spec, plan, dense))
        return graph.add(terms)

    def _summed_out(
        self, spec: State, plan: Plan, dense: list[tuple[list[int], FloatArray]]
    ) -> str:
        """Return what factors with missing columns add, computed for rows that have such columns.

        These rows are taken out, behind a line that stands for all others: a complete row, to
        which sums over missing columns add 0.

        Parameters
        ----------
        spec : dict
            Description of the product.
        plan : Plan
            In which order columns are summed out.
        dense : list of tuple
            Columns of every factor, and its table with slots for missing values.

        Returns
        -------
        str
            Name of logarithms (n, k).
        """
        graph = self.graph
        is_open = graph.any([graph.node("Not", self.known(c)) for c in plan.inner])
        places = graph.shaped(graph.node("NonZero", is_open), [-1])
        codes: list[str | None] = [None] * len(self.codes)
        for c in sorted({c for columns, _ in dense for c in columns}):
            some = graph.node("Gather", self.code(c), places, axis=0)
            codes[c] = graph.node("Concat", graph.integers([0]), some, axis=0)
        inner = Compiler(self.reading, graph, codes, self.finite)
        added = graph.add(Summing(inner, spec["factors"], plan, dense).messages())
        one = graph.node("Cast", is_open, to=7)  # int64
        line = graph.node("CumSum", one, graph.constant(np.array(0, dtype=np.int64)))
        return graph.node("Gather", added, graph.node("Mul", line, one), axis=0)

    # ---- means over super-parents -------------------------------------------------------------

    def _average(self, spec: State) -> tuple[str, str]:
        reading, graph, sizes = self.reading, self.graph, self.reading.sizes
        weights, first = reading.exact(spec["weights"]), 0
        table = reading.logs(spec["table"]).reshape(self.k, len(weights), -1)
        inner = Compiler(reading, graph, self._resolved(spec))
        used = [i for i, size in enumerate(sizes) if size]
        slots = np.cumsum([0, *(sizes[i] + 1 for i in used)])
        places = graph.stacked(
            [
                graph.node("Add", inner.code(i), graph.integers([slot]))
                for i, slot in zip(used, slots, strict=False)
            ],
            1,
        )
        shares, joints = [], []
        for members in spec["members"]:
            shape = [sizes[c] for c in members]
            lines = slice(first, first := first + prod(shape))
            own = np.zeros((prod(shape) + 1, slots[-1], self.k))
            for i, slot in zip(used, slots, strict=False):
                if i not in members[1:]:
                    part = table[:, lines, reading.starts[i] : reading.starts[i + 1]]
                    own[:-1, slot : slot + sizes[i]] = part.transpose(1, 2, 0)
            chosen = np.full([size + 1 for size in shape], prod(shape))
            chosen[tuple(slice(0, -1) for _ in shape)] = np.arange(prod(shape)).reshape(shape)
            line = self.graph.node(
                "Squeeze", inner.look_up(chosen[..., None], members), graph.integers([1])
            )
            shares.append(graph.rows(np.append(weights[lines], 0.0), line))
            wide = graph.node(
                "Add",
                graph.node(
                    "Mul",
                    graph.node("Unsqueeze", line, graph.integers([1])),
                    graph.integers([int(slots[-1])]),
                ),
                places,
            )
            entries = graph.rows(own.reshape(-1, self.k), wide)
            joints.append(graph.total(entries, 1))
        share = graph.stacked(shares, 1)
        total = graph.total(share, 1, keep=True)
        voting = graph.node("Greater", share, graph.number(0.0))
        one, has = graph.number(1.0), graph.node("Greater", total, graph.number(0.0))
        safe = graph.node(
            "Where", voting, graph.node("Div", share, graph.node("Where", has, total, one)), one
        )
        logs = graph.node("Where", voting, graph.node("Log", safe), graph.number(NOTHING))
        votes = graph.node(
            "Add", graph.stacked(joints, 1), graph.node("Unsqueeze", logs, graph.integers([2]))
        )
        return graph.log_sum(votes, 1), has

    def _resolved(self, spec: State) -> list[str | None]:
        """Return the codes; that of a missing value where another cell of the row implies it."""
        if spec["implied"] is None:
            return list(self.codes)
        graph, sizes, starts = self.graph, self.reading.sizes, self.reading.starts
        pairs = self.reading.pairs(spec["implied"])
        implied = np.zeros((starts[-1], starts[-1]))
        implied[pairs[:, 1], pairs[:, 0]] = 1.0
        wide = {
            i: graph.node("Unsqueeze", self.code(i), graph.integers([1]))
            for i, size in enumerate(sizes)
            if size
        }
        present = graph.as_double(
            graph.node(
                "Concat",
                *(
                    graph.as_double(
                        graph.node("Equal", code, graph.integers(list(range(sizes[i]))))
                    )
                    for i, code in wide.items()
                ),
                axis=1,
            )
        )
        hits = graph.node("Mul", graph.node("MatMul", present, graph.constant(implied)), present)
        found: list[str | None] = list(self.codes)
        for i in wide:
            bounds = [
                graph.integers([starts[i]]),
                graph.integers([starts[i + 1]]),
                graph.integers([1]),
            ]
            gone = graph.node(
                "Greater", graph.largest(graph.node("Slice", hits, *bounds), 1), graph.number(0.0)
            )
            found[i] = graph.node("Where", gone, graph.integers([sizes[i]]), self.code(i))
        return found

    # ---- hidden parents -----------------------------------------------------------------------

    def _hidden(self, spec: State) -> str:
        reading, graph, sizes = self.reading, self.graph, self.reading.sizes
        alone = reading.logs(spec["alone"]).reshape(self.k, -1)
        terms = [graph.constant(reading.logs(spec["base"])[None])]
        for i, bag in enumerate(spec["bags"]):
            if not sizes[i]:
                continue
            own = np.zeros((sizes[i] + 1, self.k))
            own[:-1] = alone[:, reading.starts[i] : reading.starts[i + 1]].T
            simple = self.look_up(own, [i])
            terms.append(self._bag(i, bag, simple) if bag["members"] else simple)
        return graph.add(terms)

    def _bag(self, i: int, bag: State, simple: str) -> str:
        r"""Return the log mean over observed members of a bag, or what a column says alone.

        .. math:: \log \frac{\sum_j W_{ij} P(x_i \mid x_j, c)}{\sum_j W_{ij}}

        Parameters
        ----------
        i : int
            Position of the column.
        bag : dict
            Its members, their weights, and the table.
        simple : str
            log P(x_i | c), for rows that show no member.

        Returns
        -------
        str
            Name of the factor (n, k).
        """
        graph, sizes = self.graph, self.reading.sizes
        members, weights = bag["members"], self.reading.exact(bag["weights"])
        table = self.reading.exact(bag["table"]).reshape(self.k, sizes[i], -1)
        offset, values, heard = 0, [], []
        for m, weight in zip(members, weights.tolist(), strict=True):
            part = np.zeros((sizes[i] + 1, sizes[m] + 1, self.k))
            part[:-1, :-1] = table[:, :, offset : offset + sizes[m]].transpose(1, 2, 0)
            offset += sizes[m]
            values.append(self.look_up(part, [i, m]))
            shown = np.full((sizes[m] + 1, 1), weight)
            shown[-1] = 0.0
            heard.append(self.look_up(shown, [m]))
        value, weight = graph.add(values), graph.add(heard)
        one, zero = graph.number(1.0), graph.number(0.0)
        positive = graph.node("Greater", value, zero)
        any_heard = graph.node(
            "Unsqueeze", graph.any([self.known(m) for m in members]), graph.integers([1])
        )
        share = graph.node("Div", value, graph.node("Where", any_heard, weight, one))
        logs = graph.node("Log", graph.node("Where", positive, share, one))
        through = graph.node("Where", positive, logs, graph.number(NOTHING))
        told = graph.node("Where", any_heard, through, simple)
        present = graph.node("Unsqueeze", self.known(i), graph.integers([1]))
        return graph.node("Where", present, told, zero)

    # ---- several of these ---------------------------------------------------------------------

    def _classes(self, spec: State) -> str:
        inner = Compiler(self.reading.of_one_class(), self.graph, self.codes)
        joints = [inner.joint(part) for part in spec["parts"]]
        alone = np.eye(self.k)[:, None]
        places = [self.graph.constant(line) for line in alone]
        # Constants have one line and others one for each row, so classes are added, not joined.
        parts = [self.graph.node("Mul", *both) for both in zip(joints, places, strict=True)]
        return self.graph.add(parts)

    def _first(self, spec: State) -> str:
        *answers, (joint, _) = [self.answered(part) for part in spec["parts"]]
        for own, condition in reversed(answers):
            joint = joint if condition is None else self.graph.node("Where", condition, own, joint)
        return joint

    def _mean(self, spec: State) -> str:
        graph, joints = self.graph, []
        for part in spec["parts"]:
            joint = self.joint(part)
            if spec["posteriors"]:
                base = graph.constant(self.reading.logs(part["base"])[None])
                joint = graph.normalised(graph.unless_lost(joint, base))
            joints.append(joint)
        mean = graph.log_sum(graph.stacked(joints, 1), 1)
        return graph.node("Sub", mean, graph.number(log(len(joints))))
