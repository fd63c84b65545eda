"""The command ``unnaive``: its sub-commands, and how errors are reported."""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import unnaive
from unnaive import _scikit
from unnaive.cli import (
    compare,
    counts,
    demo,
    evaluate,
    explain,
    fit,
    models,
    predict,
    report,
    reproduce,
)
from unnaive.cli.terminal import blame, notes, say

# The commands import the packages they use when they run, so that --help and a mistyped option
# are quick. Some of them do not need scikit-learn, whose import takes a second.

_WITHOUT = {"fit", "predict", "models", "schema", "count", "merge"}
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


def _add(command: Callable[..., None], *examples: str) -> None:
    """Add a sub-command with its examples."""
    lines = "\n".join(f"  unnaive {example}" for example in examples)
    app.command(epilog=f"\b\nExamples:\n{lines}")(command)


_add(
    fit.fit,
    "fit patients.csv --target diagnosis -o patients.unb",
    "fit patients.csv -t diagnosis --ignore id --model tan -o patients.unb",
    "fit all.counts --model tan -o patients.unb",
)
_add(
    predict.predict,
    "predict patients.unb new.csv",
    "predict patients.unb new.csv --proba -o predicted.csv",
)
_add(
    explain.explain,
    "explain patients.unb new.csv --row 3",
    "explain patients.unb new.csv --positive ill --what-if --ask",
)
_add(
    evaluate.evaluate,
    "evaluate patients.csv --target diagnosis",
    "evaluate patients.csv -t diagnosis -m tan -m aode --repeats 10",
    "evaluate patients.csv -t diagnosis -m tan --leave-one-out",
)
_add(
    report.report,
    "report patients.unb patients.csv -o report.html",
    "report patients.unb later.csv --new-rows --positive ill -o later.html",
)
_add(
    compare.compare,
    "compare patients.csv --target diagnosis --models nb,tan,aode",
    "compare patients.csv -t diagnosis --models all --repeats 10 --resume runs.jsonl",
    "compare patients.csv -t diagnosis --metrics log_loss,auc --html models.html",
)
_add(
    reproduce.reproduce,
    "reproduce phnb --quick",
    "reproduce eda --honest --resume eda.jsonl -o eda.json",
    "reproduce gnb --only Wdbc --runs 20",
)
_add(models.models, "models", "models --json")
_add(demo.demo, "demo")
_add(counts.schema, "schema patients.csv --target diagnosis --ignore id -o schema.json")
_add(
    counts.count,
    "count patients.csv --schema schema.json -o site.counts",
    "count ward-*.parquet --schema schema.json --resume count.part -o site.counts",
    "count patients.csv --schema schema.json --epsilon 1 -o site.counts",
)
_add(counts.merge, "merge oslo.counts bern.counts -o all.counts")


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
