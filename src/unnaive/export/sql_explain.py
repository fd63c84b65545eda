r"""SQL for explanations: what each column adds to the log-odds of the predicted class.

The log joint is split into a base and one part for every column, as
:meth:`unnaive.explain.Explanation.log_odds` does with ``by="column"``. The logarithm of a sum, over
members of a mean or over classes, is split by the logarithmic-mean Divisia index
(:mod:`unnaive.tables.terms.divisia`).
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.export import sql_words as sql
from unnaive.export.reading import NOTHING
from unnaive.export.sql_gaussian import densities_alone
from unnaive.export.sql_kinds import Compiler
from unnaive.export.sql_words import column, minus, number, or_zero, plus, times, when

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, State
    from unnaive.export.reading import Reading
    from unnaive.export.sql_stages import Stages
    from unnaive.export.sql_words import Expression

_SMALL = 1e-3  # gap below which the logarithmic mean is a series


class Split(NamedTuple):
    """A log joint as a sum: columns of the base of every class, and of its parts by column."""

    base: list[str]
    parts: list[dict[int, str]]

    def joint(self, stages: Stages) -> list[str]:
        """Add base and parts up."""
        return stages.put_all(
            plus([column(base), *map(column, parts.values())])
            for base, parts in zip(self.base, self.parts, strict=True)
        )


def require_positive(document: State, reading: Reading) -> None:
    """Raise an error if a probability is 0, whose logarithm has no finite share in a sum."""
    if any(np.isneginf(reading.exact(place)).any() for place in range(len(document["arrays"]))):
        raise UnnaiveError(
            f"{document['model']} has probabilities of 0, whose contributions are infinite; SQL "
            "cannot explain it: fit it with smoothing='laplace', or export to JavaScript"
        )


class Explainer:
    """Splits the log joint of one model.

    Parameters
    ----------
    compiler : Compiler
        Has the model, the cells and the stages.
    """

    def __init__(self, compiler: Compiler) -> None:
        self.compiler, self.stages, self.k = compiler, compiler.stages, compiler.k

    def split(self, tables: State) -> Split:
        """Split the log joint of tables; raises an error where SQL cannot."""
        kinds = {
            "product": self._product,
            "average": self._average,
            "hidden": self._hidden,
            "gaussian": self._gaussian,
            "classes": self._classes,
            "sum": self._sum,
            "first": self._first,
            "rescue": lambda spec: self.split(spec["parts"][0]),  # no probability is 0
            "mean": self._mean,
        }
        return kinds[tables["kind"]](tables)

    def _split(self, base: FloatArray, parts: list[dict[int, list[Expression]]]) -> Split:
        """Name the sums of all parts."""
        return Split(
            self.stages.put_all(number(value) for value in base),
            [
                {i: self.stages.put(plus(terms)) for i, terms in sorted(own.items())}
                for own in parts
            ],
        )

    # ---- kinds --------------------------------------------------------------------------------

    def _product(self, spec: State) -> Split:
        """Take the factor of a column or, if a parent is missing, the change of the joint."""
        compiler, reading = self.compiler, self.compiler.reading
        parts: list[dict[int, list[Expression]]] = [{} for _ in range(self.k)]
        before: list[str] | None = None
        if any(not factor["children"] for factor in spec["factors"]):
            raise UnnaiveError(
                f"{reading.document['model']}: the class has parents, and SQL cannot explain such "
                "a network; export to JavaScript, or without explain"
            )
        for place, factor in enumerate(spec["factors"]):
            children = factor["children"]
            seen = sql.some(sql.is_known(compiler.cell(child)) for child in children)
            opened = spec["marginalize"] and factor["parents"]
            if opened:
                prefix = {**spec, "factors": spec["factors"][:place]}
                before = before or compiler.joint(prefix)
                after = compiler.joint({**spec, "factors": spec["factors"][: place + 1]})
            dense = [(t["columns"], reading.dense(t)) for t in factor["tables"]]
            looked = [compiler.entries(values, columns) for columns, values in dense]
            for c in range(self.k):
                entries = [of_table[c] for of_table in looked]
                if opened and before is not None:
                    entries.append(minus(column(after[c]), column(before[c])))
                whole = sql.function("COALESCE", *entries) if len(entries) > 1 else entries[0]
                value = self.stages.put(when((seen.copy(), or_zero(whole)), otherwise=number(0.0)))
                for child in children:
                    parts[c].setdefault(child, []).append(self._share(value, child, children))
            before = after if opened else None
        return self._split(reading.logs(spec["base"]), parts)

    def _share(self, value: str, child: int, children: Sequence[int]) -> Expression:
        """Divide a term of several columns equally among those that are observed."""
        if len(children) == 1:
            return column(value)
        ones = [
            when((sql.is_known(self.compiler.cell(other)), number(1.0)), otherwise=number(0.0))
            for other in children
        ]
        equal = sql.divided(column(value), plus(ones))
        return when((sql.is_known(self.compiler.cell(child)), equal), otherwise=number(0.0))

    def _average(self, spec: State) -> Split:
        """Split the log of a mean over super-parents."""
        base = self.compiler.reading.logs(spec["base"])
        prior = self.stages.put_all(number(value) for value in base)
        members, logs = [], []
        for voter in self.compiler.voters(spec):
            if len(voter.columns) > 1:
                raise UnnaiveError(
                    f"{self.compiler.reading.document['model']} has pairs of super-parents, which "
                    "SQL cannot explain; export to JavaScript, or without explain"
                )
            parts: list[dict[int, str]] = [{} for _ in range(self.k)]
            for c in range(self.k):
                for i, term in voter.terms[c].items():
                    less = minus(term, column(prior[c])) if i in voter.columns else term
                    here = when((voter.votes, or_zero(less)), otherwise=number(0.0))
                    parts[c][i] = self.stages.put(here)
            members.append(Split(prior, parts))
            share = when((voter.votes, voter.log_share), otherwise=sql.log_zero())
            logs.append(self.stages.put(share))
        return self.mixed(members, logs)

    def _hidden(self, spec: State) -> Split:
        terms = self.compiler.hidden_terms(spec)
        parts = [{i: [column(name)] for i, name in own.items()} for own in terms]
        return self._split(self.compiler.reading.logs(spec["base"]), parts)

    def _gaussian(self, spec: State) -> Split:
        if spec["forms"] != "independent":
            raise UnnaiveError(
                f"{self.compiler.reading.document['model']}: SQL cannot explain numbers that "
                "depend on each other; export to JavaScript, or without explain"
            )
        terms = densities_alone(self.compiler, spec)
        parts = [dict(zip(spec["columns"], ([t] for t in own), strict=True)) for own in terms]
        return self._split(self.compiler.reading.logs(spec["base"]), parts)

    def _classes(self, spec: State) -> Split:
        reading = self.compiler.reading.of_one_class()
        inner = Explainer(Compiler(reading, self.stages, self.compiler.cells))
        found = [inner.split(part) for part in spec["parts"]]
        return Split([own.base[0] for own in found], [own.parts[0] for own in found])

    def _sum(self, spec: State) -> Split:
        found = [self.split(part) for part in spec["parts"]]
        base = self.stages.put_all(
            plus(column(own.base[c]) for own in found) for c in range(self.k)
        )
        return Split(base, [self._added([own.parts[c] for own in found]) for c in range(self.k)])

    def _added(self, parts: list[dict[int, str]]) -> dict[int, str]:
        places = sorted({i for own in parts for i in own})
        return {
            i: self.stages.put(plus(column(own[i]) for own in parts if i in own)) for i in places
        }

    def _first(self, spec: State) -> Split:
        *answers, last = [(self.split(part), part) for part in spec["parts"]]
        found = last[0]
        for own, part in reversed(answers):
            _, has = self.compiler.answered(part)
            if has is not None:
                found = self._either(has, own, found)
        return found

    def _either(self, has: Expression, one: Split, other: Split) -> Split:
        def chosen(a: str | None, b: str | None) -> str:
            values = [number(0.0) if name is None else column(name) for name in (a, b)]
            return self.stages.put(when((has.copy(), values[0]), otherwise=values[1]))

        return Split(
            [chosen(a, b) for a, b in zip(one.base, other.base, strict=True)],
            [
                {i: chosen(a.get(i), b.get(i)) for i in sorted({*a, *b})}
                for a, b in zip(one.parts, other.parts, strict=True)
            ],
        )

    def _mean(self, spec: State) -> Split:
        members = [self.split(part) for part in spec["parts"]]
        if spec["posteriors"]:
            members = [self.posterior(own) for own in members]
        share = self.stages.put(number(-log(len(members))))
        return self.mixed(members, [share] * len(members))

    # ---- logarithms of sums -------------------------------------------------------------------

    def mixed(self, members: list[Split], logs: list[str]) -> Split:
        """Split the log of a sum of members with weights, given as columns of logarithms."""
        base, parts = [], []
        for c in range(self.k):
            before = self.stages.put_all(
                plus([column(own.base[c]), column(weight)])
                for own, weight in zip(members, logs, strict=True)
            )
            own_parts = [own.parts[c] for own in members]
            base.append(self.stages.log_sum(before))
            parts.append(self.shared(before, own_parts))
        return Split(base, parts)

    def shared(self, before: list[str], parts: list[dict[int, str]]) -> dict[int, str]:
        """Split log Σ e^after − log Σ e^before among the columns of all members."""
        stages = self.stages
        after = stages.put_all(
            plus([column(name), *map(column, own.values())])
            for name, own in zip(before, parts, strict=True)
        )
        scale = self._log_mean(stages.log_sum(after), stages.log_sum(before))
        weights = stages.put_all(
            stages.exponential(minus(column(self._log_mean(a, b)), column(scale)))
            for a, b in zip(after, before, strict=True)
        )
        places = sorted({i for own in parts for i in own})
        return {
            i: stages.put(
                plus(
                    times(column(weight), column(own[i]))
                    for weight, own in zip(weights, parts, strict=True)
                    if i in own
                )
            )
            for i in places
        }

    def _log_mean(self, a: str, b: str) -> str:
        r"""Log of the logarithmic mean: max(a, b) + log((1 − e^{−g}) / g) with g = \|a − b\|."""
        stages = self.stages
        top = stages.put(stages.largest([a, b]))
        gap = stages.put(sql.function("ABS", minus(column(a), column(b))))
        less = stages.exponential(times(number(-1.0), column(gap)))
        ratio = sql.divided(minus(number(1.0), less), column(gap))
        series = number(1 / 24)
        for factor in (1 / 6, 1 / 2, 1.0):
            series = minus(number(factor), times(column(gap), series))
        small = sql.exp.LT(this=column(gap), expression=number(_SMALL))
        share = when((small, series), otherwise=ratio)
        return stages.put(plus([column(top), sql.function("LN", share)]))

    def posterior(self, split: Split) -> Split:
        """Split the log posterior: the log joint less the log of its sum over classes."""
        total = self.stages.log_sum(split.base)
        base = self.stages.put_all(minus(column(name), column(total)) for name in split.base)
        norm = self.shared(split.base, split.parts)
        parts = [
            {
                i: self.stages.put(
                    minus(column(own[i]) if i in own else number(0.0), column(norm[i]))
                )
                for i in norm
            }
            for own in split.parts
        ]
        return Split(base, parts)

    def scaled(self, split: Split, temperature: float, bias: FloatArray) -> Split:
        """Calibrate: τ log P(c, x) + b_c."""
        parts = [
            {i: self.stages.put(times(number(temperature), column(v))) for i, v in own.items()}
            for own in split.parts
        ]
        return Split(self.compiler.scaled(split.base, temperature, bias), parts)

    def odds(self, split: Split, best: str) -> dict[int, str]:
        """Split the log-odds of the class at position ``best`` against all others, by column."""
        stages = self.stages
        places = sorted({i for own in split.parts for i in own})
        filled = [
            {i: own[i] if i in own else stages.put(number(0.0)) for i in places}
            for own in split.parts
        ]
        mine = {i: stages.pick([own[i] for own in filled], column(best)) for i in places}
        is_best = [sql.exp.EQ(this=column(best), expression=sql.whole(c)) for c in range(self.k)]
        before = stages.put_all(
            when((test, number(NOTHING)), otherwise=column(base))
            for test, base in zip(is_best, split.base, strict=True)
        )
        if self.k == 1:
            return {i: stages.put(number(0.0)) for i in places}
        others = self.shared(before, filled)
        return {i: stages.put(minus(mine[i], column(others[i]))) for i in places}


def strongest(
    stages: Stages, contributions: dict[int, str], names: Sequence[str], most: int
) -> dict[str, Expression]:
    """Return the columns of the result: the names and values of the largest contributions."""
    sizes = {i: stages.put(sql.function("ABS", column(own))) for i, own in contributions.items()}
    found: dict[str, Expression] = {}
    for rank in range(1, min(most, len(contributions)) + 1):
        top = stages.put(stages.largest(list(sizes.values())))
        place = stages.put(
            when(
                (sql.exp.LTE(this=column(top), expression=number(0.0)), sql.exp.Null()),
                *(
                    (sql.exp.EQ(this=column(own), expression=column(top)), sql.whole(at))
                    for at, own in enumerate(sizes.values())
                ),
                otherwise=None,
            )
        )
        texts: list[Expression] = [sql.exp.Literal.string(names[i]) for i in contributions]
        found[f"column_{rank}"] = stages.pick_expression(texts, column(place))
        found[f"contribution_{rank}"] = stages.pick(list(contributions.values()), column(place))
        sizes = {
            i: stages.put(
                when(
                    (sql.exp.EQ(this=column(place), expression=sql.whole(at)), number(-1.0)),
                    otherwise=column(own),
                )
            )
            for at, (i, own) in enumerate(sizes.items())
        }
    return found
