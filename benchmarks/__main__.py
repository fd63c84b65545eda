"""Run ``python -m benchmarks COMMAND``; each command has --help."""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import data


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    main_parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = main_parser.add_subparsers(dest="command", required=True)
    peers = commands.add_parser("peers", help="compare with other libraries, on one data set")
    _add_shape(peers, data.Shape())
    peers.add_argument(
        "--repeats", type=int, default=3, help="measurements of each; the best is used"
    )
    peers.add_argument("--jobs", type=int, default=2, help="threads")
    peers.add_argument(
        "--limit", type=float, default=60.0, help="time limit of a library in seconds"
    )
    peers.add_argument("--only", action="append", help="one library (repeatable)")
    peers.add_argument("--json", help="also write the figures to this file")
    limit = commands.add_parser("limit", help="compare with the limits of the machine")
    _add_shape(limit, data.Shape(rows=1_000_000, columns=100))
    limit.add_argument("--rounds", type=int, default=7, help="interleaved measurements")
    limit.add_argument("--jobs", type=int, default=2, help="threads")
    limit.add_argument("--only", action="append", help="one part (repeatable)")
    limit.add_argument("--json", help="also write the figures to this file")
    _add_phnb(commands)
    _add_gnb(commands)
    _add_knaive(commands)
    _add_networks(commands)
    search = commands.add_parser("search", help="search for groups of columns by leave-one-out")
    search.add_argument("--data", help="folder of the papers' data sets; default: $UNNAIVE_DATA")
    search.add_argument("--jobs", type=int, default=2, help="threads")
    search.add_argument("--only", action="append", help="one part (repeatable)")
    search.add_argument("--json", help="also write the figures to this file")
    _add_quality(commands)
    _add_planted(commands)
    _add_certainty(commands)
    scaling = commands.add_parser("scaling", help="time over rows, columns, values, …")
    scaling.add_argument("--repeats", type=int, default=5)
    scaling.add_argument("--jobs", type=int, default=2, help="threads, unless they are varied")
    _add_scale(commands)
    files = commands.add_parser("files", help="counting of files, compared with reading them")
    files.add_argument("--rows", type=int, default=2_000_000)
    files.add_argument("--jobs", type=int, default=2, help="threads")
    files.add_argument("--rounds", type=int, default=5, help="interleaved measurements")
    files.add_argument("--json", help="also write the figures to this file")
    _add_exports(commands)
    versions = commands.add_parser("versions", help="compare two installations of this library")
    versions.add_argument("before", help="interpreter of the first environment")
    versions.add_argument("after", help="interpreter of the second environment")
    versions.add_argument(
        "--rounds", type=int, default=3, help="processes of each; the best is used"
    )
    start = commands.add_parser("start", help="import, and the first fit of a process")
    start.add_argument("--repeats", type=int, default=5)
    start.add_argument("--python", help="interpreter of another environment to measure")
    _add_hidden(commands)
    return main_parser


def _add_shape(command: argparse.ArgumentParser, default: data.Shape) -> None:
    for name in ("rows", "columns", "values", "classes", "seed"):
        command.add_argument(f"--{name}", type=int, default=getattr(default, name))


def _add_phnb(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    phnb = commands.add_parser("phnb", help="main result of the PHNB paper, on its data sets")
    phnb.add_argument("--data", help="folder of the papers' data sets; default: $UNNAIVE_DATA")
    phnb.add_argument("--folds", type=int, default=10)
    phnb.add_argument("--repeats", type=int, default=1, help="repeats of the cross-validation")
    phnb.add_argument("--jobs", type=int, default=2, help="threads of the fits")
    phnb.add_argument("--only", action="append", help="one data set (repeatable)")
    phnb.add_argument("--json", help="also write the figures to this file")


def _add_gnb(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    gnb = commands.add_parser("gnb", help="the GNB paper: trees, their cost, accuracies")
    gnb.add_argument("--data", help="folder of the papers' data sets; default: $UNNAIVE_DATA")
    gnb.add_argument("--splits", type=int, default=100, help="random splits for the accuracies")
    gnb.add_argument("--jobs", type=int, default=2, help="threads")
    gnb.add_argument("--only", action="append", help="one part (repeatable)")
    gnb.add_argument("--json", help="also write the figures to this file")


def _add_networks(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    networks = commands.add_parser("networks", help="compare structure search with other libraries")
    networks.add_argument("--jobs", type=int, default=2, help="threads")
    networks.add_argument("--only", action="append", help="one part (repeatable)")
    networks.add_argument("--networks", help="folder of BIF files; default: $UNNAIVE_NETWORKS")
    networks.add_argument("--limit", type=float, default=60.0, help="seconds of a search")
    networks.add_argument("--rows", type=int, nargs="+", help="rows that are sampled; default: all")
    networks.add_argument("--names", nargs="+", help="networks to recover; default: seven")
    networks.add_argument("--json", help="also write the figures to this file")


def _add_knaive(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    knaive = commands.add_parser("knaive", help="k-naive Bayes: speed, search, the thesis on WDBC")
    knaive.add_argument("--rounds", type=int, default=7, help="interleaved measurements")
    knaive.add_argument("--seeds", type=int, default=10, help="shuffles of WDBC")
    knaive.add_argument("--only", action="append", help="one part (repeatable)")
    knaive.add_argument("--json", help="also write the figures to this file")


def _add_quality(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    quality = commands.add_parser(
        "quality", help="prediction quality, compared with boosting and forests"
    )
    quality.add_argument("--data", help="folder of the papers' data sets; default: $UNNAIVE_DATA")
    quality.add_argument("--only", action="append", help="one data set (repeatable)")
    quality.add_argument("--methods", nargs="+", help="methods to compare; default: all")
    quality.add_argument(
        "--ours", action="append", help="another model: key:parameter=value,... (repeatable)"
    )
    quality.add_argument("--threads", type=int, default=2, help="threads of every method")
    quality.add_argument(
        "--jobs", type=int, default=1, help="processes; more than 1 distorts times"
    )
    quality.add_argument("--resume", help="file of finished results: read and extended")
    quality.add_argument(
        "--finished", action="store_true", help="run nothing, show finished results"
    )
    quality.add_argument(
        "--tables",
        nargs="*",
        default=["log_loss", "accuracy"],
        help="metrics shown for every data set",
    )
    quality.add_argument("--json", help="also write the figures to this file")


def _add_planted(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    planted = commands.add_parser("planted", help="rules over two to four columns among noise")
    planted.add_argument("--methods", nargs="+", help="methods to compare; default: three")
    planted.add_argument("--rows", type=int, nargs="+", help="numbers of training rows")
    planted.add_argument("--orders", type=int, nargs="+", help="numbers of columns of a rule")
    planted.add_argument("--threads", type=int, default=2, help="threads of every method")
    planted.add_argument("--json", help="also write the figures to this file")


def _add_certainty(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    certainty = commands.add_parser("certainty", help="intervals, prediction sets, abstention")
    certainty.add_argument("--data", help="folder of the papers' data sets; default: $UNNAIVE_DATA")
    certainty.add_argument("--only", action="append", help="one part (repeatable)")
    certainty.add_argument("--resume", help="file of finished data sets: read and extended")
    certainty.add_argument("--json", help="also write the figures to this file")


def _add_exports(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    exports = commands.add_parser("exports", help="exported models in databases and other engines")
    exports.add_argument("--check", action="store_true", help="compare predictions, not times")
    exports.add_argument("--data", help="folder of the papers' data sets; default: $UNNAIVE_DATA")
    exports.add_argument("--only", action="append", help="one engine (repeatable)")
    exports.add_argument("--sets", nargs="+", help="data sets to compare on; default: five")
    exports.add_argument("--models", nargs="+", help="models to compare; default: all")
    exports.add_argument("--rows", type=int, help="most rows of a data set to compare")
    exports.add_argument("--resume", help="file of finished comparisons: read and extended")
    exports.add_argument("--json", help="also write the figures to this file")


def _add_scale(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    scale = commands.add_parser(
        "scale", help="files larger than memory: rate, peak memory, linearity"
    )
    scale.add_argument("--rows", type=int, default=100_000_000)
    scale.add_argument("--jobs", type=int, default=2, help="threads")
    scale.add_argument(
        "--repeats", type=int, default=1, help="measurements of each; the best is used"
    )
    scale.add_argument("--folder", help="where the files are made; default: the temporary folder")
    scale.add_argument(
        "--models", nargs="*", help="fit models to other files instead; default: all five of them"
    )
    scale.add_argument(
        "--keep", action="store_true", help="keep the files of models, and take those of before"
    )
    scale.add_argument("--json", help="also write the figures to this file")


def _add_hidden(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add commands that the benchmarks run in separate processes."""
    measure = commands.add_parser("measure")
    measure.add_argument("name")
    measure.add_argument("folder")
    measure.add_argument("out", type=Path)
    measure.add_argument("--repeats", type=int, default=3)
    measure.add_argument("--jobs", type=int, default=2)
    part = commands.add_parser("scale-part")
    part.add_argument("work")
    part.add_argument("folder", type=Path)
    part.add_argument("--rows", type=int)
    part.add_argument("--jobs", type=int, default=2)
    memory = commands.add_parser("memory")
    memory.add_argument("folder", type=Path)
    memory.add_argument("--jobs", type=int, default=2)


def _shape(options: argparse.Namespace) -> data.Shape:
    return data.Shape(options.rows, options.columns, options.values, options.classes, options.seed)


def _check_only(main_parser: argparse.ArgumentParser, only: list[str] | None, known: Any) -> None:
    for name in only or ():
        if name not in known:
            main_parser.error(f"--only {name}: not one of {', '.join(known)}")


def _peers(options: argparse.Namespace, module: Any) -> None:
    how = {"repeats": options.repeats, "jobs": options.jobs, "limit": options.limit}
    module.run(_shape(options), **how, only=options.only, json_file=options.json)


def _limit(options: argparse.Namespace, module: Any) -> None:
    module.run(_shape(options), options.rounds, options.jobs, options.only, options.json)


def _phnb(options: argparse.Namespace, module: Any) -> None:
    folder = module.paper.data_folder(options.data)
    how = {"folds": options.folds, "repeats": options.repeats, "jobs": options.jobs}
    module.run(folder, **how, only=options.only, json_file=options.json)


def _gnb(options: argparse.Namespace, module: Any) -> None:
    how = {"splits": options.splits, "jobs": options.jobs}
    module.run(options.data, **how, only=options.only, json_file=options.json)


def _knaive(options: argparse.Namespace, module: Any) -> None:
    how = {"rounds": options.rounds, "seeds": options.seeds}
    module.run(**how, only=options.only, json_file=options.json)


def _networks(options: argparse.Namespace, module: Any) -> None:
    how = {"folder": options.networks, "limit": options.limit, "json_file": options.json}
    how |= {key: value for key in ("rows", "names") if (value := getattr(options, key))}
    module.run(jobs=options.jobs, only=options.only, **how)


def _search(options: argparse.Namespace, module: Any) -> None:
    folder = module.data_folder(options.data)
    module.run(folder, jobs=options.jobs, only=options.only, json_file=options.json)


def _quality(options: argparse.Namespace, module: Any) -> None:
    how = {name: getattr(options, name) for name in ("methods", "threads", "jobs", "resume")}
    how |= {"trials": options.ours, "finished": options.finished, "tables": options.tables}
    folder = module.paper.data_folder(options.data)
    module.run(folder, **how, only=options.only, json_file=options.json)


def _planted(options: argparse.Namespace, module: Any) -> None:
    how = {name: getattr(options, name) for name in ("methods", "rows", "orders", "threads")}
    module.run(**how, json_file=options.json)


def _certainty(options: argparse.Namespace, module: Any) -> None:
    folder = module.paper.data_folder(options.data)
    module.run(folder, only=options.only, resume=options.resume, json_file=options.json)


def _exports(options: argparse.Namespace, module: Any) -> None:
    if options.check:
        os.environ["UNNAIVE_DATA"] = str(module.paper.data_folder(options.data))
    how = {"checked": options.check, "sets": options.sets, "models": options.models}
    how |= {"rows": options.rows, "resume": options.resume}
    module.run(only=options.only, **how, json_file=options.json)


def _scaling(options: argparse.Namespace, module: Any) -> None:
    module.run(options.repeats, options.jobs)


def _scale(options: argparse.Namespace, module: Any) -> None:
    how = {"jobs": options.jobs, "folder": options.folder, "json_file": options.json}
    if options.models is None:
        module.run(options.rows, repeats=options.repeats, **how)
    else:
        models = import_module("benchmarks.scale_models")
        models.run(options.rows, only=options.models, keep=options.keep, **how)


def _files(options: argparse.Namespace, module: Any) -> None:
    how = {"jobs": options.jobs, "rounds": options.rounds}
    module.run(options.rows, **how, json_file=options.json)


def _scale_part(options: argparse.Namespace, module: Any) -> None:
    module.main(options.work, options.folder, options.rows, options.jobs)


def _versions(options: argparse.Namespace, module: Any) -> None:
    module.run(options.before, options.after, options.rounds)


def _start(options: argparse.Namespace, module: Any) -> None:
    module.run(options.repeats, options.python)


def _measure(options: argparse.Namespace, module: Any) -> None:
    job = module.Job(options.name, options.folder, options.repeats, options.jobs)
    module.main(job, options.out)


def _memory(options: argparse.Namespace, module: Any) -> None:
    module.main(options.folder, options.jobs)


RUNNERS = {  # command: how it is run, its module, and where the module lists its parts
    "peers": (_peers, "peers", "RIVALS"),
    "limit": (_limit, "limit", "PARTS"),
    "phnb": (_phnb, "phnb", "NAMES"),
    "gnb": (_gnb, "gnb", "PARTS"),
    "knaive": (_knaive, "knaive", "PARTS"),
    "networks": (_networks, "networks", "PARTS"),
    "search": (_search, "search", "PARTS"),
    "quality": (_quality, "quality", "NAMES"),
    "planted": (_planted, "planted", ""),
    "certainty": (_certainty, "certainty", "PARTS"),
    "exports": (_exports, "exports", "PARTS"),
    "scaling": (_scaling, "scaling", ""),
    "scale": (_scale, "scale", ""),
    "files": (_files, "files", ""),
    "scale-part": (_scale_part, "scale", ""),
    "start": (_start, "start", ""),
    "versions": (_versions, "versions", ""),
    "measure": (_measure, "rivals", ""),
    "memory": (_memory, "memory", ""),
}


def main() -> None:
    """Run a command; each imports only what it needs."""
    main_parser = parser()
    options = main_parser.parse_args()
    runner, name, parts = RUNNERS[options.command]
    module = import_module(f"benchmarks.{name}")
    if parts:
        _check_only(main_parser, options.only, getattr(module, parts))
    runner(options, module)


if __name__ == "__main__":
    main()
