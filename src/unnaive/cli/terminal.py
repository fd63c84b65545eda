"""Output for people (lines, tables, notes, progress) and JSON for programs."""

import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

import typer

from unnaive._json import plain
from unnaive._progress import FOLDS, Progress
from unnaive._progress import progress as told
from unnaive.exceptions import DataWarning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

PATIENCE = 2.0  # seconds before progress is shown
_PIPE_WIDTH = 140  # columns of a table that goes to a file or another program
_MEMORY_OF_SPEED = 3600.0  # seconds over which speed is averaged: steps may take minutes
_FOLDED = 8  # least width of a text column
_BAR = 40  # greatest width of a progress bar
_SHOWN = 5  # names listed before "and … more"
# Characters that move the cursor, change colors or turn the direction of text; not tab, newline.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def console() -> "Console":
    """Return standard output as a console that does not interpret markup."""
    from rich.console import Console  # noqa: PLC0415 - see app.py

    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, markup=False, emoji=False, highlight=False)


def clean(text: str) -> str:
    r"""Escape control characters, by which names and cells of a file could disguise the output.

    The escapes are those of JSON.

    >>> print(clean("\x1b[2J9"))
    \u001b[2J9
    """
    return _CONTROL.sub(lambda match: json.dumps(match[0])[1:-1], text)


def tell(text: str, *, end: bool = True) -> None:
    """Print a text on standard output, for people."""
    typer.echo(clean(text), nl=end)


def say(line: str) -> None:
    """Print a line on standard error, for people."""
    typer.echo(clean(line), err=True)


def note(line: str) -> None:
    """Print a note: something the user may want to know or change."""
    typer.echo(f"{_colored('note:', typer.colors.YELLOW)} {clean(line)}", err=True)


def blame(line: str) -> None:
    """Print why a command failed."""
    typer.echo(f"{_colored('error:', typer.colors.RED)} {clean(line)}", err=True)


def _colored(word: str, color: str) -> str:
    plain_text = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return word if plain_text else typer.style(word, fg=color, bold=True)


def listed(names: "Sequence[object]") -> str:
    """Return the first few names, and the number of others."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def print_json(value: object) -> None:
    """Print a value as JSON; NaN and infinity become null."""
    tell(json.dumps(plain(value), ensure_ascii=False, indent=2))


def print_table(
    header: Sequence[str], lines: Sequence[Sequence[str]], left: int = 1, title: str = ""
) -> None:
    """Print a table whose first ``left`` columns are text and the others numbers."""
    from rich.box import SIMPLE  # noqa: PLC0415 - see app.py
    from rich.table import Table  # noqa: PLC0415

    screen, header = console(), [clean(name) for name in header]
    lines = [[clean(str(cell)) for cell in line] for line in lines]
    if title:
        screen.print(clean(title), style="bold")
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
    """Return the least width of a table: text can be folded, numbers cannot."""
    from rich.cells import cell_len  # noqa: PLC0415 - see app.py

    total = 0
    for number, cells in enumerate(zip(header, *lines, strict=True)):
        widest = max(cell_len(line) for cell in cells for line in str(cell).split("\n"))
        total += 1 + (min(widest, _FOLDED) if number < left else widest)
    return total + 1


def _print_record(screen: "Console", header: Sequence[str], line: Sequence[str], left: int) -> None:
    """Print one row of a table on several lines, for a narrow terminal."""
    from rich.cells import cell_len  # noqa: PLC0415 - see app.py

    screen.print(" ".join(str(cell) for cell in line[:left] if cell), style="bold")
    room = max(map(cell_len, header))
    for name, cell in zip(header[left:], line[left:], strict=True):
        screen.print(f"  {name:<{room}}  {' '.join(str(cell).split())}")


@contextmanager
def notes() -> Iterator[None]:
    """Show each of the library's warnings once, as a note."""
    seen: set[object] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        # A warning about a column has other figures in every fold.
        key: object = str(message)
        if isinstance(message, DataWarning):
            key = (message.kind, message.names)
        if key not in seen:
            seen.add(key)
            note(_with_option(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _with_option(message: Warning | str) -> str:
    """Add the command-line option that answers a warning of the library."""
    if not isinstance(message, DataWarning):
        return str(message)
    name = shlex.quote(message.names[0]) if message.names else ""
    cures = {
        "identifier": f" with --ignore {name}: schemas, counts and models list all its labels",
        "encoding": "; choose another encoding with --encoding",
        "numbers": "; choose other marks with --decimal and --thousands",
        "words": f"; keep them with --keep-text {name}",
        "sheet": "; save another sheet as CSV to read it",
    }
    return f"{message}{cures.get(message.kind, '')}"


def error_console() -> "Console | None":
    """Return standard error if it is a terminal, else None."""
    if not sys.stderr.isatty() and not os.environ.get("FORCE_COLOR"):
        return None
    from rich.console import Console  # noqa: PLC0415 - see app.py

    errors = Console(stderr=True, markup=False, emoji=False)
    return errors if errors.is_terminal else None


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal for work of more than two seconds.

    It shows the remaining time if the number of steps is known, otherwise the elapsed time. Folds
    advance it; for other steps it yields a function to call with the number done. A search inside
    is mentioned.
    """
    errors = error_console()
    if errors is None:
        yield lambda _: None
        return
    bar = new_bar(errors, timed=total is not None)
    task = bar.add_task(clean(label), total=total)
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()

    def show(step: Progress) -> None:
        if step.task in FOLDS:
            bar.update(task, completed=step.done)
        else:
            bar.update(task, description=f"{clean(label)}: {searching(step)}")

    try:
        with told(show):
            yield lambda done: bar.update(task, completed=done)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def new_bar(errors: "Console", *, timed: bool) -> "Bar":
    """Return a progress bar with the remaining time, or with the elapsed time.

    Its label is not markup: a file may be called data[red].csv.
    """
    from rich import progress as rich_progress  # noqa: PLC0415 - see app.py

    text = rich_progress.TextColumn
    columns: list[ProgressColumn] = [
        text("{task.description}", markup=False),
        rich_progress.BarColumn(bar_width=min(_BAR, errors.width // 4)),
    ]
    if timed:
        columns += [text("{task.percentage:>3.0f}%"), rich_progress.TimeRemainingColumn()]
        columns += [text("remaining")]
    else:
        columns += [rich_progress.TimeElapsedColumn()]
    return rich_progress.Progress(
        *columns, console=errors, transient=True, speed_estimate_period=_MEMORY_OF_SPEED
    )


def searching(step: Progress) -> str:
    """Say that a search is running, or how many models were tried.

    >>> searching(Progress("search", 12)), searching(Progress("candidates", 3, 20))
    ('searching', '3 of 20 models tried')
    """
    tried = step.task == "candidates"
    return f"{step.done} of {step.total} models tried" if tried else "searching"


def milliseconds(seconds: float) -> str:
    """Return a time in milliseconds, to three digits, without an exponent.

    >>> milliseconds(1.79412), milliseconds(0.00948)
    ('1,794', '9.48')
    """
    spent = 1000 * seconds
    return f"{spent:,.0f}" if spent >= 100 else f"{spent:.3g}"
