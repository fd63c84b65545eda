"""``unnaive schema``, ``count`` and ``merge``: counts leave a site, rows do not."""

from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import counting, options, queries
from unnaive.cli.counting import ENDING, Counting, named
from unnaive.cli.options import flag, option
from unnaive.cli.output import require_apart, require_writable, size_of
from unnaive.cli.terminal import print_json, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State
    from unnaive.counts import JointCounts
    from unnaive.schema import Schema


Files = Annotated[
    list[Path], typer.Argument(metavar="DATA...", help=f"Files of rows: {options.FORMATS}.")
]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help=f"Files of rows: {options.FORMATS}. With --query: postgresql://user@host/name, or a "
        "file of SQLite or DuckDB.",
    ),
]
CountsFiles = Annotated[
    list[Path], typer.Argument(metavar="COUNTS...", help="Files written by unnaive count.")
]
SchemaOutput = Annotated[Path, option("--output -o", "FILE", "File for the schema.")]
Output = Annotated[Path, option("--output -o", "FILE", "File for the counts.")]
Target = Annotated[
    str | None, option("--target -t", "COLUMN", "Target column; not needed with --schema.")
]
Agreed = Annotated[
    Path | None,
    option(
        "--schema",
        "FILE",
        "File written by unnaive schema. Without it, categories and bins are learned from "
        "these rows.",
    ),
]
SkipBadFiles = Annotated[
    bool, flag("--skip-bad-files", "Skip files that cannot be read, with a note for each.")
]
MinCell = Annotated[int | None, option("--min-cell", "N", "Set counts below N to zero.", min=2)]
Epsilon = Annotated[
    float | None,
    option(
        "--epsilon",
        "E",
        "Add noise that makes the counts E-differentially private for each row. Needs "
        "--schema, and OpenDP.",
    ),
]
RulesFile = Annotated[
    Path | None,
    option(
        "--rules",
        "FILE",
        "JSON file with other names of columns, categories and classes; see docs.",
    ),
]
Grow = Annotated[
    bool, flag("--grow", "Add categories and classes that only some of the files know.")
]
NoPairs = Annotated[bool, flag("--no-pairs", "Count single columns only, for naive Bayes.")]


@options.expand
def schema(
    data: Files,
    *,
    target: options.Target,
    output: SchemaOutput,
    binning: options.Binning,
    ignore: options.Ignore = None,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Write the columns, categories and bins of files.

    Sites that count their rows separately must use the same schema. The file is JSON, one line for
    each column. Categories and bin edges come from the rows: check the file before you share it. To
    add a category or move an edge, edit the file and delete its line "sha256".

    Examples
    --------
    unnaive schema patients.csv --target diagnosis --ignore id -o schema.json
    """
    from unnaive import __version__  # noqa: PLC0415 - see app.py
    from unnaive.schema.document import save_schema  # noqa: PLC0415 - see app.py

    training = options.Training(**vars(binning), ignore=ignore)
    require_writable(output, *data)
    reading = progress(f"reading {named(data)}", len(data))
    with reading as advance, options.checked(training.parameters()):
        learned, n_rows = counting.learned(data, target, training, advance, n_jobs)
    save_schema(learned, output, __version__)
    summary: State = {"rows": n_rows, **counting.describe_schema(learned), "file": str(output)}
    if json:
        print_json(summary)
        return
    counting.show_lines(
        data=f"{named(data)}: {n_rows:,} rows",
        columns=counting.show_columns(summary),
        classes=f"{learned.target}: {counting.first_of(list(map(str, learned.classes)))}",
        saved=f"{output} ({size_of(output)})",
        next=f"unnaive count SITE.csv --schema {quote(str(output))} -o site{ENDING}",
    )


@options.expand
def count(
    data: Sources,
    *,
    output: Output,
    target: Target = None,
    query: queries.Query = None,
    schema: Agreed = None,
    resume: options.Resume = None,
    skip_bad_files: SkipBadFiles = False,
    min_cell: MinCell = None,
    epsilon: Epsilon = None,
    no_pairs: NoPairs = False,
    binning: options.Binning,
    ignore: options.Ignore = None,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Count the rows of files.

    Models such as nb, tan, aode and hnb can be fitted to counts, which hold no rows. Counts made
    with the same --schema can be added with unnaive merge. Columns that the schema does not have
    are left out.

    Examples
    --------
    unnaive count patients.csv --target diagnosis --ignore id -o patients.counts
    unnaive count ward-*.parquet --schema schema.json --resume count.part -o site.counts
    unnaive count wards.duckdb --query "select * from visits" --schema schema.json -o site.counts
    """
    files, named_files = [Path(name) for name in data] if query is None else [], data
    chosen = binning.binning()
    _check_options(target, schema, min_cell, epsilon, [*chosen, *(["ignore"] if ignore else [])])
    require_apart(*files, *([schema] if schema else []), output=output, resume=resume)
    _refuse_twice(files)
    start = perf_counter()
    agreed = _agreed(schema, target)
    training = options.Training(**vars(binning), ignore=ignore)
    if ignore and target is not None and query is None:
        agreed, chosen = _schema_without(files, target, training, n_jobs), {}
    privacy = _privacy(agreed, min_cell, epsilon, no_pairs)
    how: Counting = {
        "pairs": None if no_pairs else "all",
        "n_jobs": n_jobs,
        "checkpoint": resume,
        "skip_bad_files": skip_bad_files,
        "reading": binning.reading(),
        **chosen,
    }
    with options.checked(chosen):
        if query is None:
            for name in data:
                queries.refuse_database(name)
            counts = counting.counted(files, agreed, target, how)
        else:
            queries.refuse_file_options(training, resume=resume, skip_bad_files=skip_bad_files)
            with progress("counting the rows of the query"):
                counts, source = queries.counted(_only(data), query, agreed, target, how, chosen)
            named_files = [source]
    counts = _protected(counts, min_cell, epsilon)
    counts.save(output)
    summary: State = {
        "files": named_files,
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


def merge(
    data: CountsFiles,
    *,
    output: Output,
    rules: RulesFile = None,
    grow: Grow = False,
    json: options.AsJson = False,
) -> None:
    """Add counts files.

    The result equals the counts of all rows together. The files must have been made with the same
    schema, or rules must bring their schemas together: they rename columns, categories and classes,
    merge categories and bins, and drop columns.

    Examples
    --------
    unnaive merge oslo.counts bern.counts -o all.counts
    unnaive merge oslo.counts bern.counts --rules rules.json --grow -o all.counts
    """
    require_writable(output, *data)
    _refuse_twice(data)
    agreed = None
    if rules is not None:
        from unnaive.counts.rules import load_rules  # noqa: PLC0415 - see app.py

        agreed = load_rules(rules)
    with progress(f"adding {len(data)} files", len(data)) as advance:
        total = counting.added(data, advance, agreed, grow=grow)
    total.save(output)
    files = [str(path) for path in data]
    summary: State = {"files": files, **counting.describe_counts(total), "file": str(output)}
    if json:
        print_json(summary)
    else:
        _show_counts(summary, f"unnaive fit {quote(str(output))} --model tan -o model.unb")


# Checks


def _agreed(path: Path | None, target: str | None) -> "Schema | None":
    from unnaive.schema.document import load_schema  # noqa: PLC0415 - see app.py

    if path is None:
        return None
    schema = load_schema(path)
    if target not in {None, schema.target}:
        raise ValueError(
            f"the target of {path} is {schema.target!r}, not {target!r}; leave --target out, or "
            "write another schema"
        )
    return schema


def _schema_without(
    files: "Sequence[Path]", target: str, training: options.Training, n_jobs: int
) -> "Schema":
    """Learn the schema of files without the columns that are left out."""
    counting.note_of_own_schema()
    reading = progress(f"reading {named(files)}", len(files))
    with reading as advance, options.checked(training.parameters()):
        return counting.learned(files, target, training, advance, n_jobs)[0]


def _check_options(
    target: str | None,
    schema: Path | None,
    min_cell: int | None,
    epsilon: float | None,
    chosen: "Sequence[str]",
) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if schema is None and target is None:
        raise typer.BadParameter("name the target column, or use --schema", param_hint="--target")
    if schema is not None and chosen:
        named = chosen[0].removesuffix("_features").replace("_", "-")
        raise ValueError(f"--{named} cannot be used with --schema; use it with unnaive schema")
    if epsilon is not None and schema is None:
        raise ValueError(
            "--epsilon needs --schema, because categories and bins learned from these rows would "
            "reveal information about them; write a schema first, with unnaive schema"
        )
    if epsilon is not None and min_cell is not None:
        raise ValueError(
            "--min-cell and --epsilon cannot be combined: the noise already hides small counts; "
            "leave one of them out"
        )


def _only(data: "Sequence[str]") -> str:
    if len(data) > 1:
        raise ValueError(f"--query needs one database, not {len(data)}; count them one by one")
    return data[0]


def _refuse_twice(paths: "Sequence[Path]") -> None:
    seen = set()
    for path in paths:
        if path.resolve() in seen:
            raise ValueError(f"{path} is named twice and would be counted twice; name it once")
        seen.add(path.resolve())


# Privacy


def _privacy(
    agreed: "Schema | None", min_cell: int | None, epsilon: float | None, no_pairs: bool
) -> "State":
    """Describe the protection of the counts; raise before the work if it is not possible."""
    from unnaive.counts.privacy import noise  # noqa: PLC0415 - see app.py
    from unnaive.counts.sizes import all_pairs  # noqa: PLC0415 - see app.py

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


# Output for people


def _show_counts(summary: "State", following: str) -> None:
    lines = counting.row_lines(summary, named(summary["files"]))
    if "min_cell" in summary:
        lines["hidden"] = f"counts of 1 to {summary['min_cell'] - 1} are set to 0 in every table"
    if "epsilon" in summary:
        scales = ", ".join(f"{one['scale']:.3g} on {one['kind']}" for one in summary["noise"])
        lines["noise"] = f"ε = {summary['epsilon']:g} for each row; scale {scales}"
    file = Path(summary["file"])
    spent = f" in {summary['seconds']:.2f} s" if "seconds" in summary else ""
    counting.show_lines(**lines, saved=f"{file} ({size_of(file)}){spent}", next=following)
