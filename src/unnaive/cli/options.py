"""Options that several commands share, and the models built from them.

A dataclass of options stands for them in the signature of a command: :func:`expand` replaces it
by its fields, one option each, and passes the command one object.
"""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, get_type_hints

import typer

from unnaive._dataclasses import dataclass
from unnaive.models import make, model_keys

if TYPE_CHECKING:
    from unnaive.io.reading import Reading
    from unnaive.models import Classifier


def option(flags: str, metavar: str, text: str, **more: Any) -> Any:
    """Return an option with a value; ``flags`` are separated by spaces, ``text`` is its help."""
    return typer.Option(*flags.split(), metavar=metavar, help=text, **more)


def flag(flags: str, text: str) -> Any:
    """Return an option without a value."""
    return typer.Option(*flags.split(), help=text)


FORMATS = ".csv, .tsv, .xlsx, .jsonl, .parquet or .arff"


def complete_model(incomplete: str) -> list[str]:
    """Return the keys that begin with a text.

    >>> complete_model("aode")
    ['aode', 'aode-sr']
    """
    return [key for key in model_keys() if key.startswith(incomplete)]


def complete_models(incomplete: str) -> list[str]:
    """Complete the last of several keys separated by commas, or the word all.

    >>> complete_models("nb,tan-")
    ['nb,tan-multinet']
    """
    before, comma, last = incomplete.rpartition(",")
    keys = [f"{before}{comma}{key}" for key in complete_model(last)]
    return ["all", *keys] if "all".startswith(incomplete) else keys


Data = Annotated[Path, typer.Argument(metavar="DATA", help=f"File of rows: {FORMATS}.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="File written by unnaive fit.")]
Target = Annotated[str, option("--target -t", "COLUMN", "Target column.")]
Ignore = Annotated[
    list[str] | None,
    option("--ignore", "COLUMN", "Column to leave out, such as an identifier. Repeatable."),
]
Keep = Annotated[
    list[str] | None,
    option(
        "--keep",
        "COLUMN",
        "Column to use although it looks like an identifier or free text. Repeatable.",
    ),
]
Weight = Annotated[str | None, option("--weight", "COLUMN", "Column of row weights.")]
Categorical = Annotated[
    list[str] | None,
    option(
        "--categorical",
        "COLUMN",
        "Numeric column to treat as categories. Repeatable. Default: columns of whole numbers "
        "with at most ten distinct values.",
    ),
]
MissingAsCategory = Annotated[
    list[str] | None,
    option(
        "--missing-as-category",
        "COLUMN",
        "Column whose missing values are a category of their own, or all for every column. "
        "Repeatable. Default: a missing value has no influence.",
    ),
]
Discretize = Annotated[
    str | None,
    option(
        "--discretize",
        "METHOD",
        "How numeric columns are divided into bins: mdlp (default), auto (number of bins "
        "chosen by prediction quality), quantile, width, frequency, or none (every number is a "
        "category).",
    ),
]
Bins = Annotated[
    int | None,
    option("--bins", "N", "Number of bins for quantile, width and frequency. Default: 5.", min=1),
]
Smoothing = Annotated[
    str | None,
    option(
        "--smoothing",
        "METHOD",
        "laplace, m-estimate, bdeu, backoff, hierarchical or ml (none). A strength may "
        "follow: laplace:0.5.",
    ),
]
Settings = Annotated[
    list[str] | None,
    option(
        "--set",
        "NAME=VALUE",
        "Any other parameter of the model; the value is JSON or plain text: --set "
        "forest=true. Repeatable.",
    ),
]
Jobs = Annotated[
    int, option("--n-jobs", "N", "Threads; -1 uses every core. Results do not depend on it.")
]
TimedJobs = Annotated[
    int, option("--jobs --n-jobs", "N", "Threads; -1 uses every core. Only the times depend on it.")
]
Model = Annotated[
    str | None,
    option(
        "--model -m",
        "KEY",
        "Model to fit; see: unnaive models. Default: auto, which tries several models and "
        "combines the best; for a counts file, tan.",
        autocompletion=complete_model,
    ),
]
Models = Annotated[
    list[str] | None,
    option(
        "--model --models -m",
        "KEYS",
        "Models, separated by commas or by repeating the option, or all. See: unnaive "
        "models. Default: nb,tan,aode.",
        autocompletion=complete_models,
    ),
]
Folds = Annotated[int, option("--folds", "N", "Number of folds.", min=2)]
Repeats = Annotated[int, option("--repeats", "N", "Number of repeats, with new folds.", min=1)]
Seed = Annotated[int, option("--seed", "N", "Random seed.", min=0)]
LeaveOneOut = Annotated[
    bool,
    flag(
        "--leave-one-out",
        "Predict every row without its own counts, instead of using folds. Structure and bins "
        "are still learned from all rows.",
    ),
]
Resume = Annotated[
    Path | None,
    option(
        "--resume",
        "FILE",
        "Save finished work in this file. If interrupted, the same command continues from it.",
    ),
]
Encoding = Annotated[
    str | None,
    option("--encoding", "NAME", "Encoding of a text file, such as latin-1. Default: detected."),
]
Decimal = Annotated[
    str | None, option("--decimal", "MARK", "Decimal mark of numbers: . or , Default: detected.")
]
Thousands = Annotated[
    str | None, option("--thousands", "MARK", "Mark between thousands. Default: detected.")
]
Missing = Annotated[
    list[str] | None,
    option("--missing", "TEXT", "Text that stands for a missing value. Repeatable."),
]
KeepText = Annotated[
    list[str] | None,
    option("--keep-text", "COLUMN", "Column to read as text, also if it has numbers. Repeatable."),
]
AsJson = Annotated[bool, flag("--json", "Print JSON, for programs.")]


class BinningParameters(TypedDict, total=False):
    """Parameters of models and schemas that say how columns become categories and bins."""

    discretize: str | None
    bins: int
    categorical_features: list[str]
    missing_as_category: bool | list[str]


@dataclass(frozen=True)
class Cells:
    """Options for how the cells of text files are read."""

    encoding: Encoding = None
    decimal: Decimal = None
    thousands: Thousands = None
    missing: Missing = None
    keep_text: KeepText = None

    def reading(self) -> "Reading":
        """Return how files are read."""
        from unnaive.io.reading import Reading  # noqa: PLC0415 - see app.py

        missing, keep_text = tuple(self.missing or ()), frozenset(self.keep_text or ())
        return Reading(self.encoding, self.decimal, self.thousands, missing, keep_text)


@dataclass(frozen=True)
class Binning(Cells):
    """Options for how columns become categories and bins."""

    discretize: Discretize = None
    bins: Bins = None
    categorical: Categorical = None
    missing_as_category: MissingAsCategory = None

    def binning(self) -> BinningParameters:
        """Return the parameters that were given."""
        chosen = BinningParameters()
        if self.discretize is not None:
            chosen["discretize"] = None if self.discretize == "none" else self.discretize
        if self.bins is not None:
            chosen["bins"] = self.bins
        if self.categorical:
            chosen["categorical_features"] = self.categorical
        if self.missing_as_category:
            every = self.missing_as_category == ["all"]
            chosen["missing_as_category"] = every or self.missing_as_category
        return chosen


@dataclass(frozen=True)
class Training(Binning):
    """Options for which columns are learned from, and the parameters of the models."""

    smoothing: Smoothing = None
    ignore: Ignore = None
    keep: Keep = None
    weight: Weight = None
    settings: Settings = None

    def parameters(self) -> dict[str, object]:
        """Return the parameters of models that were given."""
        chosen: dict[str, object] = {**self.binning()}
        if self.smoothing is not None:
            chosen["smoothing"] = self.smoothing
        for setting in self.settings or []:
            name, equals, text = setting.partition("=")
            if not equals:
                raise typer.BadParameter(f"{setting!r} must be NAME=VALUE", param_hint="--set")
            chosen[name.strip()] = _value(text)
        return chosen

    def build(self, key: str) -> "Classifier":
        """Make a model with these parameters."""
        return build(key, self.parameters())


@dataclass(frozen=True)
class Protocol:
    """Options of cross-validation."""

    folds: Folds = 10
    repeats: Repeats = 1
    seed: Seed = 0


def expand(command: Callable[..., None]) -> Callable[..., None]:
    """Replace parameters that are dataclasses of options by those options, for Typer."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        group = groups.get(parameter.name)
        if group is None:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
            continue
        kinds = get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=kinds[field.name],
            )
            for field in fields(group)
        ]

    @wraps(command)
    def run(**options: Any) -> None:
        for name, group in groups.items():
            options[name] = group(
                **{field.name: options.pop(field.name) for field in fields(group)}
            )
        command(**options)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def words(texts: "list[str] | None") -> list[str]:
    """Return names that were given by commas, by repeating an option, or both.

    >>> words(["nb,tan", "aode"])
    ['nb', 'tan', 'aode']
    """
    return [word.strip() for text in texts or [] for word in text.split(",") if word.strip()]


def chosen_models(models: list[str] | None, default: list[str]) -> list[str]:
    """Return the keys of the models that an option names; all stands for every model."""
    if models is None:
        return default
    keys = [key for word in words(models) for key in (model_keys() if word == "all" else [word])]
    if not keys:
        raise typer.BadParameter("name at least one model, or all", param_hint="--models")
    return list(dict.fromkeys(keys))


def loaded(path: Path) -> "Classifier":
    """Read a model; of a file with prediction sets, the model inside."""
    from unnaive import load  # noqa: PLC0415 - see app.py

    model: Any = load(path)
    found: Classifier = getattr(model, "estimator_", model)
    return found


def build(key: str, parameters: Mapping[str, object]) -> "Classifier":
    """Make a model; the error for an unknown key or parameter names those that exist."""
    model = make(key)
    known = model.get_params(deep=False)
    for name in parameters:
        if name not in known:
            cure = "; to set it, name a model, as in --model tan" if key == "auto" else ""
            raise ValueError(
                f"model {key!r} has no parameter {name!r}; it has {', '.join(sorted(known))}{cure}"
            )
    model.set_params(**parameters)
    return model


@contextmanager
def checked(parameters: Mapping[str, object]) -> Iterator[None]:
    """Report a TypeError as a wrong parameter, if any parameters were given."""
    try:
        yield
    except TypeError as error:
        if not parameters:
            raise
        named = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        raise ValueError(f"{error}; check {named}") from error


def _value(text: str) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return value
