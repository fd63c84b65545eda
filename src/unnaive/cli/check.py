"""``unnaive check``, and the data check of the commands that fit models."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from unnaive.cli import options
from unnaive.cli.rows import read_training
from unnaive.cli.terminal import clean, console, listed, note, print_json, print_table, progress

if TYPE_CHECKING:
    from collections.abc import Collection

    from unnaive._typing import State
    from unnaive.checks import DataCheck, Finding
    from unnaive.cli.rows import TrainingRows
    from unnaive.io.frames import Frame

_SHOWN = 3  # findings that a command that fits models shows


@options.expand
def check(
    data: options.Data,
    *,
    target: options.Target,
    ignore: options.Ignore = None,
    cells: options.Cells,
    json: options.AsJson = False,
) -> None:
    """Look for problems in a file before a model is fitted.

    Finds identifiers, free text, columns that decide the class, numbers with separators or words,
    dates, mixed spellings, constant and duplicate columns, and problems of the target. Says what to
    do about each.

    Examples
    --------
    unnaive check patients.csv --target diagnosis
    unnaive check patients.csv -t diagnosis --json
    """
    from unnaive.checks import check_data  # noqa: PLC0415 - see app.py

    with progress(f"reading {data.name}"):
        rows = read_training(data, target, options.Training(**vars(cells), ignore=ignore))
        result = check_data(rows.frame, rows.target)
    if json:
        print_json({"data": str(data), "target": target, **result.to_dict()})
        return
    summary = result.text().split("\n", 1)[0]
    lines = [[finding.severity, finding.evidence, finding.cure] for finding in result.findings]
    if lines:
        print_table(["", "finding", "what to do"], lines, left=3, title=f"{data}: {summary}")
    else:
        console().print(clean(f"{data}: {summary}"))


def read_checked(
    path: Path, target: str, training: options.Training
) -> "tuple[TrainingRows, State]":
    """Read a file, leave out identifiers, free text and dates, and note other findings.

    Also return the findings and the columns left out, for ``--json``. Columns of ``--keep`` and
    ``--categorical`` stay, and so do dates of which most are the same.
    """
    from unnaive.checks import check_data  # noqa: PLC0415 - see app.py

    rows = read_training(path, target, training)
    result = check_data(rows.frame, rows.target)
    wanted = {*(training.keep or []), *(training.categorical or [])}
    useless = [*result.leave_out, *_different_dates(result, rows.frame)]
    left_out = [name for name in useless if name not in wanted]
    if len(left_out) == len(rows.frame.names):
        left_out = []
    kept = [name for name in rows.frame.names if name not in left_out]
    command = f"unnaive check {shlex.quote(str(path))} -t {shlex.quote(target)}"
    _note_findings(result, left_out, wanted, command)
    state = {"findings": result.to_dict()["findings"], "left_out": left_out}
    return rows._replace(frame=rows.frame.select(kept) if left_out else rows.frame), state


def _different_dates(result: "DataCheck", frame: "Frame") -> list[str]:
    """Columns of dates as text of which most occur once, so that new rows have other ones."""
    from unnaive.checks import DATES  # noqa: PLC0415 - see app.py

    dates = [one.columns[0] for one in result.findings if one.kind == DATES]
    columns = [frame.column(frame.names.index(name)) for name in dates]
    return [
        column.name
        for column in columns
        if 2 * len(column.categories or ()) > frame.n_rows - column.missing.sum()
    ]


def _note_findings(
    result: "DataCheck", left_out: list[str], wanted: "Collection[str]", command: str
) -> None:
    """Note which columns are left out and why, and the first findings about other columns."""
    why = {name: finding.kind for finding in result.findings for name in finding.columns}
    if left_out:
        kinds = [f"{name!r} ({why[name]})" for name in left_out[:_SHOWN]]
        more = f" and {len(left_out) - _SHOWN} more" if len(left_out) > _SHOWN else ""
        keep = f"--keep {shlex.quote(left_out[0])}"
        note(f"left out: {', '.join(kinds)}{more}; to use a column, {keep}")
    known = {*left_out, *wanted}
    others = [finding for finding in result.findings if not known.intersection(finding.columns)]
    severe = [finding for finding in others if finding.severity != "note"][:_SHOWN]
    for finding in severe:
        note(_brief(finding))
    # Models warn of columns without values themselves.
    hidden = [one.kind for one in others if one not in severe and one.kind != "all missing"]
    if hidden:
        kinds = list(dict.fromkeys(hidden))
        note(f"also found: {listed(kinds).replace(chr(39), '')}; details: {command}")
    elif severe:
        note(f"what to do about it: {command}")


def _brief(finding: "Finding") -> str:
    """Return the evidence as the rest of a line."""
    return finding.evidence[0].lower() + finding.evidence[1:].removesuffix(".")
