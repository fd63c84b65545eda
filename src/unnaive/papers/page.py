"""The results page: files written by ``unnaive reproduce … -o FILE.json``, as Markdown.

``python -m unnaive.papers.page docs/results > docs/results.md``
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING

from unnaive.exceptions import DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from unnaive._typing import State
    from unnaive.papers.experiment import Line

PAPERS = {  # module of a paper: name of its experiment
    "gnb": "GNBExperiment",
    "phnb": "PHNBExperiment",
    "eda": "EDAExperiment",
    "knaive": "KNaiveExperiment",
}
COMMAND = "python -m unnaive.papers.page docs/results > docs/results.md"
_MARKS = {True: "yes", False: "**no**", None: ""}
_HEAD = f"""# Reproduced experiments

The tables are results of `unnaive reproduce`, which follows the protocol of each paper on its data
sets. *Runs* is the number of our runs, where it differs within a table. *Difference* is our result
minus the published one. *Near* says whether chance (two standard deviations) or rounding can
explain it, as each paper's section says; it is empty where this cannot be judged. *Inferred* is our
result by a reading that the text of the paper does not give, but that its figures suggest. *Honest*
is our result without the optimistic bias of the protocol. Times are those of all runs
together. This page is made from the files of
`unnaive reproduce PAPER -o docs/results/PAPER.json` by

    {COMMAND}
"""


def results_page(folder: Path) -> str:
    """Return the page of all results in a folder."""
    order = [*PAPERS]
    results = [_read(path) for path in sorted(folder.glob("*.json"))]
    results.sort(key=lambda result: order.index(result["paper"]))
    parts = [_HEAD, *map(_section, results)]
    missing = [key for key in order if key not in {result["paper"] for result in results}]
    if missing:
        commands = "\n".join(
            f"    unnaive reproduce {key} --honest -o docs/results/{key}.json" for key in missing
        )
        parts.append(f"## Missing\n\nThere are no results of these yet:\n\n{commands}\n")
    return "\n".join(parts)


def tables(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Group lines by the paper's tables, in the order of the lines."""
    return _grouped(lines, lambda line: heading(line.table))


def _grouped(lines: Iterable[Line], key: Callable[[Line], str]) -> dict[str, list[Line]]:
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return groups


def heading(table: str) -> str:
    """Return the heading of a table of a paper.

    Examples
    --------
    >>> heading("2"), heading("error matrices")
    ('Table 2', 'Error matrices')
    """
    return f"Table {table}" if table.isdigit() else table[:1].upper() + table[1:]


def figure(value: float | None, metric: str, *, sign: bool = False) -> str:
    """Format a figure with two or four decimals, depending on the metric; "" for None.

    Examples
    --------
    >>> figure(94.2477, "accuracy %"), figure(0.9442, "f1"), figure(0.3, "accuracy %", sign=True)
    ('94.25', '0.9442', '+0.30')
    """
    if value is None:
        return ""
    digits = 2 if "%" in metric or "time" in metric else 4
    if abs(value) >= 10:
        digits = 2 if abs(value) < 1000 else 0
    return f"{value:{'+' if sign else ''},.{digits}f}"


def ours_of(line: Line) -> str:
    """Format our result with its standard deviation."""
    spread = f" ± {figure(line.deviation, line.metric)}" if line.deviation is not None else ""
    return figure(line.ours, line.metric) + spread


def layout(
    lines: Sequence[Line], marks: Mapping[bool | None, str], *without: str
) -> tuple[list[str], list[list[str]]]:
    """Return header and cells of a table, without empty columns and those in ``without``.

    The number of runs is a column if it differs between lines.
    """
    varied = len({line.runs for line in lines}) > 1
    rows = [
        {
            "data": line.data,
            "model": line.model,
            "metric": line.metric,
            "paper": figure(line.published, line.metric),
            "ours": ours_of(line),
            "runs": str(line.runs) if varied else "",
            "difference": figure(line.difference, line.metric, sign=True),
            "near": marks[line.within],
            "inferred": figure(line.inferred, line.metric),
            "inferred near": marks[line.inferred_within],
            "honest": figure(line.honest, line.metric),
            "note": line.note,
        }
        for line in lines
    ]
    names = [name for name in rows[0] if name not in without and any(row[name] for row in rows)]
    return names, [[row[name] for name in names] for row in rows]


def settings_of(settings: State, seconds: float) -> str:
    """Describe the settings of a run in words."""
    parts = ["1 run" if settings["runs"] == 1 else f"{settings['runs']} runs"]
    parts.append(f"seed {settings['seed']}")
    parts += ["quick, with fewer data"] if settings.get("quick") else []
    parts.append("with honest figures" if settings.get("honest") else "without honest figures")
    spent = f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"
    return ", ".join([*parts, spent])


def _read(path: Path) -> State:
    from unnaive.papers.experiment import Line  # noqa: PLC0415 - costs time to import

    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        fields = Line.__dataclass_fields__
        result["lines"] = [
            Line(**{name: value for name, value in line.items() if name in fields})
            for line in result["lines"]
        ]
        known = {"title", "settings", "remarks", "seconds"} <= result.keys()
        if not known or result["paper"] not in PAPERS:
            raise KeyError("paper")  # noqa: TRY301 - the same error as for other faults
    except (ValueError, KeyError, TypeError) as error:
        raise DataFileError(
            f"{path} is not a result of unnaive reproduce; write it again with -o {path}"
        ) from error
    return dict(result)


def _section(result: State) -> str:
    parts = [f"## {result['title']} (`{result['paper']}`)", *_protocol(result["paper"])]
    untimed = result.get("untimed")  # None: of an older version, by the clock
    earlier = " by the clock" if untimed is None else " of processor time"
    earlier += f"; the time of {untimed} earlier units is not known" if untimed else ""
    parts.append(f"*{settings_of(result['settings'], result['seconds'])}{earlier}*")
    for name, lines in tables(result["lines"]).items():
        by_metric = _grouped(lines, lambda line: line.metric)
        parts.append(f"### {name}")
        if max(map(len, by_metric.values())) == 1:  # every line has another metric
            parts.append(_table(lines))
            continue
        for metric, some in by_metric.items():
            parts += [f"{metric[:1].upper()}{metric[1:]}:", _table(some, "metric")]
    if result["remarks"]:
        parts.append("\n".join(f"- {_safe(remark)}" for remark in result["remarks"]))
    return "\n\n".join(parts) + "\n"


def _protocol(paper: str) -> list[str]:
    """Return the paragraphs of the docstring of a paper's module."""
    module = import_module(f"unnaive.papers.{paper}")
    return [" ".join(part.split()) for part in cleandoc(module.__doc__ or "").split("\n\n")]


def _table(lines: Sequence[Line], *without: str) -> str:
    names, rows = layout(lines, _MARKS, *without)
    numbers = {"paper", "ours", "runs", "difference", "inferred", "honest"}
    rule = ["---:" if name in numbers else "---" for name in names]
    cells = [names, rule, *([_safe(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _safe(text: str) -> str:
    """Escape bars, which would end a cell in Markdown."""
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Print the page of the folder named on the command line."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit(f"name the folder of results: {COMMAND}")
    sys.stdout.buffer.write(results_page(Path(sys.argv[1])).encode())


if __name__ == "__main__":
    main()
