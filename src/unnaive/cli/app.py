"""The command ``unnaive``: its sub-commands, and how errors are reported."""

import errno
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from textwrap import indent
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import unnaive
from unnaive import _scikit
from unnaive.cli import (
    check,
    compare,
    counts,
    demo,
    drift,
    evaluate,
    explain,
    export,
    fit,
    models,
    predict,
    report,
    reproduce,
    signing,
)
from unnaive.cli.terminal import blame, notes, say

# The commands import the packages they use when they run, so that --help and a mistyped option
# are quick. Some of them do not need scikit-learn, whose import takes a second.

_WITHOUT = {"check", "fit", "predict", "models", "schema", "count", "merge", "sign", "verify"}
_INTERRUPTED = 130  # exit code, as shells have it
_CURES = {
    errno.ENOENT: "check its name and folder",
    errno.EACCES: "ask its owner for permission, or use a copy",
    errno.ENOSPC: "free some space, or write to another disk",
}


class Commands(TyperGroup):
    """The sub-commands; errors that the user can correct are one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a sub-command."""
        try:
            with notes():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise typer.Exit(_INTERRUPTED) from None
        except (ValueError, OSError, MemoryError) as error:
            _give_up_stdout()
            if os.environ.get("UNNAIVE_TRACEBACK"):
                raise
            if not isinstance(error, BrokenPipeError):
                blame(_one_line(error))
            raise typer.Exit(1) from None
        return result

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program; Ctrl-C prints one line."""
        try:
            return super().main(*args, **kwargs)
        except SystemExit as end:
            if end.code == _INTERRUPTED:
                say("interrupted")
            raise


def _one_line(error: BaseException) -> str:
    """Return the message of an error in one line, with a cure for errors of the system."""
    text = str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        text = f"not enough memory ({text})"
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        if error.errno in _CURES and error.strerror == os.strerror(error.errno):
            text += f"; {_CURES[error.errno]}"
    return " ".join(text.split())


def _give_up_stdout() -> None:
    """Redirect a broken standard output to nothing, or Python complains at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unnaive {unnaive.__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  unnaive demo
  unnaive fit patients.csv --target diagnosis -o patients.unb
  unnaive predict patients.unb new.csv

\b
unnaive --install-completion: complete commands, options and models with the Tab key.
UNNAIVE_TRACEBACK=1 shows the traceback of an error; NO_COLOR=1 turns colors off.""",
)


@app.callback()
def describe(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Bayesian classifiers that do not pretend features are independent."""


def _add(command: Callable[..., None]) -> None:
    """Add a sub-command; the lines under "Examples" in its docstring are printed last."""
    text, _, examples = (inspect.getdoc(command) or "").partition("\n\nExamples\n--------\n")
    app.command(help=text, epilog=f"\b\nExamples:\n{indent(examples, '  ')}")(command)


for _command in (
    check.check,
    fit.fit,
    predict.predict,
    explain.explain,
    evaluate.evaluate,
    report.report,
    export.export,
    compare.compare,
    reproduce.reproduce,
    models.models,
    demo.demo,
    counts.schema,
    counts.count,
    counts.merge,
    drift.drift,
    signing.sign,
    signing.verify,
):
    _add(_command)


def main() -> None:
    """Run the command line."""
    if _WITHOUT.intersection(sys.argv[1:2]):
        _scikit.do_without()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without ± shows ? instead
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="unnaive")
    except (KeyboardInterrupt, SystemExit) as end:
        # Threads may still be busy for minutes, with work that is no longer needed.
        if getattr(end, "code", _INTERRUPTED) == _INTERRUPTED:
            sys.stderr.flush()
            os._exit(_INTERRUPTED)
        raise
