"""What people see: lines, tables, notes, progress; and JSON for programs."""

import json
import math
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from time import perf_counter
from typing import TYPE_CHECKING

import typer

from unnaive._progress import watched_by
from unnaive.exceptions import DataWarning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

    from unnaive.models.auto import Tried
    from unnaive.search import Generation
    from unnaive.structure.groups import Step

PATIENCE = 2.0  # seconds that work may take before it shows how far it is
_PIPE_WIDTH = 140  # columns of a table that goes to a file or another program
_MEMORY_OF_SPEED = 3600.0  # seconds that the time left is judged by: steps may take minutes
_FOLDED = 8  # columns that text needs at least
_BAR = 40  # columns of a bar, where there is room
_SHOWN = 5  # names of many


def console() -> "Console":
    """Return standard output, as wide as it is; nothing in a text is taken for markup."""
    from rich.console import Console  # noqa: PLC0415 - see app.py

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, markup=False, emoji=False, highlight=False)


def say(line: str) -> None:
    """Print a line on standard error, which is for people."""
    typer.echo(line, err=True)


def note(line: str) -> None:
    """Say what the user may want to know, or to change."""
    say(f"{_coloured('note:', typer.colors.YELLOW)} {line}")


def blame(line: str) -> None:
    """Say why nothing came of it."""
    say(f"{_coloured('error:', typer.colors.RED)} {line}")


def _coloured(word: str, colour: str) -> str:
    plainly = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return word if plainly else typer.style(word, fg=colour, bold=True)


def listed(names: "Sequence[object]") -> str:
    """Name the first few, and say how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def print_json(value: object) -> None:
    """Print a value for programs; what is not a number, such as NaN, is null."""
    typer.echo(json.dumps(plain(value), ensure_ascii=False, indent=2))


def plain(value: object) -> object:
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
    header: Sequence[str], lines: Sequence[Sequence[str]], left: int = 1, title: str = ""
) -> None:
    """Print a table whose first ``left`` columns are text and whose others are numbers."""
    from rich.box import SIMPLE  # noqa: PLC0415 - see app.py
    from rich.table import Table  # noqa: PLC0415

    screen = console()
    if title:
        screen.print(title, style="bold")
    if _width(header, lines, left) > screen.width:
        for line in lines:
            _print_record(screen, header, line, left)
        return
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number < left else "right", overflow="fold")
    for line in lines:
        table.add_row(*line)
    screen.print(table)


def _width(header: Sequence[str], lines: Sequence[Sequence[str]], left: int) -> int:
    """Return the columns that a table needs at least: text can be folded, numbers cannot."""
    from rich.cells import cell_len  # noqa: PLC0415 - see app.py

    total = 0
    for number, cells in enumerate(zip(header, *lines, strict=True)):
        parts = [part for cell in cells for part in str(cell).split("\n")]
        widest = max(map(cell_len, parts))
        total += 1 + (min(widest, _FOLDED) if number < left else widest)
    return total + 1


def _print_record(screen: "Console", header: Sequence[str], line: Sequence[str], left: int) -> None:
    """Print a line of a table as lines of their own, where a terminal is too narrow for it."""
    from rich.cells import cell_len  # noqa: PLC0415 - see app.py

    screen.print(" ".join(str(cell) for cell in line[:left] if cell), style="bold")
    room = max(map(cell_len, header))
    for name, cell in zip(header[left:], line[left:], strict=True):
        screen.print(f"  {name:<{room}}  {' '.join(str(cell).split())}")


@contextmanager
def notes() -> Iterator[None]:
    """Show the library's warnings as lines of their own, each once."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            note(_with_option(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _with_option(message: Warning | str) -> str:
    """Name the option that cures what the library warns of."""
    if isinstance(message, DataWarning) and message.kind == "identifier":
        return f"{message} when you fit, with --ignore {shlex.quote(message.names[0])}"
    return str(message)


def error_console() -> "Console | None":
    """Return standard error if it is a terminal, and None if nobody looks at it."""
    if not sys.stderr.isatty() and not os.environ.get("FORCE_COLOR"):
        return None
    from rich.console import Console  # noqa: PLC0415 - see app.py

    errors = Console(stderr=True, markup=False, emoji=False)
    return errors if errors.is_terminal else None


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far work is that takes longer than two seconds.

    Where the number of steps is known, the time left is shown; otherwise the time gone. Yields
    what is to be called with the number of steps done. A search within tells of its generations.
    """
    errors = error_console()
    if errors is None:
        yield lambda _: None
        return
    bar = new_bar(errors, timed=total is not None)
    task = bar.add_task(label, total=total)
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()

    def describe(step: "Generation | Step | Tried") -> None:
        bar.update(task, description=f"{label}: {searching(step, perf_counter() - start)}")

    start = perf_counter()
    try:
        with watched_by(describe):
            yield lambda done: bar.update(task, completed=done)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def new_bar(errors: "Console", *, timed: bool) -> "Progress":
    """Return a bar with the time left, or with the time gone where nobody knows how much is left.

    Nothing in its label is taken for markup: a file may be called data[red].csv.
    """
    from rich import progress as rich_progress  # noqa: PLC0415 - see app.py

    text = rich_progress.TextColumn
    columns: list[ProgressColumn] = [
        text("{task.description}", markup=False),
        rich_progress.BarColumn(bar_width=min(_BAR, errors.width // 4)),
    ]
    if timed:
        columns += [text("{task.percentage:>3.0f}%"), rich_progress.TimeRemainingColumn()]
        columns += [text("left")]
    else:
        columns += [rich_progress.TimeElapsedColumn()]
    return rich_progress.Progress(
        *columns, console=errors, transient=True, speed_estimate_period=_MEMORY_OF_SPEED
    )


def searching(step: "Generation | Step | Tried", seconds: float) -> str:
    """Say how far a search is.

    >>> from unnaive.search import Generation
    >>> searching(Generation(12, 0.7612, 0.7433, 12_500, 300, 2.5), 2.5)
    'generation 12, best 0.7612, mean 0.7433, 12,500 evaluations, 5,000 a second'
    """
    from unnaive.models.auto import Tried  # noqa: PLC0415 - see app.py

    if isinstance(step, Tried):
        return f"{step.number} models tried, least log loss {step.best:.4f}"
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
