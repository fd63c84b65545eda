"""``unnaive models``: list the models, or cite their papers."""

from typing import TYPE_CHECKING, Annotated

import typer

import unnaive
from unnaive.cli import options
from unnaive.cli.options import flag, option
from unnaive.cli.terminal import print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import State
    from unnaive.models import Classifier

_VARIANTS = {  # what sets keys of the same class apart
    "aode-sr": "AODE that also drops a column whose value is implied by another (subsumption).",
    "tan-multinet": "TAN with a separate tree for every class.",
    "gnb-a": "Tree grown greedily from the most informative pair of columns.",
    "gnb-o": "Like gnb-a, but the tree of most information, found exactly.",
    "fssj": "Joins columns by forward search: starts with none, adds or joins one at a time.",
    "bsej": "Joins columns by backward search: starts with all, removes or joins one at a time.",
    "pazzani-eda": "Joins columns by an evolutionary search (EDA); slower, escapes local optima.",
    "apnbc": "Naive Bayes with one weight for each class, found by hill climbing.",
    "apnbc-eda": "Like apnbc, with the weights found by an evolutionary search (EDA).",
    "wanbia": "Naive Bayes with a weight for each column, fitted for prediction.",
    "weighted-tan": "TAN with a weight for each column and each edge, fitted for prediction.",
    "weighted-pairs": "Weights for each column and for the most informative pairs of columns.",
}


def models(
    models: Annotated[
        list[str] | None, option("--model --models -m", "KEYS", "Only these models.")
    ] = None,
    cite: Annotated[bool, flag("--cite", "Print the papers as BibTeX.")] = False,
    json: options.AsJson = False,
) -> None:
    """List the models with their descriptions and references.

    Models of a family make similar assumptions; the description says what sets them apart.

    Examples
    --------
    unnaive models
    unnaive models -m tan,aode --cite
    """
    every = unnaive.all_models()
    keys = options.chosen_models(models, list(every))
    for key in keys:
        options.build(key, {})  # raises for an unknown key
    described = [_describe(key, every[key]) for key in keys]
    if cite:
        _cite(described)
    elif json:
        print_json(described)
    else:
        _show(described)


def _describe(key: str, factory: "Callable[[], Classifier]") -> "State":
    """Return a model's class, family, summary and references."""
    from unnaive.models.docstrings import references_of, summary_of  # noqa: PLC0415 - see app.py

    kind = type(factory())
    settings = ", ".join(f"{k}={v!r}" for k, v in getattr(factory, "keywords", {}).items())
    return {
        "key": key,
        "class": f"{kind.__name__}({settings})" if settings else kind.__name__,
        "family": kind.family,
        "summary": _VARIANTS.get(key) or summary_of(kind),
        "references": references_of(kind),
    }


def _show(described: "list[State]") -> None:
    """Print the models by family."""
    from unnaive.models.citations import Citation  # noqa: PLC0415 - see app.py

    families: dict[str, list[State]] = {}
    for model in described:
        families.setdefault(model["family"], []).append(model)
    lines = []
    for family, members in families.items():
        for number, model in enumerate(members):
            short = "\n".join(Citation.parse(text).short for text in model["references"])
            name = model["class"].replace("(", "\n(")
            lines.append(["" if number else family, model["key"], name, model["summary"], short])
    print_table(["family", "key", "class", "description", "reference"], lines, left=5)


def _cite(described: "list[State]") -> None:
    """Print the references as BibTeX, each once."""
    from unnaive.models.citations import Citation  # noqa: PLC0415 - see app.py

    citations = [Citation.parse(text) for model in described for text in model["references"]]
    typer.echo("\n\n".join({one.key: one.bibtex() for one in citations}.values()))
