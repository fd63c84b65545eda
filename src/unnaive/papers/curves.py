"""Pictures of the papers' figures, from the curves of a reproduction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive._axes import new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from unnaive._typing import State

SCORES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc_hard": "AUC of labels",
}
_RULES = {"text": "zeros as in the text", "inferred": "every zero substituted (inferred)"}


def draw_curve(curve: State) -> Figure:
    """Draw an entry of ``curves`` of a reproduction, in the way that suits its paper.

    Parameters
    ----------
    curve : dict
        The entry; with ``panels`` one of the GNB paper, with ``balances`` one of the thesis.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.
    """
    return draw_score_paths(curve) if "panels" in curve else draw_balances(curve)


def draw_balances(curve: State) -> Figure:
    """Draw the first chart of section 3.2 of Barrow's thesis: scores over the balance.

    Parameters
    ----------
    curve : dict
        An entry of ``curves`` of the reproduction of the thesis.

    Returns
    -------
    matplotlib.figure.Figure
        The picture: means over runs, with bars of one standard deviation.

    Examples
    --------
    >>> curve = {"balances": [-1, 0], "means": {"nb": [0.7, 0.8]}, "deviations": {"nb": [0, 0.1]}}
    >>> figure = draw_balances(curve | {"title": "simulated"})
    >>> figure.axes[0].get_xlabel()
    'balance b of the dependences'
    """
    ax = new_axes(figsize=(6.4, 3.6))
    balances = curve["balances"]
    step = 0.012 * (max(balances) - min(balances))
    middle = (len(curve["means"]) - 1) / 2
    for place, (model, means) in enumerate(curve["means"].items()):
        beside = [balance + step * (place - middle) for balance in balances]
        spread = curve["deviations"][model]
        ax.errorbar(beside, means, yerr=spread, label=model, marker=".", capsize=2, linewidth=1)
    ax.set_xlabel("balance b of the dependences")
    ax.set_ylabel("accuracy")
    ax.set_title(curve["title"], fontsize=10)
    ax.grid(alpha=0.3)
    picture: Figure = ax.figure
    picture.legend(loc="outside lower center", ncols=4, fontsize=8)
    return picture


def draw_score_paths(curve: State) -> Figure:
    """Draw figure 7, 8, 9, 10 or 11 of the GNB paper: scores over the number of triplets.

    The left column has GNB-A, the paper's part (a), the right one GNB-O, part (b). The first row
    follows the text, the second the reading that the paper's tables suggest.

    Parameters
    ----------
    curve : dict
        An entry of ``curves`` of the reproduction of the paper.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Examples
    --------
    >>> path = {"triplets": [1, 2], **{score: [0.8, 0.9] for score in SCORES}}
    >>> rules = {"text": path, "inferred": path}
    >>> figure = draw_score_paths({"data": "Wdbc", "panels": {"GNB-A": rules, "GNB-O": rules}})
    >>> len(figure.axes)
    4
    """
    picture: Figure = new_axes(figsize=(9, 6.4)).figure
    picture.clear()
    grid = picture.subplots(2, 2, sharex=True, sharey=True, squeeze=False)
    for column, (model, rules) in enumerate(curve["panels"].items()):
        for row, (rule, path) in enumerate(rules.items()):
            ax = grid[row][column]
            for score, label in SCORES.items():
                ax.plot(path["triplets"], path[score], label=label, marker=".", markersize=4)
            ax.set_title(f"{model}, {_RULES[rule]}", fontsize=10)
            ax.grid(alpha=0.3)
            ax.xaxis.get_major_locator().set_params(integer=True)
    for column in range(2):
        grid[1][column].set_xlabel("number of triplets")
        grid[column][0].set_ylabel("score of the test rows")
    picture.suptitle(f"{curve['data']}: mean of five runs")
    picture.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return picture
