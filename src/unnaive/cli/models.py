"""``unnaive models``: what there is to choose from."""

import re
from inspect import cleandoc
from typing import Any

from unnaive.cli import options
from unnaive.cli.terminal import print_json, print_table


def models(json: options.AsJson = False) -> None:
    """List the models: what they are and where they come from."""
    import unnaive  # noqa: PLC0415 - see app.py

    found = [_describe(key, factory) for key, factory in unnaive.all_models().items()]
    if json:
        print_json(found)
        return
    lines = [
        [
            one["key"],
            one["class"].replace("(", "\n("),
            one["summary"],
            "\n".join(map(_cite, one["references"])),
        ]
        for one in found
    ]
    print_table(["key", "class", "what it is", "reference"], lines, left=4)


def _describe(key: str, factory: Any) -> dict[str, Any]:
    """Read a model's class, first line and references from its docstring."""
    kind = getattr(factory, "func", factory)
    settings = ", ".join(f"{k}={v!r}" for k, v in getattr(factory, "keywords", {}).items())
    text = cleandoc(kind.__doc__ or "")
    section = re.search(r"^References\n-+\n(.+?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    cited = " ".join(section.group(1).split()) if section else ""
    references = [one for one in re.split(r"(?<=\d{4}\.) |(?<=\d{4}); ", cited) if one]
    return {
        "key": key,
        "class": f"{kind.__name__}({settings})" if settings else kind.__name__,
        "summary": text.split("\n", 1)[0],
        "references": references,
    }


def _cite(reference: str) -> str:
    """Shorten a reference to its authors and year; --json has all of it."""
    found = re.match(r"(.+?), \".*\b(\d{4})\.?$", reference)
    return f"{found.group(1)} ({found.group(2)})" if found else reference
