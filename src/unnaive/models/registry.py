"""The register of models: keys for the command line, classes for saved files.

Models of other packages are added by :func:`register`, or by an entry point of the group
``unnaive.models`` whose name is the key and whose value is the class::

    [project.entry-points."unnaive.models"]
    sp-tan = "my_package.models:SuperParentTAN"

They then have a key like the models of this library: in ``make``, on the command line, in the demo,
in reports, and when a saved model is loaded.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from unnaive.exceptions import ModelFileError, UnnaiveError

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.models.classifier import Classifier

    Kind = TypeVar("Kind", bound=type[Classifier])

_GROUP = "unnaive.models"


class Entry(NamedTuple):
    """A model: its class, or the module to import it from, and its settings."""

    name: str
    home: str = ""
    settings: State = {}  # noqa: RUF012 - never changed
    kind: type[Classifier] | None = None

    def load(self) -> type[Classifier]:
        """Return the class; its module is imported if necessary."""
        if self.kind is not None:
            return self.kind
        try:
            kind: type[Classifier] = getattr(import_module(self.home), self.name)
        except (ImportError, AttributeError) as error:
            raise UnnaiveError(
                f"the model class {self.name!r} of {self.home!r} cannot be imported ({error}); "
                "repair or remove the package that registers it"
            ) from error
        return checked(kind)


def _own(home: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, f"unnaive.models.{home}")


HOMES = {
    **_own("adjusted", "AdjustedNB"),
    **_own("aode", "A2DE", "AODE", "WAODE"),
    **_own("auto", "AutoBayes"),
    **_own("base", "CountsClassifier"),
    **_own("bayesnet", "BayesNet"),
    **_own("classifier", "Classifier"),
    **_own("decomposable", "CherryTreeNB", "DecomposableNB"),
    **_own("gaussian_networks", "FullBayes", "GaussianKDB", "GaussianNaiveBayes", "GaussianTAN"),
    **_own("gnb", "GeneralizedNB"),
    **_own("hnb", "HNB", "PHNB"),
    **_own("ienb", "IENB"),
    **_own("iterative", "IterativeBayes"),
    **_own("kdb", "KDB"),
    **_own("knaive", "KNaiveBayes"),
    **_own("nb", "NaiveBayes"),
    **_own("pazzani", "PazzaniNB"),
    **_own("spode", "SPODE"),
    **_own("tree", "ATAN", "ODANB", "TAN"),
    **_own("weighted", "WeightedBayes"),
}
_BARROW = ("BarrowFullBayes", "BarrowKNaiveBayes", "BarrowNaiveBayes")
_PAPERS = dict.fromkeys(_BARROW, "unnaive.papers.barrow")
_KEYS: dict[str, str | tuple[str, State]] = {
    "auto": "AutoBayes",
    "nb": "NaiveBayes",
    "spode": "SPODE",
    "aode": "AODE",
    "aode-sr": ("AODE", {"subsumption": True}),
    "waode": "WAODE",
    "a2de": "A2DE",
    "tan": "TAN",
    "atan": "ATAN",
    "tan-multinet": ("TAN", {"per_class": True}),
    "odanb": "ODANB",
    "kdb": "KDB",
    "hnb": "HNB",
    "phnb": "PHNB",
    "gnb-a": ("GeneralizedNB", {"method": "greedy"}),
    "gnb-o": "GeneralizedNB",
    "decomposable": "DecomposableNB",
    "cherry": "CherryTreeNB",
    "fssj": ("PazzaniNB", {"search": "forward"}),
    "bsej": "PazzaniNB",
    "pazzani-eda": ("PazzaniNB", {"search": "eda"}),
    "ienb": "IENB",
    "iterative": "IterativeBayes",
    "apnbc": "AdjustedNB",
    "apnbc-eda": ("AdjustedNB", {"search": "eda"}),
    "gaussian-nb": "GaussianNaiveBayes",
    "full-bayes": "FullBayes",
    "k-naive": "KNaiveBayes",
    "gaussian-tan": "GaussianTAN",
    "gaussian-kdb": "GaussianKDB",
    "wanbia": ("WeightedBayes", {"dependences": "none"}),
    "weighted-tan": ("WeightedBayes", {"dependences": "tree"}),
    "weighted-pairs": "WeightedBayes",
    "bayesnet": "BayesNet",
}


_PLAIN = {key: (known, {}) if isinstance(known, str) else known for key, known in _KEYS.items()}
_REGISTER = {key: Entry(name, HOMES[name], settings) for key, (name, settings) in _PLAIN.items()}


def register(key: str, kind: Kind, **settings: object) -> Kind:
    """Give a model of another package a key.

    Parameters
    ----------
    key : str
        Name of the model in ``make``, on the command line and in reports.
    kind : type
        Class of the model, a subclass of :class:`~unnaive.models.CountsClassifier` or of another
        base of this library. The first line of its docstring, and its attributes ``family`` and
        ``assumption``, describe it in lists and reports.
    **settings
        Parameters of the class that the key stands for.

    Returns
    -------
    type
        The class.

    See Also
    --------
    unregister : Remove the key.
    make : Build a model by its key.

    Examples
    --------
    >>> import unnaive
    >>> class MyTAN(unnaive.TAN):
    ...     "TAN as I like it."
    >>> unnaive.register("my-tan", MyTAN, smoothing="bdeu").__name__
    'MyTAN'
    >>> unnaive.make("my-tan")
    MyTAN(smoothing='bdeu')
    >>> unnaive.unregister("my-tan")
    """
    name, known = checked(kind).__name__, _REGISTER.get(key)
    same = [entry for entry in _REGISTER.values() if entry.name == name and entry.kind is not kind]
    if name in HOMES or name in _PAPERS or (known and known.name != name) or same:
        raise ValueError(
            f"the key {key!r} or the class name {name!r} is taken; saved models are found by these "
            "names, so choose others"
        )
    _REGISTER[key] = Entry(name, settings=dict(settings), kind=kind)
    return kind


def checked(kind: Kind) -> Kind:
    """Return a class; raises if it is not the class of a model."""
    from unnaive.models.classifier import Classifier  # noqa: PLC0415 - loads when asked

    if not (isinstance(kind, type) and issubclass(kind, Classifier)):
        raise TypeError(f"{kind!r} is not the class of a model; derive it from CountsClassifier")
    return kind


def unregister(key: str) -> None:
    """Remove a model that :func:`register` added.

    Parameters
    ----------
    key : str
        Key of the model.

    See Also
    --------
    register : Add a model.

    Examples
    --------
    >>> import unnaive
    >>> class MyTAN(unnaive.TAN):
    ...     "TAN as I like it."
    >>> _ = unnaive.register("my-tan", MyTAN)
    >>> unnaive.unregister("my-tan")
    """
    if key in _KEYS:
        raise ValueError(f"{key!r} is a model of this library and stays registered")
    if _REGISTER.pop(key, None) is None:
        raise ValueError(f"{key!r} was not registered by unnaive.register")


@cache
def _discovered() -> dict[str, Entry]:
    """Read the models of installed packages from their entry points; none is imported."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - costs import time

    points = [(point.name, point.value.partition(":")) for point in entry_points(group=_GROUP)]
    return {
        key: Entry(name, home)
        for key, (home, _, name) in points
        if key not in _KEYS and name not in HOMES and name not in _PAPERS
    }


def entries() -> dict[str, Entry]:
    """All models by key: of this library, registered ones, and those of installed packages."""
    return {**_discovered(), **_REGISTER}


def entry_of(key: str) -> Entry:
    """Return the entry of a key; raises if there is none."""
    if entry := _REGISTER.get(key) or _discovered().get(key):
        return entry
    known = sorted(entries())
    if close := get_close_matches(str(key).lower(), known, n=1):
        raise ValueError(f"there is no model {key!r}; did you mean {close[0]!r}?")
    raise ValueError(f"there is no model {key!r}; the models are {', '.join(known)}")


def class_of(name: str) -> type[Classifier]:
    """Return the class of a model by its name, of this library or registered."""
    home = HOMES.get(name) or _PAPERS.get(name)
    if home is not None:
        return Entry(name, home).load()
    for entry in entries().values():
        if entry.name == name:
            return entry.load()
    raise ModelFileError(
        f"there is no model class {name!r} here; if it is of another package, install or import "
        "that package, and register the class by unnaive.register(key, class) before the file is "
        "loaded"
    )
