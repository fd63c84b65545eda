"""Pictures of what models learned; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from unnaive.models import PHNB


def plot_threshold_path(model: PHNB, ax: Any = None) -> Any:
    """Draw leave-one-out accuracy and log loss of packaged hidden naive Bayes over thresholds.

    Parameters
    ----------
    model : PHNB
        Fitted with ``threshold="loo"``.
    ax : matplotlib axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from unnaive import PHNB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = PHNB(threshold="loo").fit(data.X[:, :8], data.y)
    >>> plot_threshold_path(model).get_xlabel()
    'columns heard, over all bags'
    """
    path = getattr(model, "threshold_path_", None)
    if path is None:
        raise UnnaiveError(
            'there is no path to draw; fit the model with threshold="loo", which tries them all'
        )
    if ax is None:
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional, see the extra "plot"

        ax = Figure(layout="constrained").subplots()
    ax.plot(path["members"], path["log_loss"], color="C0", label="log loss")
    ax.axvline(int(model.structure_.members.sum()), color="0.6", linestyle=":", label="chosen")
    ax.set_xlabel("columns heard, over all bags")
    ax.set_ylabel("leave-one-out log loss")
    other = ax.twinx()
    other.plot(path["members"], path["accuracy"], color="C1", label="accuracy")
    other.set_ylabel("leave-one-out accuracy")
    ax.legend(handles=[*ax.get_lines(), *other.get_lines()], loc="center right")
    ax.set_title(f"threshold {model.structure_.threshold:.4g} bits")
    return ax
