"""Options that commands share, and the models they describe."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unnaive.models import Classifier

Data = Annotated[Path, typer.Argument(metavar="DATA", help="Rows: .csv, .tsv, .parquet or .arff.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model that unnaive fit saved.")]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="Column that holds the class.")
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="COLUMN", help="Column to leave out, an id; repeatable."),
]
Weight = Annotated[
    str | None, typer.Option("--weight", metavar="COLUMN", help="Column with weights of rows.")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="Column whose numbers are categories; repeatable. Without it: columns of whole "
        "numbers with at most ten distinct values.",
    ),
]
Discretize = Annotated[
    str | None,
    typer.Option(
        "--discretize",
        metavar="HOW",
        help="How numbers are cut into bins: mdlp (the default), auto (as finely as serves "
        "prediction), quantile, width, frequency, or none: every number is a category.",
    ),
]
Bins = Annotated[
    int | None,
    typer.Option("--bins", metavar="N", min=1, help="Bins of quantile, width and frequency."),
]
Smoothing = Annotated[
    str | None,
    typer.Option(
        "--smoothing",
        metavar="HOW",
        help="laplace, m-estimate, bdeu, backoff, hierarchical or ml, with a strength if you "
        "like: laplace:0.5.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other parameter of the model, value in JSON or as it stands: --set forest=true; "
        "repeatable.",
    ),
]
Jobs = Annotated[
    int,
    typer.Option("--n-jobs", metavar="N", help="Threads; -1: every core. The result is the same."),
]
TimedJobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "--n-jobs",
        metavar="N",
        help="Threads; -1: every core. The result is the same but for the times.",
    ),
]
Folds = Annotated[int, typer.Option("--folds", metavar="N", min=2, help="Folds of a repeat.")]
Repeats = Annotated[int, typer.Option("--repeats", metavar="N", min=1, help="Times to deal anew.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the folds.")]
LeaveOneOut = Annotated[
    bool,
    typer.Option(
        "--leave-one-out",
        help="Instead of folds: every row by the model without it, in closed form. Structure "
        "and bins stay those of all rows.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


class Binning(TypedDict, total=False):
    """How columns become categories and bins, as far as it was said."""

    discretize: str | None
    bins: int
    categorical_features: list[str]


def binning(discretize: str | None, bins: int | None, categorical: list[str] | None) -> Binning:
    """Return how columns become categories and bins, as far as it was said."""
    given = Binning()
    if discretize is not None:
        given["discretize"] = None if discretize == "none" else discretize
    if bins is not None:
        given["bins"] = bins
    if categorical:
        given["categorical_features"] = categorical
    return given


def parameters(
    discretize: str | None,
    bins: int | None,
    smoothing: str | None,
    categorical: list[str] | None,
    settings: list[str] | None,
) -> dict[str, object]:
    """Return the parameters of a model that were given."""
    given: dict[str, object] = {**binning(discretize, bins, categorical)}
    if smoothing is not None:
        given["smoothing"] = smoothing
    for setting in settings or []:
        name, equals, text = setting.partition("=")
        if not equals:
            raise typer.BadParameter(f"{setting!r} should read NAME=VALUE", param_hint="--set")
        given[name.strip()] = _value(text)
    return given


def build(key: str, given: dict[str, object]) -> "Classifier":
    """Make a model; a parameter that it does not have is named."""
    from unnaive.models import make, model_keys  # noqa: PLC0415 - see app.py

    keys = model_keys()
    close = get_close_matches(key.lower(), keys, n=1)
    if key not in keys and close:
        raise ValueError(
            f"there is no model {key!r}; did you mean {close[0]!r}? unnaive models lists them all"
        )
    model = make(key)
    known = model.get_params(deep=False)
    for name in given:
        if name not in known:
            cure = "; to set it, name a model, as in --model tan" if key == "auto" else ""
            raise ValueError(
                f"model {key!r} has no parameter {name!r}; it has {', '.join(sorted(known))}{cure}"
            )
    model.set_params(**given)
    return model


@contextmanager
def checked(given: "Mapping[str, object]") -> Iterator[None]:
    """Blame a type that does not fit on the parameters, if there were any."""
    try:
        yield
    except TypeError as error:
        if not given:
            raise
        named = ", ".join(f"{name}={value!r}" for name, value in given.items())
        raise ValueError(f"{error}; check {named}") from error


def _value(text: str) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return value
