"""``unnaive models``: list the models."""

import re
from typing import TYPE_CHECKING, TypedDict

import unnaive
from unnaive.cli import options
from unnaive.cli.terminal import print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive.models import Classifier

Described = TypedDict(
    "Described", {"key": str, "class": str, "summary": str, "references": list[str]}
)


def models(json: options.AsJson = False) -> None:
    """List the models with their descriptions and references.

    Examples
    --------
    unnaive models
    unnaive models --json
    """
    described = [_describe(key, factory) for key, factory in unnaive.all_models().items()]
    if json:
        print_json(described)
        return
    lines = [
        [
            one["key"],
            one["class"].replace("(", "\n("),
            one["summary"],
            "\n".join(map(_cite, one["references"])),
        ]
        for one in described
    ]
    print_table(["key", "class", "description", "reference"], lines, left=4)


def _describe(key: str, factory: "Callable[[], Classifier]") -> Described:
    """Return a model's class, and the summary and references of its docstring."""
    from unnaive.models.docstrings import references_of, summary_of  # noqa: PLC0415 - see app.py

    kind = type(factory())
    settings = ", ".join(f"{k}={v!r}" for k, v in getattr(factory, "keywords", {}).items())
    return {
        "key": key,
        "class": f"{kind.__name__}({settings})" if settings else kind.__name__,
        "summary": summary_of(kind),
        "references": references_of(kind),
    }


def _cite(reference: str) -> str:
    """Shorten a reference to its authors and year; --json prints all of it."""
    parts = re.match(r"(.+?), \".*\b(\d{4})\.?$", reference)
    return f"{parts.group(1)} ({parts.group(2)})" if parts else reference
