"""``unnaive schema``, ``count`` and ``merge``: counts travel, rows stay where they are."""

from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import counting, options
from unnaive.cli.counting import ENDING, Counting, Summary, named
from unnaive.cli.output import require_apart, require_writable, size_of
from unnaive.cli.terminal import print_json, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive.counts import JointCounts
    from unnaive.schema import Schema


Files = Annotated[
    list[Path], typer.Argument(metavar="DATA...", help="Rows: .csv, .tsv, .parquet or .arff.")
]
CountsFiles = Annotated[
    list[Path], typer.Argument(metavar="COUNTS...", help="What unnaive count wrote.")
]
SchemaOutput = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="Where the schema is saved.")
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="Where the counts are saved.")
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="Column that holds the class; a schema knows it."
    ),
]
Agreed = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="What unnaive schema wrote. Without it: learned from these rows.",
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FILE",
        help="Keep what is counted in this file, and take from it what is there.",
    ),
]
SkipBadFiles = Annotated[
    bool, typer.Option("--skip-bad-files", help="Count the other files, and name the bad ones.")
]
MinCell = Annotated[
    int | None,
    typer.Option(
        "--min-cell", metavar="N", min=2, help="Set every cell of fewer than N rows to zero."
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        metavar="E",
        help="Add noise, so that the counts are E-differentially private for every row; needs "
        "--schema, and OpenDP.",
    ),
]
NoPairs = Annotated[
    bool, typer.Option("--no-pairs", help="Count single columns alone, for naive Bayes.")
]


def schema(
    data: Files,
    *,
    target: options.Target,
    output: SchemaOutput,
    discretize: options.Discretize = None,
    bins: options.Bins = None,
    categorical: options.Categorical = None,
    ignore: options.Ignore = None,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Write down columns, categories and bins.

    Sites that count apart agree on them first. The file is JSON, a column a line. Categories and
    edges come from the rows: read it before it leaves the house. To add a category or move an
    edge, edit it and take its line "sha256" out.
    """
    from unnaive import __version__  # noqa: PLC0415 - see app.py
    from unnaive.schema.document import save_schema  # noqa: PLC0415 - see app.py

    given = options.binning(discretize, bins, categorical)
    require_writable(output, *data)
    with progress(f"reading {named(data)}", len(data)) as advance, options.checked(given):
        found, n_rows = counting.learned(data, target, given, advance, ignore=ignore, n_jobs=n_jobs)
    save_schema(found, output, __version__)
    summary: Summary = {"rows": n_rows, **counting.describe_schema(found), "file": str(output)}
    if json:
        print_json(summary)
        return
    _show(
        data=f"{named(data)}: {n_rows:,} rows",
        columns=counting.show_columns(summary),
        classes=f"{found.target}: {counting.first_of(list(map(str, found.classes)))}",
        written=f"{output} ({size_of(output)})",
        next=f"unnaive count SITE.csv --schema {quote(str(output))} -o site{ENDING}",
    )


def count(
    data: Files,
    *,
    output: Output,
    target: Target = None,
    schema: Agreed = None,
    resume: Resume = None,
    skip_bad_files: SkipBadFiles = False,
    min_cell: MinCell = None,
    epsilon: Epsilon = None,
    no_pairs: NoPairs = False,
    discretize: options.Discretize = None,
    bins: options.Bins = None,
    categorical: options.Categorical = None,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Count the rows of files, for models and other sites.

    Counts are all that most models need, and hold no row. Those that were made with one --schema
    add up. Columns that it does not name are left out.
    """
    given = options.binning(discretize, bins, categorical)
    _check_options(target, schema, min_cell, epsilon, given)
    require_apart(*data, *([schema] if schema else []), output=output, resume=resume)
    _refuse_twice(data)
    start = perf_counter()
    agreed = _agreed(schema, target)
    privacy = _privacy(agreed, min_cell, epsilon, no_pairs)
    how: Counting = {
        "pairs": None if no_pairs else "all",
        "n_jobs": n_jobs,
        "checkpoint": resume,
        "skip_bad_files": skip_bad_files,
        **given,
    }
    with options.checked(given):
        counts = counting.counted(data, agreed, target, how)
    counts = _protected(counts, min_cell, epsilon)
    counts.save(output)
    summary: Summary = {
        "files": [str(path) for path in data],
        "schema": None if schema is None else str(schema),
        **counting.describe_counts(counts),
        **privacy,
        "file": str(output),
        "seconds": round(perf_counter() - start, 3),
    }
    if json:
        print_json(summary)
    else:
        _show_counts(summary, f"unnaive merge {quote(str(output))} OTHER{ENDING} -o all{ENDING}")


def merge(data: CountsFiles, *, output: Output, json: options.AsJson = False) -> None:
    """Add counts up, as if all their rows had been in one place.

    They must have been made with the same schema.
    """
    require_writable(output, *data)
    _refuse_twice(data)
    with progress(f"adding {len(data)} counts", len(data)) as advance:
        total = counting.added(data, advance)
    total.save(output)
    files = [str(path) for path in data]
    summary: Summary = {"files": files, **counting.describe_counts(total), "file": str(output)}
    if json:
        print_json(summary)
    else:
        _show_counts(summary, f"unnaive fit {quote(str(output))} --model tan -o model.unb")


# What is asked for


def _agreed(path: Path | None, target: str | None) -> "Schema | None":
    from unnaive.schema.document import load_schema  # noqa: PLC0415 - see app.py

    if path is None:
        return None
    found = load_schema(path)
    if target not in {None, found.target}:
        raise ValueError(
            f"{path} is for the target {found.target!r}, not for {target!r}; leave --target out, "
            "or write another schema"
        )
    return found


def _check_options(
    target: str | None,
    schema: Path | None,
    min_cell: int | None,
    epsilon: float | None,
    given: options.Binning,
) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if schema is None and target is None:
        raise typer.BadParameter(
            "name the column that holds the class, or a --schema that knows it",
            param_hint="--target",
        )
    if schema is not None and given:
        named = next(iter(given)).removesuffix("_features")
        raise ValueError(f"--{named} is settled by --schema; give it to unnaive schema instead")
    if epsilon is not None and schema is None:
        raise ValueError(
            "--epsilon needs --schema: categories and bins learned from these rows would tell of "
            "them; agree on a schema first, with unnaive schema"
        )
    if epsilon is not None and min_cell is not None:
        raise ValueError(
            "--min-cell and --epsilon do not go together: the noise hides small cells already; "
            "leave one of them out"
        )


def _refuse_twice(paths: "Sequence[Path]") -> None:
    seen = set()
    for path in paths:
        if path.resolve() in seen:
            raise ValueError(f"{path} is named twice, and would be counted twice; name it once")
        seen.add(path.resolve())


# Privacy


def _privacy(
    agreed: "Schema | None", min_cell: int | None, epsilon: float | None, no_pairs: bool
) -> Summary:
    """Tell what will be done to the counts; raise before the work if it cannot be."""
    from unnaive.counts.joint import all_pairs  # noqa: PLC0415 - see app.py
    from unnaive.counts.privacy import noise  # noqa: PLC0415 - see app.py

    if min_cell is not None:
        return {"min_cell": min_cell}
    if epsilon is None or agreed is None:
        return {}
    shares = noise(agreed, epsilon, None if no_pairs else all_pairs(len(agreed.columns)))
    return {"epsilon": epsilon, "noise": [one._asdict() for one in shares]}


def _protected(counts: "JointCounts", min_cell: int | None, epsilon: float | None) -> "JointCounts":
    from unnaive.counts.privacy import noisy, suppress  # noqa: PLC0415 - see app.py

    if min_cell is not None:
        return suppress(counts, min_cell)
    if epsilon is None:
        return counts
    with progress("drawing noise"):
        return noisy(counts, epsilon)


# What people see


def _show_counts(summary: Summary, following: str) -> None:
    lines = counting.show_rows(summary, named(summary["files"]))
    if "min_cell" in summary:
        lines["hidden"] = f"cells of 1 to {summary['min_cell'] - 1} rows are 0 now, in every table"
    if "epsilon" in summary:
        scales = ", ".join(f"{one['scale']:.3g} on {one['kind']}" for one in summary["noise"])
        lines["noise"] = f"ε = {summary['epsilon']:g} for a row; scale {scales}"
    file = Path(summary["file"])
    spent = f" in {summary['seconds']:.2f} s" if "seconds" in summary else ""
    _show(**lines, written=f"{file} ({size_of(file)}){spent}", next=following)


def _show(**lines: str) -> None:
    for name, value in lines.items():
        typer.echo(f"{name:<9}{value}")
