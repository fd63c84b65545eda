"""Strengths of arcs: how often a search finds an arc in rows that are drawn again.

References
----------
Friedman, Goldszmidt & Wyner, "Data analysis with Bayesian networks: a bootstrap approach", UAI
1999; Scutari & Nagarajan, "Identifying significant edges in graphical models of molecular
networks", Artificial Intelligence in Medicine 57, 2013.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _progress
from unnaive._axes import new_axes
from unnaive._dataclasses import dataclass
from unnaive._html import html_table
from unnaive.exceptions import UnnaiveError
from unnaive.models.bayesnet import BayesNet
from unnaive.schema.columns import code_type
from unnaive.structure.dag import DAG
from unnaive.tables.export import class_node

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows


@dataclass(frozen=True, eq=False, repr=False)
class ArcStrengths:
    """How often arcs were found in bootstrap samples.

    Attributes
    ----------
    names : tuple of str
        Features, and the class as the last.
    found : ndarray of shape (d + 1, d + 1)
        Share of the samples in which the arc [parent, child] was found. An arc whose direction
        the data do not determine counts half in either direction.
    n_samples : int
        Number of bootstrap samples.

    See Also
    --------
    arc_strengths : Makes them.
    """

    names: tuple[str, ...]
    found: FloatArray
    n_samples: int

    @property
    def strength(self) -> FloatArray:
        """Share of the samples in which two variables are joined; symmetric (d + 1, d + 1)."""
        return np.asarray(self.found + self.found.T)

    @property
    def threshold(self) -> float:
        """Strength above which edges are significant.

        Ideally edges are found always or never. The distribution of the strengths is compared
        with such an ideal one, by the area between the two, and the closest one separates the
        strengths (Scutari & Nagarajan 2013, section 2.3).
        """
        return significant_above(self.strength[np.triu_indices(len(self.names), 1)])

    def arcs(self, least: float = 0.0) -> list[tuple[str, str, float, float]]:
        """List edges by their strength.

        Parameters
        ----------
        least : float, default=0
            Only edges of a larger strength.

        Returns
        -------
        list of (parent, child, strength, direction)
            In the more frequent direction, and its share; the strongest edges first.
        """
        lines = []
        for i, j in zip(*np.triu_indices(len(self.names), 1), strict=True):
            total = float(self.found[i, j] + self.found[j, i])
            if total > least:
                parent, child = (i, j) if self.found[i, j] >= self.found[j, i] else (j, i)
                share = float(self.found[parent, child]) / total
                lines.append((self.names[parent], self.names[child], total, share))
        return sorted(lines, key=lambda line: (-line[2], -line[3]))

    def averaged(self, threshold: float | None = None) -> DAG:
        """Return the network of the edges that are stronger than a threshold.

        Arcs are added by decreasing strength, each in its more frequent direction; one that
        would close a cycle is reversed.

        Parameters
        ----------
        threshold : float, default=None
            None: :attr:`threshold`.

        Returns
        -------
        DAG
            The averaged network, for ``BayesNet(structure=…)``.
        """
        dag = DAG.empty(self.names)
        for parent, child, *_ in self.arcs(self.threshold if threshold is None else threshold):
            closes = dag.names.index(child) in dag.ancestors(parent)
            dag = dag.with_edge(*((child, parent) if closes else (parent, child)))
        return dag

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the distribution of the strengths, and the threshold: how stable the network is.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None: a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            Axes with the drawing. Of a stable network the line is flat between 0 and 1.
        """
        ax = new_axes(ax)
        strengths = np.sort(self.strength[np.triu_indices(len(self.names), 1)])
        share = np.arange(len(strengths) + 1) / max(1, len(strengths))
        ax.step([0.0, *strengths, 1.0], [*share, 1.0], where="post", label="pairs of variables")
        threshold = self.threshold
        ax.axvline(threshold, linestyle="--", color="0.4", label=f"threshold {threshold:.2f}")
        ax.set(xlabel="strength", ylabel="share of pairs", xlim=(0, 1), ylim=(0, 1.02))
        ax.legend(loc="lower right")
        return ax

    def __repr__(self) -> str:
        """Name the size."""
        above = len(self.arcs(self.threshold))
        return f"ArcStrengths({self.n_samples} samples, {above} arcs above {self.threshold:.2f})"

    def _repr_html_(self) -> str:
        """Table of the arcs for a notebook."""
        lines = [(a, b, f"{s:.2f}", f"{share:.2f}") for a, b, s, share in self.arcs()]
        return html_table(repr(self), ["parent", "child", "strength", "direction"], lines)


def significant_above(strengths: FloatArray) -> float:
    r"""Find the strength that separates edges best.

    .. math:: \hat{t} = \arg\min_t \int_0^1 |F(x) - t|\, dx

    where F is the distribution of the strengths; the threshold is the t-quantile of F.

    Examples
    --------
    >>> significant_above(np.array([0.0, 0.02, 0.05, 0.95, 1.0]))
    0.05
    """
    ordered = np.sort(strengths)
    if not len(ordered):
        return 0.0
    widths = np.diff([*ordered, 1.0])  # of the intervals on which F is constant
    levels = np.arange(1, len(ordered) + 1) / len(ordered)
    inside = np.cumsum(np.insert(widths, 0, ordered[0]))
    levels = np.insert(levels, 0, 0.0)
    level = levels[np.searchsorted(inside, 0.5 * inside[-1])]  # the weighted median
    return float(ordered[max(0, int(np.ceil(level * len(ordered))) - 1)]) if level > 0 else 0.0


def require_search(model: object) -> None:
    """Raise an error unless the model is a Bayesian network whose arcs are not given."""
    if not isinstance(model, BayesNet):
        raise TypeError(f"model={model!r}; it must be a BayesNet(…)")
    if model.structure is not None:
        raise UnnaiveError("structure is given, so no arc is uncertain; set structure=None")


def arc_strengths(
    model: BayesNet,
    X: object,
    y: object,
    *,
    n_samples: int = 100,
    random_state: int | np.random.Generator | None = 0,
) -> ArcStrengths:
    """Search networks in bootstrap samples, and count how often arcs are found.

    Rows are coded once, and equal rows are one row with a count. A bootstrap sample is a new set
    of counts, so rows are never copied.

    Parameters
    ----------
    model : BayesNet
        The search and its settings; it is not fitted.
    X : array or table of shape (n, d)
        Features.
    y : array of shape (n,)
        Class labels.
    n_samples : int, default=100
        Number of bootstrap samples.
    random_state : int, Generator or None, default=0
        Random seed.

    Returns
    -------
    ArcStrengths
        Strengths and directions of all arcs, a threshold, and the averaged network.

    Examples
    --------
    >>> from unnaive import BayesNet
    >>> random = np.random.default_rng(0)
    >>> rain, sprinkler = random.random((2, 300)) < [[0.3], [0.4]]
    >>> wet = (rain | sprinkler) ^ (random.random(300) < 0.05)
    >>> X = np.column_stack([rain, sprinkler])
    >>> strengths = arc_strengths(BayesNet(augmented=False), X, wet, n_samples=20)
    >>> strengths.averaged().edges
    [('x0', 'y'), ('x1', 'y')]
    """
    if n_samples < 1:
        raise ValueError(f"n_samples={n_samples}; at least one is needed")
    require_search(model)
    model._check()
    rows, _ = model.coded(model._given(X, y, None, first=True))
    rows, counts = _distinct(rows)
    random = np.random.default_rng(random_state)
    names = (*rows.schema.names, class_node(rows.schema))
    found = np.zeros((len(names), len(names)))
    number = int(counts.sum())
    for sample in range(n_samples):
        drawn = random.multinomial(number, counts / number)
        chosen = _chosen(rows, drawn)
        learned = model.recipe().learn(chosen.select(np.empty((0, 2), dtype=np.int64)), chosen)
        if learned is None:
            raise UnnaiveError("the search found no network")
        pattern = DAG(names, learned.structure.parents).cpdag()  # type: ignore[union-attr]
        for i, j in pattern.directed:
            found[i, j] += 1.0
        for i, j in pattern.undirected:
            found[i, j] += 0.5
            found[j, i] += 0.5
        _progress.tell("bootstrap", sample + 1, n_samples)
    return ArcStrengths(names, found / n_samples, n_samples)


def _distinct(rows: CodedRows) -> tuple[CodedRows, FloatArray]:
    """Return the distinct rows, and how many there are of each."""
    narrow = code_type(max(int(rows.schema.sizes.max(initial=0)), len(rows.schema.classes)))
    lines = np.concatenate([rows.codes.astype(narrow), rows.classes.astype(narrow)[None]])
    unique, counts = np.unique(lines, axis=1, return_counts=True)
    codes = np.ascontiguousarray(unique[:-1]).astype(rows.codes.dtype)
    classes = unique[-1].astype(rows.classes.dtype)
    return replace(rows, codes=codes, classes=classes), counts.astype(np.float64)


def _chosen(rows: CodedRows, drawn: IntArray) -> CodedRows:
    """Return the rows that were drawn, with their numbers as weights."""
    some = drawn > 0
    codes = np.ascontiguousarray(rows.codes[:, some])
    return replace(rows, codes=codes, classes=rows.classes[some], weights=drawn[some].astype(float))
