"""Why this prediction: what each attribute of a row adds to the log-odds of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logsumexp

from unnaive.exceptions import TableTooLarge
from unnaive.explain.cells import shown_cells
from unnaive.explain.odds import LogOdds, split_odds
from unnaive.models.classifier import first_of_the_best

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray, Label
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier

_FEW = 256  # rows that are explained without asking for the room they take
_BY = ("column", "group", "term")


class Term(NamedTuple):
    """Columns that a term belongs to, and those it acts through, by their positions."""

    columns: tuple[int, ...]
    through: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Explanation:
    r"""What each attribute of each row contributes to each class.

    .. math:: \log P(c, x) = b_c + \sum_t a_{ct}

    exactly, for every model. Where a model is a product, a term is
    :math:`\log P(x_i \mid \text{parents}, c)`. Where it is an average (AODE, ATAN) the logarithm
    of the average is split by the logarithmic-mean Divisia index, which leaves no residual; where
    a column has a hidden parent (HNB), its term is shared by the bag as the mixture is. Where a
    parent is missing, a cell adds what the chain rule says. A missing cell adds 0. A row that no
    class gives any chance has the prior as its base, and no contributions.

    Attributes
    ----------
    names, target : tuple of str, str
        Names of the columns and of the class.
    classes : list
        Class labels.
    terms : tuple of Term
        Columns, and the columns they act through.
    base : ndarray of shape (n, k)
        Log P(c), as the model has it.
    contributions : ndarray of shape (n, k, t)
        What every term adds, in nats.
    cells : ndarray of str, shape (n, d)
        What each row has, ``"missing"`` where nothing.
    observed : ndarray of bool, shape (n, d)
        Which cells the model sees; values never seen in fit count as missing.
    log_evidence : ndarray of shape (n,)
        Log P(x) by the model, −inf where no class gives the row any chance.

    References
    ----------
    Ang, "Decomposition analysis for policymaking in energy", Energy Policy 32, 2004; Možina,
    Demšar, Kattan & Zupan, "Nomograms for visualization of naive Bayesian classifier", PKDD 2004.

    Examples
    --------
    >>> from unnaive import TAN
    >>> X = [["yes", "high"], ["yes", "low"], ["no", "high"], ["no", "low"]] * 5
    >>> model = TAN().fit(X, ["ill", "ill", "well", "well"] * 5)
    >>> rows = [["yes", None], ["no", "high"]]
    >>> found = model.explain(rows)
    >>> odds = found.log_odds(positive="ill")
    >>> odds.contributions.round(2)
    array([[ 2.4, 0. ],
           [-2.4, 0. ]])
    >>> odds.probability.round(4)
    array([0.9167, 0.0833])
    >>> model.predict_proba(rows)[:, 0].round(4)
    array([0.9167, 0.0833])
    """

    names: tuple[str, ...]
    target: str
    classes: list[Label]
    terms: tuple[Term, ...]
    base: FloatArray
    contributions: FloatArray
    cells: AnyArray
    observed: BoolArray
    log_evidence: FloatArray

    def __len__(self) -> int:
        return len(self.base)

    @property
    def joint(self) -> FloatArray:
        """Log P(c, x), the sum of base and contributions; shape (n, k)."""
        return np.asarray(self.base + self.contributions.sum(axis=2))

    @property
    def posterior(self) -> FloatArray:
        """P(c | x); shape (n, k)."""
        joint = self.joint
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    def log_odds(self, positive: Label = None, by: str = "column") -> LogOdds:
        """Split the log-odds of a class against all others.

        Parameters
        ----------
        positive : class label, or list of one a row, default=None
            Whose odds; None: the last of two classes, of more each row's most probable one.
        by : {"column", "group", "term"}, default="column"
            A contribution for every column (a term of several is divided among those observed),
            for every group of columns that the model joins to one variable, or for every term.
        """
        if by not in _BY:
            raise ValueError(f"by={by!r}; it must be one of {', '.join(map(repr, _BY))}")
        chosen = self._chosen(positive)
        base, parts = split_odds(self.base, self.contributions, chosen)
        labels = [self.classes[label] for label in chosen]
        if by == "term":
            return LogOdds(labels, base, parts, tuple(map(self.name_of, self.terms)))
        groups = self.groups if by == "group" else tuple((i,) for i in range(len(self.names)))
        names = tuple(" + ".join(self.names[i] for i in group) for group in groups)
        return LogOdds(labels, base, self._gathered(parts, groups), names)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Columns that the model joins to one variable, all others by themselves."""
        joined = {term.columns for term in self.terms}
        if sum(map(len, joined)) > len({column for group in joined for column in group}):
            joined = set()  # they overlap, as A2DE's pairs do
        inside = {column for group in joined for column in group}
        alone = {(column,) for column in range(len(self.names)) if column not in inside}
        return tuple(sorted(joined | alone))

    def name_of(self, term: Term) -> str:
        """Name a term for people."""
        own = " + ".join(self.names[column] for column in term.columns)
        above = ", ".join(self.names[column] for column in term.through)
        return f"{own} through {above}" if above else own

    def _gathered(self, parts: FloatArray, groups: tuple[tuple[int, ...], ...]) -> FloatArray:
        """Sum of terms by groups of columns; a term of several is divided equally; (n, m)."""
        place = {column: at for at, group in enumerate(groups) for column in group}
        out = np.zeros((len(parts), len(groups)))
        for index, term in enumerate(self.terms):
            at = [place[column] for column in term.columns]
            if len(set(at)) == 1:
                out[:, at[0]] += parts[:, index]
                continue
            there = self.observed[:, list(term.columns)]
            share = there / np.maximum(there.sum(axis=1, keepdims=True), 1)
            for column, position in enumerate(at):
                part = np.where(share[:, column] > 0, parts[:, index] * share[:, column], 0.0)
                out[:, position] += part
        return out

    def _chosen(self, positive: Label) -> IntArray:
        """Place of the class whose odds are asked for, in every row; shape (n,)."""
        if positive is not None:
            labels = positive if isinstance(positive, list) else [positive] * len(self)
            strange = [label for label in labels if label not in self.classes]
            if strange or len(labels) != len(self):
                wrong = f"{strange[0]!r} is no class" if strange else f"{len(labels)} labels"
                raise ValueError(
                    f"positive: {wrong}; give one of {self.classes}, or one for each of the "
                    f"{len(self)} rows"
                )
            return np.array([self.classes.index(label) for label in labels])
        if len(self.classes) <= 2:
            return np.full(len(self), len(self.classes) - 1)
        return first_of_the_best(self.joint)

    def require_row(self, row: int) -> int:
        """Return the position of a row, or raise an error if there is none."""
        if not -len(self) <= row < len(self):
            raise ValueError(f"row={row}; there are {len(self)} rows")
        return row % len(self)

    def to_frame(self, positive: Label = None) -> pd.DataFrame:
        """Return the log-odds as a long pandas frame: a line for every row and term.

        Columns: ``row``, ``class`` (whose odds), ``columns``, ``through``, ``value`` (what the
        row has there) and ``contribution``; the prior's line comes first. Lines of a row sum to
        its log-odds.
        """
        import pandas as pd  # noqa: PLC0415 - optional

        odds = self.log_odds(positive, by="term")
        lines = []
        for row, label in enumerate(odds.positive):
            lines.append((row, label, "", "", "", float(odds.base[row])))
            for term, contribution in zip(self.terms, odds.contributions[row], strict=True):
                columns, through = (", ".join(self.names[c] for c in part) for part in term)
                value = ", ".join(self.cells[row, c] for c in term.columns)
                lines.append((row, label, columns, through, value, float(contribution)))
        names = ["row", "class", "columns", "through", "value", "contribution"]
        return pd.DataFrame(lines, columns=names)

    def text(self, row: int = 0, positive: Label = None, most: int = 12) -> str:
        """Explain one row in words: what speaks for a class, what against it, what is unknown.

        Parameters
        ----------
        row : int, default=0
        positive : class label, default=None
            As in :meth:`log_odds`.
        most : int, default=12
            Attributes to name; the weakest others are summed up.
        """
        from unnaive.explain.wording import in_words  # noqa: PLC0415 - it looks back at us

        return in_words(self, row, positive, most)

    def plot(self, row: int = 0, positive: Label = None, ax: Axes | None = None) -> Axes:
        """Draw one row's way from the prior to the answer; see :func:`plot_waterfall`."""
        from unnaive.explain.waterfall import plot_waterfall  # noqa: PLC0415 - optional matplotlib

        return plot_waterfall(self, row, positive=positive, ax=ax)


def _require_room(model: Classifier, frame: Frame) -> None:
    """Refuse rows whose terms would not fit in memory, by what the first row takes."""
    if frame.n_rows <= _FEW:
        return
    first = model.terms_of(frame.block(0, 1))
    needed, most = 8 * first.parts.size * frame.n_rows, getattr(model, "max_memory", 2**31)
    if needed > most:
        raise TableTooLarge(
            f"explaining {frame.n_rows:,} rows by {len(first.keys):,} terms each would take "
            f"{needed / 2**30:,.1f} GiB, and {most / 2**30:,.1f} are the most; explain fewer rows "
            "at a time"
        )


def explanation_of(model: Classifier, frame: Frame) -> Explanation:
    """Explain the rows of a frame that the model knows."""
    _require_room(model, frame)
    found = model.terms_of(frame)
    cells, observed = shown_cells(frame, model.schema_)
    evidence = found.log_evidence
    if evidence is None:
        evidence = np.logaddexp.reduce(found.joint, axis=1)
    return Explanation(
        model.schema_.names,
        model.schema_.target,
        model.classes_.tolist(),
        tuple(Term(*key) for key in found.keys),
        found.base,
        found.parts,
        cells,
        observed,
        evidence,
    )
