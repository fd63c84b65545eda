"""What people see: lines, tables, notes, progress; and JSON for programs."""

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from time import perf_counter
from typing import Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from unnaive._progress import watched_by

PATIENCE = 2.0  # seconds that work may take before it shows how far it is
_PIPE_WIDTH = 140  # columns of a table that goes to a file or another program


def console() -> Console:
    """Return standard output, as wide as it is; nothing in a text is taken for markup."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, markup=False, emoji=False, highlight=False)


def say(line: str) -> None:
    """Print a line on standard error, which is for people."""
    typer.echo(line, err=True)


def print_json(value: Any) -> None:
    """Print a value for programs; what is not a number, such as NaN, is null."""
    typer.echo(json.dumps(plain(value), ensure_ascii=False, indent=2))


def plain(value: Any) -> Any:
    """Turn dictionaries, sequences and arrays into what JSON knows."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_table(
    header: Sequence[str], lines: Sequence[Sequence[Any]], left: int = 1, title: str = ""
) -> None:
    """Print a table whose first ``left`` columns are text and whose others are numbers."""
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number < left else "right", overflow="fold")
    for line in lines:
        table.add_row(*line)
    screen = console()
    if title:
        screen.print(title, style="bold")
    screen.print(table)


@contextmanager
def notes() -> Iterator[None]:
    """Show the library's warnings as lines of their own, each once."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            say(f"note: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far work is that takes longer than two seconds.

    Yields what is to be called with the number of steps done. A search within tells of its
    generations.
    """
    errors = Console(stderr=True, markup=False, emoji=False)
    if not errors.is_terminal:
        yield lambda _: None
        return
    from rich.progress import Progress  # noqa: PLC0415 - see app.py

    bar = Progress(console=errors, transient=True)
    task = bar.add_task(label, total=total)
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()

    def describe(step: Any) -> None:
        bar.update(task, description=f"{label}: {searching(step, perf_counter() - start)}")

    start = perf_counter()
    try:
        with watched_by(describe):
            yield lambda done: bar.update(task, completed=done)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def searching(step: Any, seconds: float) -> str:
    """Say how far a search is.

    >>> from unnaive.search import Generation
    >>> searching(Generation(12, 0.7612, 0.7433, 12_500, 300, 2.5), 2.5)
    'generation 12, best 0.7612, mean 0.7433, 12,500 evaluations, 5,000 a second'
    """
    spent = max(getattr(step, "seconds", seconds), 1e-9)
    what = "generation" if hasattr(step, "mean") else "step"
    mean = f", mean {step.mean:.4f}" if hasattr(step, "mean") else ""
    rate = f"{step.evaluations:,} evaluations, {step.evaluations / spent:,.0f} a second"
    return f"{what} {step.number}, best {step.best:.4f}{mean}, {rate}"


def milliseconds(seconds: float) -> str:
    """Return a time in milliseconds, to three digits, without an exponent.

    >>> milliseconds(1.79412), milliseconds(0.00948)
    ('1,794', '9.48')
    """
    spent = 1000 * seconds
    return f"{spent:,.0f}" if spent >= 100 else f"{spent:.3g}"
