"""Plain text output: tables, units, and a description of the machine."""

from __future__ import annotations

import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGES = ("unnaive", "numpy", "scikit-learn", "pyagrum", "pgmpy", "pandas")
FIGURE = (*"0123456789≤≥-", "")


def table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table as text; columns of figures are aligned right.

    >>> print(table(["what", "s"], [["fit", "0.5"], ["predict", "12.0"]]))
    what        s
    -------  ----
    fit       0.5
    predict  12.0
    """
    texts = [[str(cell) for cell in row] for row in rows]
    columns = list(zip(headers, *texts, strict=True))
    widths = [max(map(len, column)) for column in columns]
    figures = [all(cell[:1] in FIGURE for cell in column[1:]) for column in columns]
    lines = []
    for cells in [list(headers), ["-" * width for width in widths], *texts]:
        padded = [
            cell.rjust(width) if figure else cell.ljust(width)
            for cell, width, figure in zip(cells, widths, figures, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def section(title: str) -> None:
    """Print a heading."""
    print(f"\n{title}\n{'=' * len(title)}", flush=True)


def show(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table."""
    print(table(headers, rows), flush=True)


def duration(seconds: float) -> str:
    """Return seconds in a suitable unit.

    >>> duration(0.0123), duration(75.31), duration(4.2e-7)
    ('12.3 ms', '75.3 s', '0.42 µs')
    """
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def verdict(met: bool | None) -> str:
    """Return whether a target is met, as text."""
    return {True: "met", False: "NOT MET", None: "not measured"}[met]


def target(name: str, value: float, wanted: float, unit: str, *, at_least: bool) -> list[str]:
    """Return a row of a table of targets: what, wanted, measured, met or not."""
    met = value >= wanted if at_least else value <= wanted
    sign = "≥" if at_least else "≤"
    return [name, f"{sign} {wanted:g}{unit}", f"{number(value)}{unit}", verdict(met)]


def number(value: float) -> str:
    """Return a number with three digits, without an exponent.

    >>> number(1234.5), number(1.2345), number(0.01234)
    ('1,234', '1.23', '0.0123')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def machine() -> dict[str, Any]:
    """Return processor, cores, load, system and versions."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    if versions["unnaive"] is None:
        import unnaive  # noqa: PLC0415 - run from the source folder, not installed

        versions["unnaive"] = unnaive.__version__
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": versions,
    }


def show_machine() -> dict[str, Any]:
    """Print the description of the machine."""
    found = machine()
    print(f"{found['processor']}, {found['cores']} cores, load {found['load']} at the start")
    print(f"{found['system']}, Python {found['python']}")
    there = (f"{name} {version}" for name, version in found["versions"].items() if version)
    print(", ".join(there), flush=True)
    return found


def write_json(path: str | None, content: dict[str, Any]) -> None:
    """Write the figures to a file, if one is named."""
    if path is not None:
        Path(path).write_text(json.dumps(content, indent=1) + "\n")


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
