r"""Risk and coverage: how the errors fall if a classifier may abstain where it is least sure.

.. math:: \mathrm{risk}(q) = \frac{\text{errors among the surest } q\,n \text{ samples}}{q\,n}

The area under the curve is the mean risk over all coverages; a smaller area is better, and errors
that are the least sure of all give the smallest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._axes import new_axes
from unnaive._dataclasses import dataclass
from unnaive._html import html_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from unnaive._typing import FloatArray

_SHOWN = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """A risk-coverage curve.

    Parameters
    ----------
    coverage : ndarray of shape (n,)
        Shares 1/n, 2/n, …, 1 of the samples, the surest first.
    risk : ndarray of shape (n,)
        Share of errors among them.
    confidence : ndarray of shape (n,)
        Confidence of the last sample that is answered.

    See Also
    --------
    risk_coverage : Compute the curve.

    Examples
    --------
    >>> from unnaive.evaluate import risk_coverage
    >>> risk_coverage([0, 1], [[0.9, 0.1], [0.2, 0.8]], [0, 1])
    RiskCoverage(2 samples, area=0): risk 0 at 50%, 0 at 80%, 0 at 100%
    """

    coverage: FloatArray
    risk: FloatArray
    confidence: FloatArray

    @property
    def area(self) -> float:
        """Mean risk over all coverages; smaller is better."""
        return float(self.risk.mean())

    def at(self, coverage: float) -> float:
        """Return the risk at a coverage.

        Parameters
        ----------
        coverage : float
            Share of the samples that are answered, above 0.

        Returns
        -------
        float
            Share of errors among the surest samples.
        """
        if not 0 < coverage <= 1:
            raise ValueError(f"coverage={coverage!r}; it must be above 0 and at most 1")
        return float(self.risk[max(int(np.ceil(coverage * len(self.risk) - 1e-9)) - 1, 0)])

    def table(self) -> list[tuple[float, float]]:
        """Return coverage and risk at a few coverages.

        Returns
        -------
        list of tuples
            Coverage and risk.
        """
        return [(coverage, self.at(coverage)) for coverage in _SHOWN]

    def plot(self, ax: Any = None, label: str | None = None) -> Any:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: new axes.
        label : str, default=None
            Name of the curve; its area is added.

        Returns
        -------
        matplotlib axes
            The axes.
        """
        ax = new_axes(ax)
        area = f"area {self.area:.3g}"
        ax.plot(self.coverage, self.risk, label=area if label is None else f"{label}, {area}")
        ax.set(xlabel="share of samples answered", ylabel="share of errors among them", xlim=(0, 1))
        ax.set_ylim(bottom=0)
        ax.legend()
        return ax

    def __repr__(self) -> str:
        shown = ", ".join(f"{risk:.3g} at {coverage:.0%}" for coverage, risk in self.table()[::3])
        return f"RiskCoverage({len(self.risk)} samples, area={self.area:.4g}): risk {shown}"

    def _repr_html_(self) -> str:
        rows = [(f"{coverage:.0%}", risk) for coverage, risk in self.table()]
        return html_table(f"risk and coverage, area {self.area:.4g}", ["coverage", "risk"], rows)


def risk_coverage(
    y: ArrayLike, chances: ArrayLike, classes: ArrayLike, confidence: ArrayLike | None = None
) -> RiskCoverage:
    """Compute the risk-coverage curve of predictions.

    Parameters
    ----------
    y : array of shape (n,)
        True class labels.
    chances : array of shape (n, k)
        Predicted probabilities, best of samples that were held out.
    classes : array of shape (k,)
        Class labels, in the order of ``chances``.
    confidence : array of shape (n,), default=None
        How sure each prediction is, such as the lower end of its interval; None: the largest
        probability. Samples of equal confidence share their errors.

    Returns
    -------
    RiskCoverage
        The curve, its area, a plot and a table.

    See Also
    --------
    measure : Accuracy, log loss and other metrics without abstention.

    References
    ----------
    El-Yaniv & Wiener, "On the foundations of noise-free selective classification", JMLR 11, 2010.

    Examples
    --------
    >>> from unnaive.evaluate import risk_coverage
    >>> curve = risk_coverage([0, 1, 1, 0], [[.9, .1], [.2, .8], [.6, .4], [.7, .3]], [0, 1])
    >>> curve.area, curve.at(0.75)
    (0.0625, 0.0)
    """
    probabilities = np.asarray(chances, dtype=np.float64)
    labels, truth = np.asarray(classes), np.asarray(y)
    if probabilities.shape != (len(truth), len(labels)) or not len(truth):
        raise ValueError(
            f"chances has the shape {probabilities.shape}; it must have a line for each of the "
            f"{len(truth)} samples and a column for each of the {len(labels)} classes"
        )
    wrong = (labels[probabilities.argmax(axis=1)] != truth).astype(np.float64)
    sure = probabilities.max(axis=1) if confidence is None else np.asarray(confidence, dtype=float)
    order = np.argsort(-sure, kind="stable")
    ordered, wrong = sure[order], wrong[order]
    _, tie = np.unique(-ordered, return_inverse=True)
    shared = (np.bincount(tie, wrong) / np.bincount(tie))[tie]
    number = np.arange(1, len(truth) + 1)
    return RiskCoverage(number / len(truth), np.cumsum(shared) / number, ordered)
