"""The public names with their signatures, one a line.

``python tests/support/public_api.py > tests/golden/api.txt`` writes them anew.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys

PACKAGES = (
    "unnaive",
    "unnaive.checks",
    "unnaive.counts",
    "unnaive.datasets",
    "unnaive.discretize",
    "unnaive.evaluate",
    "unnaive.explain",
    "unnaive.export",
    "unnaive.information",
    "unnaive.models",
    "unnaive.papers",
    "unnaive.report",
    "unnaive.schema",
    "unnaive.search",
    "unnaive.structure",
    "unnaive.tables",
)


def describe_api() -> str:
    """Return a line for every public name, and for every public member that a class defines.

    Members of bases that have no public name count as those of the class.
    """
    modules = {package: importlib.import_module(package) for package in PACKAGES}
    public = [getattr(module, name) for module in modules.values() for name in module.__all__]
    lines, seen = [], set()
    for package, module in modules.items():
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if inspect.isclass(value) and value in seen:
                lines.append(f"{package}.{name} = {value.__module__}.{value.__qualname__}")
                continue
            lines += _describe(f"{package}.{name}", value, public)
            seen |= {value} if inspect.isclass(value) else set()
    return "".join(f"{line}\n" for line in lines)


def _members(value: object, public: list[object]) -> dict[str, object]:
    members: dict[str, object] = {}
    for base in reversed(inspect.getmro(value)) if inspect.isclass(value) else ():
        ours = base.__module__.startswith("unnaive.") and base not in public
        members |= vars(base) if base is value or ours else {}
    return members


def _describe(name: str, value: object, public: list[object]) -> list[str]:
    if not callable(value):
        return [name]
    lines = [f"{name}{_signature(value)}"]
    for attribute, member in sorted(_members(value, public).items()):
        fields = getattr(value, "__dataclass_fields__", ())
        if attribute in fields or attribute.startswith("_") or attribute.endswith("_request"):
            continue
        if inspect.isroutine(member) or isinstance(member, classmethod | staticmethod):
            lines.append(f"{name}.{attribute}{_signature(getattr(value, attribute))}")
        elif isinstance(member, property | functools.cached_property):
            lines.append(f"{name}.{attribute}")
    return lines


def _signature(value: object) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    text = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


if __name__ == "__main__":
    sys.stdout.write(describe_api())
