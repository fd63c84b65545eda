"""This library and others on one data set: times, ratios, targets, agreement."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import data, report
from benchmarks.rivals import RIVALS

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Target:
    """At least ``wanted`` times as fast as another library."""

    model: str
    operation: str
    rival: str
    wanted: float


TARGETS = (
    Target("TAN", "fit", "pyagrum", 300),
    Target("TAN", "fit", "weka-tan", 60),
    Target("TAN", "predict_proba", "pyagrum", 1000),
    Target("NaiveBayes", "fit", "sklearn", 3),
    Target("NaiveBayes", "predict_proba", "sklearn", 3),
    Target("AODE", "fit", "weka-aode", 3),
    Target("AODE", "predict_proba", "weka-aode", 6),
    Target("HNB", "fit", "weka-hnb", 3),
    Target("HNB", "predict_proba", "weka-hnb", 5),
    Target("WAODE", "predict_proba", "weka-waode", 6),
)
KDB_OVER_TAN = 4.0  # KDB(2).fit may take so many times what TAN.fit takes
Findings = dict[str, dict[str, Any]]
Times = dict[tuple[str, str], float]


def run(
    shape: data.Shape,
    *,
    repeats: int,
    jobs: int,
    limit: float,
    only: list[str] | None = None,
    json_file: str | None = None,
) -> Findings:
    """Measure all libraries (or some) and print the tables."""
    found_machine = report.show_machine()
    print(f"Data: {shape}; int64 array in memory, {jobs} threads for unnaive.")
    print("Times are the best of several; the first call of unnaive, which loads")
    print("compiled code, is not counted, nor the first pass of WEKA's JVM. Encoding and")
    print("validation are counted. unnaive is measured before and after the others.\n")
    rivals = [name for name in RIVALS if name != "ours" and (not only or name in only)]
    findings: Findings = {}
    with tempfile.TemporaryDirectory() as folder:
        data.save(Path(folder), *data.tree_data(shape))
        for turn in ["ours", *rivals, "ours"]:
            found = measure(turn, Path(folder), repeats=repeats, jobs=jobs, limit=limit)
            findings[turn] = _better(findings[turn], found) if turn in findings else found
            print(f"  {RIVALS[turn][0]}: {found['status']} {found['message']}", flush=True)
    _show_times(findings)
    targets = _show_targets(findings, shape)
    _show_checks(findings)
    report.write_json(
        json_file,
        {
            "machine": found_machine,
            "shape": asdict(shape),
            "jobs": jobs,
            "findings": findings,
            "targets": targets,
        },
    )
    return findings


def measure(name: str, folder: Path, *, repeats: int, jobs: int, limit: float) -> dict[str, Any]:
    """Measure one library in a separate process group, with a time limit in seconds."""
    out = folder / f"{name}.json"
    out.unlink(missing_ok=True)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "measure", name, str(folder)]
    command += [str(out), "--repeats", str(repeats), "--jobs", str(jobs)]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        late = _empty("too slow", f"ended after {limit:g} s")
        if out.exists():
            message = f"{late['message']}, its other models or checks were cut"
            late = {**json.loads(out.read_text()), "status": "too slow", "message": message}
        return late
    if not out.exists():
        last = (errors.strip().splitlines() or ["no message"])[-1]
        return _empty("failed", f"exit status {process.returncode}: {last}")
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def _empty(status: str, message: str) -> dict[str, Any]:
    nothing: dict[str, Any] = {"timings": [], "checks": [], "notes": []}
    return {"status": status, "message": message, "version": "", "threads": "", **nothing}


def _better(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return the shorter times of two measurements of one library."""
    if not first["timings"] or not second["timings"]:
        return first if first["timings"] else second
    pairs = zip(first["timings"], second["timings"], strict=True)
    return {**first, "timings": [min(pair, key=lambda timing: timing["seconds"]) for pair in pairs]}


def _times(found: dict[str, Any]) -> Times:
    """Return seconds for a fit, or for each predicted row."""
    return {
        (entry["model"], entry["operation"]): entry["seconds"] / (entry["rows"] or 1)
        for entry in found["timings"]
    }


def _show_times(findings: Findings) -> None:
    report.section("Times and ratios")
    ours, rows = _times(findings["ours"]), []
    for model, operation in ours:
        for name, found in findings.items():
            time = _times(found).get((model, operation))
            if time is None:
                continue
            entry = next(
                e for e in found["timings"] if (e["model"], e["operation"]) == (model, operation)
            )
            unit = " a row" if entry["rows"] else ""
            sample = f"{entry['rows']:,}" if entry["rows"] else ""
            ratio = "" if name == "ours" else f"{time / ours[model, operation]:,.1f} x"
            library = f"{RIVALS[name][0]} {found['version']}"
            what = f"{model} {operation}"
            rows.append(
                [what, library, found["threads"], report.duration(time) + unit, sample, ratio]
            )
    headers = ["what", "library", "threads", "time", "rows predicted", "ratio to ours"]
    report.show(headers, rows)
    for name, found in findings.items():
        for note in found["notes"]:
            print(f"{RIVALS[name][0]}: {note}.")
        if found["status"] == "absent":
            print(f"{RIVALS[name][0]} is absent; to install it: {found['message']}")
        elif found["status"] != "ok":
            print(f"{RIVALS[name][0]}: {found['status']}, {found['message']}")


def _show_targets(findings: Findings, shape: data.Shape) -> list[list[str]]:
    report.section("Targets")
    if shape != data.Shape():
        print(f"(set for {data.Shape()}, not for this size)")
    ours, rows = _times(findings["ours"]), []
    for target in TARGETS:
        key = (target.model, target.operation)
        name = f"{target.model} {target.operation} against {RIVALS[target.rival][0]}"
        theirs = _times(findings.get(target.rival, _empty("", ""))).get(key)
        if theirs is None or key not in ours:
            rows.append([name, f"≥ {target.wanted:g} x", "", report.verdict(None)])
        else:
            ratio = theirs / ours[key]
            rows.append(report.target(name, ratio, target.wanted, " x", at_least=True))
    name = "KDB(k=2) fit over our TAN fit"
    if ("KDB", "fit") in ours:
        ratio = ours["KDB", "fit"] / ours["TAN", "fit"]
        rows.append(report.target(name, ratio, KDB_OVER_TAN, " x", at_least=False))
    else:
        rows.append([name, f"≤ {KDB_OVER_TAN:g} x", "", report.verdict(None)])
    report.show(["target", "wanted", "measured", ""], rows)
    return rows


def _show_checks(findings: Findings) -> None:
    report.section("Do the results agree?")
    rows = [
        [
            RIVALS[name][0],
            check["what"],
            f"{check['rows']:,}",
            f"{check['difference']:.1e}",
            "agree" if check["difference"] <= check["tolerance"] else "DIFFER",
        ]
        for name, found in findings.items()
        for check in found["checks"]
    ]
    report.show(["library", "what", "rows", "largest difference", ""], rows)
