"""Explanations of predictions: what each feature of a sample adds to the log-odds of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logsumexp

from unnaive._dataclasses import dataclass
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.explain.cells import shown_cells
from unnaive.explain.odds import LogOdds, split_odds
from unnaive.explain.wording import explanation_html, in_words, plural
from unnaive.models.classifier import first_of_the_best
from unnaive.schema.columns import MISSING_VALUES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray, Label
    from unnaive.explain.certainty import Certainty
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier

_FEW = 256  # rows that are explained without checking how much memory they take
_BY = ("column", "group", "term")


class Source(NamedTuple):
    """The model and the samples of an explanation."""

    model: Classifier
    frame: Frame


class Term(NamedTuple):
    """A part of an explanation: the features that it belongs to, by their positions.

    Parameters
    ----------
    columns : tuple of int
        Features that the term belongs to; several where the model joins them to one variable.
    through : tuple of int, default=()
        Features that these depend on, such as the parents in a tree.

    See Also
    --------
    Explanation : Has the terms of a model and their contributions.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> model = NaiveBayes().fit([["a", "u"], ["b", "v"]], [0, 1])
    >>> model.explain([["a", "u"]]).terms
    (Term(columns=(0,), through=()), Term(columns=(1,), through=()))
    """

    columns: tuple[int, ...]
    through: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    r"""What each feature of each sample contributes to each class; ``model.explain(X)`` returns it.

    .. math:: \log P(c, x) = b_c + \sum_t a_{ct}

    holds exactly for every model. Where a model is a product, a term is
    :math:`\log P(x_i \mid \text{parents}, c)`. Where it is an average (AODE, ATAN), the logarithm
    of the average is split by the logarithmic-mean Divisia index, which leaves no residual. Where
    a feature has a hidden parent (HNB), its term is divided among the members of the mixture.
    Where a parent is missing, a feature contributes what the chain rule gives. A missing value
    contributes 0. If every class gives a sample probability 0, its base is the prior and its
    contributions are 0.

    Parameters
    ----------
    names : tuple of str
        Names of the features.
    target : str
        Name of the target.
    classes : list
        Class labels.
    terms : tuple of Term
        Features of every term, and the features that these depend on.
    base : ndarray of shape (n, k)
        The model's log prior, log P(c).
    contributions : ndarray of shape (n, k, t)
        What every term adds to log P(c, x), in nats.
    cells : ndarray of str, shape (n, d)
        The value of every feature as text, ``"missing"`` where there is none.
    observed : ndarray of bool, shape (n, d)
        Which values the model uses; unseen categories count as missing.
    log_evidence : ndarray of shape (n,)
        The model's log P(x), −inf where every class gives the sample probability 0.
    source : Source, default=None
        The model and the samples, for :meth:`certainty`.

    See Also
    --------
    LogOdds : The log-odds of one class as a sum over features.
    plot_waterfall : Draw the explanation of one sample.
    what_if : Find the smallest change that changes the decision.
    ask_next : Rank the missing features by their expected information.

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
    >>> explanation = model.explain(rows)
    >>> odds = explanation.log_odds(positive="ill")
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
    source: Source | None = None

    def __len__(self) -> int:
        return len(self.base)

    def __repr__(self) -> str:
        rows, columns = plural(len(self), "row"), plural(len(self.names), "column")
        return f"Explanation({rows}, {columns}, {self.target} in {self.classes})"

    def _repr_html_(self) -> str:
        """Show the contributions of the first rows as tables."""
        return explanation_html(self)

    @property
    def joint(self) -> FloatArray:
        """Log P(c, x): the sum of base and contributions; shape (n, k)."""
        return np.asarray(self.base + self.contributions.sum(axis=2))

    @property
    def posterior(self) -> FloatArray:
        """Posterior probabilities P(c | x); shape (n, k)."""
        joint = self.joint
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    def log_odds(self, positive: Label = None, by: str = "column") -> LogOdds:
        """Split the log-odds of a class against all other classes.

        Parameters
        ----------
        positive : class label, or list with one for each sample, default=None
            The class whose odds are split; None: the last of two classes, or, of more than two,
            the most probable class of each sample.
        by : {"column", "group", "term"}, default="column"
            One contribution for every feature (a term of several features is divided among those
            observed), for every group of features that the model joins to one variable, or for
            every term.

        Returns
        -------
        LogOdds
            Base and contributions, which add up to the log-odds that the model predicts.
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
        """Features that the model joins to one variable; every other feature by itself."""
        joined = {term.columns for term in self.terms}
        if sum(map(len, joined)) > len({column for group in joined for column in group}):
            joined = set()  # they overlap, as A2DE's pairs do
        inside = {column for group in joined for column in group}
        alone = {(column,) for column in range(len(self.names)) if column not in inside}
        return tuple(sorted(joined | alone))

    def name_of(self, term: Term) -> str:
        """Return the name of a term.

        Parameters
        ----------
        term : Term
            One of ``terms``.

        Returns
        -------
        str
            Names of its features, and of the features that these depend on.
        """
        name = " + ".join(self.names[column] for column in term.columns)
        parents = ", ".join(self.names[column] for column in term.through)
        return f"{name} through {parents}" if parents else name

    def cell(self, row: int, column: int) -> str:
        """Return the name and the value of a feature.

        Parameters
        ----------
        row : int
            Position of the sample.
        column : int
            Position of the feature.

        Returns
        -------
        str
            Such as ``"age = 70 (> 52.5)"``, or ``"age missing"``.
        """
        name, cell = self.names[column], self.cells[row, column]
        return f"{name} {cell}" if cell == MISSING_VALUES else f"{name} = {cell}"

    def _gathered(self, parts: FloatArray, groups: tuple[tuple[int, ...], ...]) -> FloatArray:
        """Sum of terms by groups of columns; a term of several is divided equally; (n, m)."""
        group_of = {column: place for place, group in enumerate(groups) for column in group}
        sums = np.zeros((len(parts), len(groups)))
        for index, term in enumerate(self.terms):
            places = [group_of[column] for column in term.columns]
            if len(set(places)) == 1:
                sums[:, places[0]] += parts[:, index]
                continue
            there = self.observed[:, list(term.columns)]
            shares = there / np.maximum(there.sum(axis=1, keepdims=True), 1)
            for place, share in zip(places, shares.T, strict=True):
                sums[:, place] += np.where(share > 0, parts[:, index] * share, 0.0)
        return sums

    def _chosen(self, positive: Label) -> IntArray:
        """Position of the class whose odds are split, of every row; shape (n,)."""
        if positive is None:
            last = len(self.classes) - 1
            return np.full(len(self), last) if last <= 1 else first_of_the_best(self.joint)
        labels = positive if isinstance(positive, list) else [positive] * len(self)
        unknown = [label for label in labels if label not in self.classes]
        if unknown or len(labels) != len(self):
            wrong = f"{unknown[0]!r} is not a class" if unknown else f"{len(labels)} labels"
            raise ValueError(
                f"positive: {wrong}; pass one of {self.classes}, or one for each of the "
                f"{len(self)} rows"
            )
        return np.array([self.classes.index(label) for label in labels])

    def require_row(self, row: int) -> int:
        """Return the position of a sample, counted from the first one.

        Parameters
        ----------
        row : int
            Position; negative numbers count from the end.

        Returns
        -------
        int
            Position from 0 on; a ValueError is raised if there is no such sample.
        """
        if not -len(self) <= row < len(self):
            raise ValueError(f"row={row}; there are {len(self)} rows, from 0 to {len(self) - 1}")
        return row % len(self)

    def to_frame(self, positive: Label = None) -> pd.DataFrame:
        """Return the log-odds as a long pandas data frame: a line for every sample and term.

        Parameters
        ----------
        positive : class label, default=None
            As in :meth:`log_odds`.

        Returns
        -------
        pandas.DataFrame
            With the columns ``row``, ``class`` (the class whose odds are split), ``columns``,
            ``through``, ``value`` and ``contribution``. The first line of a sample is the prior;
            the lines of a sample add up to its log-odds.
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
        """Explain one sample in words.

        Parameters
        ----------
        row : int, default=0
            Position of the sample.
        positive : class label, default=None
            As in :meth:`log_odds`.
        most : int, default=12
            Largest number of features to list; the weaker ones are summed up.

        Returns
        -------
        str
            The probability, and the features for the class, against it and without effect.
        """
        return in_words(self, row, positive, most)

    def certainty(self, level: float = 0.9) -> Certainty:
        """Return intervals, and the training samples behind every term.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Certainty
            ``intervals``, ``rows`` and ``variances``. Models that are not a product of one entry
            of each table raise an error; ``predict_interval`` gives their intervals.
        """
        from unnaive.explain.certainty import certainty_of  # noqa: PLC0415 - loads when asked

        if self.source is None:
            raise UnnaiveError("this explanation was made without its model; use model.explain(X)")
        return certainty_of(*self.source, level)

    def how_sure(self, row: int = 0, positive: Label = None, level: float = 0.9) -> str:
        """Say how sure a prediction is, and which term has the fewest samples behind it.

        Parameters
        ----------
        row : int, default=0
            Position of the sample.
        positive : class label, default=None
            As in :meth:`log_odds`.
        level : float, default=0.9
            Probability of the interval.

        Returns
        -------
        str
            Probability, interval, and the term that makes it widest.

        Examples
        --------
        >>> from unnaive import NaiveBayes
        >>> X = [["yes", "high"], ["yes", "low"], ["no", "high"], ["no", "low"]] * 5
        >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"] * 5)
        >>> model.explain([["yes", "low"]]).how_sure(positive="ill")
        '91.7 % (74-99.6 %), mostly because no row of y = well had x0 = yes'
        """
        from unnaive.explain.certainty import sure_in_words  # noqa: PLC0415 - loads when asked

        return sure_in_words(self, self.certainty(level), row, positive)

    def plot(self, row: int = 0, positive: Label = None, ax: Axes | None = None) -> Axes:
        """Draw one sample's log-odds from the prior to the prediction, feature by feature.

        Parameters
        ----------
        row : int, default=0
            Position of the sample.
        positive : class label, default=None
            As in :meth:`log_odds`.
        ax : matplotlib axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes; see :func:`plot_waterfall`.
        """
        from unnaive.explain.waterfall import plot_waterfall  # noqa: PLC0415 - optional matplotlib

        return plot_waterfall(self, row, positive=positive, ax=ax)


def explanation_of(model: Classifier, frame: Frame) -> Explanation:
    """Explain the rows of a frame that has the model's columns."""
    _require_memory(model, frame)
    terms = model.terms_of(frame)
    evidence = terms.log_evidence
    return Explanation(
        model.schema_.names,
        model.schema_.target,
        model.classes_.tolist(),
        tuple(Term(*key) for key in terms.keys),
        terms.base,
        terms.parts,
        *shown_cells(frame, model.schema_),
        np.logaddexp.reduce(terms.joint, axis=1) if evidence is None else evidence,
        Source(model, frame),
    )


def _require_memory(model: Classifier, frame: Frame) -> None:
    """Refuse rows whose terms would not fit in memory, by what the first row takes."""
    if frame.n_rows <= _FEW:
        return
    first = model.terms_of(frame.block(0, 1))
    needed, most = 8 * first.parts.size * frame.n_rows, getattr(model, "max_memory", 2**31)
    if needed > most:
        raise TableTooLarge(
            f"explaining {frame.n_rows:,} rows by {len(first.keys):,} terms each would take "
            f"{needed / 2**30:,.1f} GiB; the limit is {most / 2**30:,.1f} GiB; explain fewer rows "
            "at a time"
        )
