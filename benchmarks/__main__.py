"""``python -m benchmarks peers | limit | phnb | gnb | scaling | start``; each takes --help."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks import data


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    main_parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = main_parser.add_subparsers(dest="command", required=True)
    peers = commands.add_parser("peers", help="against other libraries, on one data set")
    _add_shape(peers, data.Shape())
    peers.add_argument("--repeats", type=int, default=3, help="measurements of each; best counts")
    peers.add_argument("--jobs", type=int, default=2, help="threads")
    peers.add_argument("--limit", type=float, default=300.0, help="seconds a library may take")
    peers.add_argument("--only", action="append", help="one library (repeatable)")
    peers.add_argument("--json", help="write the figures to this file too")
    limit = commands.add_parser("limit", help="against what the machine can do")
    _add_shape(limit, data.Shape(rows=1_000_000, columns=100))
    limit.add_argument("--rounds", type=int, default=7, help="interleaved measurements")
    limit.add_argument("--jobs", type=int, default=2, help="threads")
    limit.add_argument("--only", action="append", help="one part (repeatable)")
    limit.add_argument("--json", help="write the figures to this file too")
    _add_phnb(commands)
    _add_gnb(commands)
    _add_knaive(commands)
    scaling = commands.add_parser("scaling", help="time against rows, columns, values, …")
    scaling.add_argument("--repeats", type=int, default=5)
    scaling.add_argument("--jobs", type=int, default=2, help="threads, where they do not vary")
    start = commands.add_parser("start", help="import, and the first fit of a process")
    start.add_argument("--repeats", type=int, default=5)
    _add_hidden(commands)
    return main_parser


def _add_shape(command: argparse.ArgumentParser, default: data.Shape) -> None:
    for name in ("rows", "columns", "values", "classes", "seed"):
        command.add_argument(f"--{name}", type=int, default=getattr(default, name))


def _add_phnb(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    phnb = commands.add_parser("phnb", help="the PHNB paper's headline, on its data sets")
    phnb.add_argument("--data", help="folder of the papers' data sets; default: $UNNAIVE_DATA")
    phnb.add_argument("--folds", type=int, default=10)
    phnb.add_argument("--repeats", type=int, default=1, help="of the cross-validation")
    phnb.add_argument("--jobs", type=int, default=2, help="threads of the fits")
    phnb.add_argument("--only", action="append", help="one data set (repeatable)")
    phnb.add_argument("--json", help="write the figures to this file too")


def _add_gnb(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    gnb = commands.add_parser("gnb", help="the GNB paper: its trees, their cost, its accuracies")
    gnb.add_argument("--data", help="folder of the papers' data sets; default: $UNNAIVE_DATA")
    gnb.add_argument("--splits", type=int, default=100, help="random splits for the accuracies")
    gnb.add_argument("--jobs", type=int, default=2, help="threads")
    gnb.add_argument("--only", action="append", help="one part (repeatable)")
    gnb.add_argument("--json", help="write the figures to this file too")


def _add_knaive(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    knaive = commands.add_parser("knaive", help="k-naive Bayes: speed, search, the thesis' WDBC")
    knaive.add_argument("--rounds", type=int, default=7, help="interleaved measurements")
    knaive.add_argument("--seeds", type=int, default=10, help="shuffles of WDBC")
    knaive.add_argument("--only", action="append", help="one part (repeatable)")
    knaive.add_argument("--json", help="write the figures to this file too")


def _add_hidden(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add what the benchmarks start in processes of their own."""
    measure = commands.add_parser("measure")
    measure.add_argument("name")
    measure.add_argument("folder")
    measure.add_argument("out", type=Path)
    measure.add_argument("--repeats", type=int, default=3)
    measure.add_argument("--jobs", type=int, default=2)
    memory = commands.add_parser("memory")
    memory.add_argument("folder", type=Path)
    memory.add_argument("--jobs", type=int, default=2)


def _shape(options: argparse.Namespace) -> data.Shape:
    return data.Shape(options.rows, options.columns, options.values, options.classes, options.seed)


def _check_only(main_parser: argparse.ArgumentParser, only: list[str] | None, known: Any) -> None:
    for name in only or ():
        if name not in known:
            main_parser.error(f"--only {name}: not one of {', '.join(known)}")


def main() -> None:
    """Run the command that was asked for; each imports what it needs and nothing else."""
    main_parser = parser()
    options = main_parser.parse_args()
    if options.command == "peers":
        from benchmarks import peers  # noqa: PLC0415

        _check_only(main_parser, options.only, peers.RIVALS)
        how = {"repeats": options.repeats, "jobs": options.jobs, "limit": options.limit}
        peers.run(_shape(options), **how, only=options.only, json_file=options.json)
    elif options.command == "limit":
        from benchmarks import limit  # noqa: PLC0415

        _check_only(main_parser, options.only, limit.PARTS)
        limit.run(_shape(options), options.rounds, options.jobs, options.only, options.json)
    elif options.command == "phnb":
        from benchmarks import paper, phnb  # noqa: PLC0415

        _check_only(main_parser, options.only, paper.NAMES)
        folder = paper.data_folder(options.data)
        how = {"folds": options.folds, "repeats": options.repeats, "jobs": options.jobs}
        phnb.run(folder, **how, only=options.only, json_file=options.json)
    elif options.command == "gnb":
        from benchmarks import gnb  # noqa: PLC0415

        _check_only(main_parser, options.only, gnb.PARTS)
        how = {"splits": options.splits, "jobs": options.jobs}
        gnb.run(options.data, **how, only=options.only, json_file=options.json)
    elif options.command == "knaive":
        from benchmarks import knaive  # noqa: PLC0415

        _check_only(main_parser, options.only, knaive.PARTS)
        how = {"rounds": options.rounds, "seeds": options.seeds}
        knaive.run(**how, only=options.only, json_file=options.json)
    elif options.command == "scaling":
        from benchmarks import scaling  # noqa: PLC0415

        scaling.run(options.repeats, options.jobs)
    elif options.command == "start":
        from benchmarks import start  # noqa: PLC0415

        start.run(options.repeats)
    elif options.command == "measure":
        from benchmarks import rivals  # noqa: PLC0415

        job = rivals.Job(options.name, options.folder, options.repeats, options.jobs)
        rivals.main(job, options.out)
    elif options.command == "memory":
        from benchmarks import memory  # noqa: PLC0415

        memory.main(options.folder, options.jobs)


if __name__ == "__main__":
    main()
