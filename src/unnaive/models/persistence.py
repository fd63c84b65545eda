"""Models as plain values: the state that is saved, and how a model is restored from it."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unnaive import __version__
from unnaive._scikit import BaseEstimator
from unnaive.discretize import Discretizer
from unnaive.exceptions import ModelFileError, WrongKindError
from unnaive.models.fitted import Names
from unnaive.schema import label_array
from unnaive.tables.smoothing import POLICIES, Smoothing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from unnaive._typing import State
    from unnaive.models.classifier import Classifier

    ClassOf = Callable[[str], type[Classifier]]

Value = TypeVar("Value")
_LIVE = ("handle_unknown", "threshold_bias", "n_jobs")  # parameters that act at prediction
_VALUES: dict[str, type] = {}  # dataclasses that may be values of parameters


def storable(cls: type[Value]) -> type[Value]:
    """Register a dataclass whose objects are parameters of models, so that they can be saved."""
    _VALUES[cls.__name__] = cls
    return cls


def save_model(path: str | Path, model: Classifier) -> None:
    """Write a fitted model to one file, atomically."""
    from unnaive.io import store  # noqa: PLC0415 - loads when asked

    store.save(path, state_of(model), kind="model", written_by=__version__)


def state_of(model: Classifier) -> State:
    """Describe a fitted model by plain values and arrays."""
    now = model.settings()
    model.bias_of(model.classes_.tolist())  # raises before an unreadable file is written
    parameters = {**model.fitted_.settings, **{key: now[key] for key in _LIVE if key in now}}
    sample = model.sample_
    return {
        "model": type(model).__name__,
        "parameters": {key: plain(value) for key, value in parameters.items()},
        **model.fitted_.state(),
        "classes": model.classes_.dtype.str if model.classes_.dtype.kind in "biuf" else "labels",
        "named": hasattr(model, "feature_names_in_"),
        "names": list(model.schema_.names),
        "labels": list(model.schema_.classes),
        **({} if sample is None else {"sample": list(sample)}),
    }


def plain_state(model: Classifier) -> State:
    """Describe a model, fitted or not, by plain values and arrays."""
    now = {key: plain(value) for key, value in model.settings().items()}
    return {"plain": state_of(model) if "_fitted" in model.__dict__ else None, "parameters": now}


def restore(model: Classifier, state: State) -> None:
    """Set the attributes of a new model from :func:`plain_state`, or from a pickle."""
    if "plain" not in state:
        model.__dict__.update({k: v for k, v in state.items() if k != "_sklearn_version"})
        return
    from unnaive.models.registry import class_of  # noqa: PLC0415 - loads when asked

    def kind_of(name: str) -> type[Classifier]:
        return type(model) if name == type(model).__name__ else class_of(name)

    if state["plain"] is not None:
        model._fitted = model_of(state["plain"], kind_of)._fitted
    for declared in fields(model):
        value = state["parameters"][declared.name]
        usual = value == plain(declared.default)  # a tuple by default stays one
        setattr(model, declared.name, declared.default if usual else _object(value, kind_of))


def load_model(path: str | Path, class_of: ClassOf) -> Classifier:
    """Read a model that :func:`save_model` wrote; nothing in the file is executed."""
    from unnaive.io import store  # noqa: PLC0415 - loads when asked
    from unnaive.models.saved import BROKEN  # noqa: PLC0415 - loads when asked

    try:
        state = store.load(path, kind="model")
    except WrongKindError as error:
        if error.found != "conformal":
            raise
        return _load_conformal(path)
    try:
        return model_of(state, class_of)
    except ModelFileError:
        raise
    except BROKEN as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise ModelFileError(
            f"{path} is a model file, but not one that this version understands ({what}); save the "
            "model again with this version, and do not trust a file from elsewhere"
        ) from error


def _load_conformal(path: str | Path) -> Classifier:
    """Read a ConformalClassifier."""
    from unnaive.io import store  # noqa: PLC0415 - loads when asked
    from unnaive.models.conformal import ConformalClassifier  # noqa: PLC0415 - which imports this
    from unnaive.models.saved import BROKEN  # noqa: PLC0415 - loads when asked

    try:
        restored: Any = ConformalClassifier.restored(store.load(path, kind="conformal"))
    except BROKEN as error:
        raise ModelFileError(f"{path} is damaged; save the model again ({error})") from error
    classifier: Classifier = restored
    return classifier


def model_of(state: State, class_of: ClassOf) -> Classifier:
    """Restore the model that :func:`state_of` described."""
    from unnaive.models.saved import check_state, require_answers  # noqa: PLC0415 - loads when asked

    check_state(state)
    made = class_of(state["model"])  # first: its module registers values that can be restored
    parameters = {key: _object(value, class_of) for key, value in state["parameters"].items()}
    model = made(**_known(made, parameters))
    labels = label_array(state["labels"])
    if state["classes"] != "labels":
        labels = labels.astype(np.dtype(state["classes"]))
    names = Names.of(state["names"], named=bool(state["named"]))
    if "sample" in state:
        from unnaive.counts.engines.sampling import Sampled  # noqa: PLC0415 - loads when asked

        names = names._replace(sample=Sampled(*state["sample"]))
    model._check()
    model._fitted = model._restored(state, labels, names)
    require_answers(model)
    return model


def _known(made: type[Classifier], saved: State) -> State:
    """Return the saved parameters; one that the model no longer has must be False, its default."""
    known = {declared.name for declared in fields(made)}
    gone = [key for key, value in saved.items() if key not in known and value is not False]
    if gone:
        hint = "; the thesis' programs are models of unnaive.papers.barrow: fit one of these"
        hint = hint if gone[0] == "paper" else "; is it of another package with the same name?"
        raise ModelFileError(
            f"a saved {made.__name__} has the parameter {gone[0]!r}, which that class does not "
            f"have here{hint}"
        )
    return {key: value for key, value in saved.items() if key in known}


def plain(value: Any) -> Any:
    """Turn a parameter into JSON values, objects of this library into tagged ones."""
    tag, content = _tagged(value)
    if tag:
        return {tag: content}
    if isinstance(value, dict):
        return {"__dict__": [[plain(key), plain(entry)] for key, entry in value.items()]}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        return [plain(entry) for entry in value]
    return value


def _tagged(value: Any) -> tuple[str, Any]:
    """Return the tag of an object of this library, and its settings."""
    if isinstance(value, Smoothing):
        if POLICIES.get(value.key) is not type(value):
            raise TypeError(f"smoothing={value!r} is not of this library and cannot be saved")
        return "__smoothing__", value.state()
    if _VALUES.get(type(value).__name__) is type(value):
        content = {key: plain(entry) for key, entry in asdict(value).items()}  # type: ignore[call-overload]
        return "__value__", [type(value).__name__, content]
    if isinstance(value, BaseEstimator):
        kind = "__discretizer__" if isinstance(value, Discretizer) else "__model__"
        return kind, [type(value).__name__, plain(value.get_params(deep=False))]
    if is_dataclass(value) and type(value).__module__.startswith("unnaive.search."):
        return "__algorithm__", [type(value).__name__, plain(asdict(value))]  # type: ignore[arg-type]
    return "", None


def _object(value: Any, class_of: ClassOf) -> Any:
    """Undo :func:`plain`; only objects of this library are made."""
    if isinstance(value, list):
        return [_object(entry, class_of) for entry in value]
    if not isinstance(value, dict):
        return value
    if "__dict__" in value:
        pairs = value["__dict__"]
        return {_object(key, class_of): _object(entry, class_of) for key, entry in pairs}
    ((tag, content),) = value.items()
    if tag == "__smoothing__":
        settings = dict(content)
        return POLICIES[settings.pop("policy")](**settings)
    if tag == "__value__":
        return _VALUES[content[0]](**content[1])
    return _named(tag, content, class_of)


def _named(tag: str, content: list[Any], class_of: ClassOf) -> Any:
    """Make a discretizer, a model or an algorithm by its name."""
    name, parameters = content[0], _object(content[1], class_of)
    if tag == "__model__":
        made = class_of(name)
        return made(**_known(made, parameters))
    home = import_module({"__discretizer__": "unnaive.discretize"}.get(tag, "unnaive.search"))
    if name not in home.__all__:
        raise ValueError(f"unknown name {name!r} in {home.__name__}")
    return getattr(home, name)(**parameters)
