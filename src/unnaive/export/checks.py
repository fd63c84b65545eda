"""What must hold before anything is exported; errors name the model or the column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.exceptions import UnnaiveError
from unnaive.export.document import model_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import State
    from unnaive.models.classifier import Classifier

_EXACT = 2**53  # integers up to here are exact as doubles


def exported(model: Classifier, max_bytes: int, *, intervals: bool = False) -> State:
    """Describe a model for a file; raises an error where a prediction could not be repeated."""
    document = model_document(model, max_bytes, intervals=intervals)
    if intervals and document["certainty"] is None:
        raise UnnaiveError(
            f"{type(model).__name__} has no intervals in closed form to export: they are sampled "
            "from its counts; export it without intervals"
        )
    if getattr(model, "handle_unknown", "missing") == "error":
        raise UnnaiveError(
            f"{type(model).__name__} has handle_unknown='error', and an exported model cannot stop "
            "at an unseen category: it treats it as missing; set_params(handle_unknown='missing')"
        )
    return document


def models_of(document: State) -> list[State]:
    """Return the members of a blend, or the model itself."""
    members: list[State] = document.get("members", [document])
    return members


def values_of_categories(document: State) -> Iterator[tuple[str, object]]:
    """Yield the name of every column of categories with each of its values."""
    for member in models_of(document):
        for column in member["columns"]:
            for value in (*column.get("values", ()), *column.get("others", ())):
                yield column["name"], value


def require_doubles(document: State, target: str) -> None:
    """Raise an error if a category or a class is an integer that a double does not hold."""
    labels = [("the target", label) for label in document["labels"]]
    for name, value in (*labels, *values_of_categories(document)):
        if isinstance(value, int) and abs(value) > _EXACT:
            where = name if name == "the target" else f"column {name!r}"
            raise UnnaiveError(
                f"{where} has the value {value}, which {target} cannot tell from its neighbours; "
                "convert it to strings before the fit"
            )


def require_text(document: State, target: str, *, forbidden: str = "", **given: str | None) -> None:
    """Raise an error if a text is no Unicode, or has a character that the target cannot hold.

    ``given`` are other texts, by the name of the parameter.
    """
    texts = [("a class", label) for label in document["labels"]]
    texts += [(f"column {name!r}", value) for name, value in values_of_categories(document)]
    texts += [("the name of a column", column["name"]) for column in document["columns"]]
    for where, text in (*texts, *given.items()):
        if isinstance(text, str) and (set(forbidden) & set(text) or not _encodable(text)):
            raise UnnaiveError(
                f"{where} has the text {text!r}, which {target} cannot hold; replace its characters"
            )


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def kind_of_labels(document: State, target: str) -> str:
    """Return "str", "bool", "int" or "float": the type of all classes."""
    kinds = {type(label).__name__ for label in document["labels"]}
    kind = "float" if kinds == {"int", "float"} else kinds.pop() if len(kinds) == 1 else ""
    if kind not in {"str", "bool", "int", "float"}:
        raise UnnaiveError(
            f"the classes are of different types, and {target} needs one; convert them to strings"
        )
    return kind


def kind_of_values(column: State, target: str) -> type:
    """Return str, bool or float: the type of all values of a column; float for numbers."""
    kinds = {
        str if isinstance(value, str) else bool if isinstance(value, bool) else float
        for value in (*column.get("values", ()), *column.get("others", ()))
    }
    if len(kinds) > 1:
        raise UnnaiveError(
            f"column {column['name']!r} has values of different types, such as text and numbers, "
            f"which a column of {target} cannot have; convert it to strings before the fit"
        )
    return kinds.pop() if kinds else float
