"""Hardships that programs meet in use: each gives a right answer, or one sentence and the old file.

    python -m fuzz load [--only kill]

Threads, processes, thousands of fits, a full disk, a kill while saving, folders without permission,
closed pipes, no home, a plain locale, little memory, and Ctrl-C at many moments. Linux only.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import unnaive
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CYCLES = 2000
KILLS = 40
MOMENTS = [step / 40 for step in range(21)]  # seconds after the start, from 0 to 0.5
GROWTH = 4.0  # MB
PROGRAM = (sys.executable, "-m", "unnaive")
SAVING = """
import sys, itertools, unnaive
models = [unnaive.load(path) for path in sys.argv[2:]]
print("ready", flush=True)
for model in itertools.cycle(models):
    model.save(sys.argv[1])
"""


def rows(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return samples and classes."""
    random_state = np.random.default_rng(0)
    y = random_state.integers(0, 3, n)
    return (y[:, None] + random_state.integers(0, 3, (n, 8))) % 4, y


def models(n_jobs: int = 2) -> list[unnaive.models.Classifier]:
    """Fit three models with the compiled core in threads."""
    return [unnaive.make(key, n_jobs=n_jobs).fit(*rows()) for key in ("tan", "aode", "kdb")]


def answers(fitted: list[unnaive.models.Classifier]) -> list[np.ndarray]:
    """Return the probabilities of all models."""
    return [model.predict_proba(rows()[0]) for model in fitted]


def same(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    """Require that answers are equal, bit for bit."""
    assert all(map(np.array_equal, found, expected)), "answers differ"


def threads(_: Path) -> str:
    """Predict in 16 threads at once, and fit in them."""
    fitted = models()
    alone = answers(fitted)
    with ThreadPoolExecutor(16) as pool:
        for found in pool.map(lambda _: answers(fitted), range(64)):
            same(found, alone)
        for found in pool.map(lambda _: answers(models()), range(32)):
            same(found, alone)
    return "16 threads, 192 predictions and 96 fits: equal bit for bit"


def processes(_: Path) -> str:
    """Predict and fit in processes that were forked or spawned after threads were used."""
    fitted = models()
    alone = answers(fitted)
    for way in ("fork", "spawn"):
        with ProcessPoolExecutor(2, multiprocessing.get_context(way)) as pool:
            for found in pool.map(answers, [fitted] * 4, timeout=300):
                same(found, alone)
            same(answers(pool.submit(models).result(timeout=300)), alone)
    return "fork and spawn: equal bit for bit"


def use() -> tuple[float, int, int]:
    """Return resident memory in MB, and the numbers of threads and of open files."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(list(Path("/proc/self/fd").iterdir()))
    return pages * resource.getpagesize() / 2**20, threading.active_count(), files


def cycles(folder: Path) -> str:
    """Fit, predict, save and load again and again, and compare what is used."""
    X, y = rows(120)
    keys = ("tan", "nb", "gaussian-nb", "kdb")

    def work(times: int) -> None:
        for number in range(times):
            model = unnaive.make(keys[number % 4]).fit(X, y)
            model.predict_proba(X)
            if number % 20 == 0:
                model.save(folder / "model.unb")
                unnaive.load(folder / "model.unb").predict(X)

    work(200)
    before = use()
    work(CYCLES)
    grown = [now - then for now, then in zip(use(), before, strict=True)]
    assert grown[0] < GROWTH, f"memory grew by {grown[0]:.1f} MB"
    assert grown[1:] == [0, 0], f"threads and files grew by {grown[1:]}"
    return f"{CYCLES} cycles: memory grew by {grown[0]:.1f} MB, threads and open files by none"


def run(
    *words: object, env: Mapping[str, str] | None = None, **options: object
) -> subprocess.CompletedProcess[str]:
    """Run a command; its error must be one line, and no traceback."""
    done = subprocess.run(
        [*PROGRAM, *map(str, words)],
        check=False,
        env={**os.environ, **(env or {})},
        **{"capture_output": True, "text": True, "timeout": 300, **options},
    )
    told = [line for line in done.stderr.splitlines() if not line.startswith("note:")]
    assert "Traceback" not in done.stderr, done.stderr[-800:]
    assert done.returncode in {0, 1, 2}, f"exit code {done.returncode}: {done.stderr[-300:]}"
    # A wrong word of the command itself (2) also prints how it is used.
    assert done.returncode != 1 or len(told) == 1, f"{len(told)} lines: {done.stderr[-600:]}"
    return done


def data(folder: Path, n: int = 300) -> Path:
    """Write a data file with names that are not ASCII."""
    X, y = rows(n)
    header = ",".join([*(f"größe{i}" for i in range(8)), "ziel"])
    pairs = zip(X, y, strict=True)
    lines = [",".join(f"é{cell}" for cell in row) + f",ja{label}" for row, label in pairs]
    path = folder / "rows.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def prepared(folder: Path) -> tuple[Path, Path, bytes]:
    """Return a data file, a model file, and the bytes of the model."""
    path, model = data(folder), folder / "model.unb"
    run("fit", path, "--target", "ziel", "--model", "nb", "-o", model)
    return path, model, model.read_bytes()


def refused(done: subprocess.CompletedProcess[str], model: Path, old: bytes) -> str:
    """Require an error, and the old file; return the sentence."""
    assert done.returncode == 1, f"exit code {done.returncode}: {done.stderr[-300:]}"
    assert model.read_bytes() == old, "the old file is gone"
    left = [path.name for path in model.parent.iterdir() if path.name.endswith(".tmp")]
    assert not left, f"{left} was left"
    return done.stderr.strip().splitlines()[-1].replace(str(model.parent), "")


def full_disk(folder: Path) -> str:
    """Save a model where a file can have 4,096 bytes, and print to a full device."""
    path, model, old = prepared(folder)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # noqa: E731
    done = run("fit", path, "--target", "ziel", "--model", "aode", "-o", model, preexec_fn=limit)
    told = refused(done, model, old)
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        ways = {"stdout": full, "stderr": subprocess.PIPE, "capture_output": False}
        printed = run("predict", model, path, **ways)
    assert printed.returncode == 1, "a full device was not noticed"
    return f"{told} | {printed.stderr.splitlines()[-1]}"


def kill(folder: Path) -> str:
    """Kill a process again and again while it saves; the file is always one of the two models."""
    first, second, path = folder / "first.unb", folder / "second.unb", folder / "model.unb"
    X, y = rows()
    unnaive.TAN().fit(X, y).save(first)
    unnaive.AODE().fit(X, y).save(second)
    whole, chance = {first.read_bytes(), second.read_bytes()}, random.Random(0)
    for _ in range(KILLS):
        program = [sys.executable, "-c", SAVING, *map(str, (path, first, second))]
        with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(chance.random() * 0.05 + 0.01)
            process.kill()
        assert not path.exists() or path.read_bytes() in whole, "a damaged file"
    left = list(folder.glob(".*.tmp"))
    for hidden in left:
        os.utime(hidden, (0, 0))
    unnaive.TAN().fit(X, y).save(path)
    assert not list(folder.glob(".*.tmp")), "temporary files were not removed"
    return f"{KILLS} kills: the file was always whole; {len(left)} hidden files, removed by a save"


def powerless() -> None:
    """Take from root the right to write everywhere; other users do not have it."""
    for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, right, 0, 0, 0)


def permission(folder: Path) -> str:
    """Save into a folder, and over a file, that may not be written, and read what may not be."""
    path, model, old = prepared(folder)
    fit = ("fit", path, "--target", "ziel", "--model", "tan", "-o")
    told = []
    for place, mode in ((model, 0o444), (folder, 0o555)):
        place.chmod(mode)
        new = model if place == model else folder / "new.unb"
        told.append(refused(run(*fit, new, preexec_fn=powerless), model, old))
        place.chmod(0o755)
    model.chmod(0)
    done = run("predict", model, path, preexec_fn=powerless)
    assert done.returncode, "a file without permission was read"
    model.chmod(0o644)
    return " | ".join([*told, done.stderr.splitlines()[-1].replace(str(folder), "")])


def pipes(folder: Path) -> str:
    """Close the pipe after the first line, before it, and both streams."""
    path, model, _ = prepared(folder)
    large = data(folder, 20_000)
    for command in (("predict", model, large, "--proba"), ("models",), ("--help",), ("fit", path)):
        for count in (0, 1):
            with subprocess.Popen(
                [*PROGRAM, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as process:
                process.stdout.read(count)
                process.stdout.close()
                told = process.stderr.read().decode()
                code = process.wait()
            assert "Traceback" not in told, told[-500:]
            assert code in {0, 1, 2}, f"exit code {code}: {told[-300:]}"
    return "four commands, closed before and after the first byte: no traceback"


def home(folder: Path) -> str:
    """Run without a home, and with one that does not exist."""
    path, model, _ = prepared(folder)
    gone = {"HOME", "USER", "LOGNAME"}
    bare = {key: value for key, value in os.environ.items() if key not in gone}
    program = [*PROGRAM, "predict", str(model), str(path)]
    for env in (bare, {**bare, "HOME": "/nowhere"}):
        done = subprocess.run(program, env=env, check=True, capture_output=True, text=True)
        assert done.stdout.startswith("ziel\n"), done.stdout[:80]
        assert "Traceback" not in done.stderr, done.stderr
    return "predictions as with one"


def locale(folder: Path) -> str:
    """Run in the C locale, without UTF-8."""
    path, model, _ = prepared(folder)
    env = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    expected = run("predict", model, path).stdout
    for command in (
        ("fit", path, "--target", "ziel", "--model", "tan", "-o", folder / "größe.unb"),
        ("explain", model, path),
        ("check", path, "--target", "ziel"),
        ("models",),
    ):
        assert run(*command, env=env).returncode == 0, command[0]
    assert run("predict", model, path, env=env, encoding="utf-8").stdout == expected, "other output"
    wrong = run("fit", path, "--target", "groß", "-o", folder / "new.unb", env=env)
    assert wrong.returncode == 1, "an unknown target was accepted"
    return "five commands with names that are not ASCII"


def memory(folder: Path) -> str:
    """Run with less and less address space: a result, or one sentence and the old file."""
    _, model, old = prepared(folder)
    big, codes = data(folder, 60_000), []
    for megabytes in (4000, 1500, 1000, 800, 700, 600, 500):
        size = megabytes << 20

        def limit(size: int = size) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

        new = folder / "new.unb"
        done = run("fit", big, "--target", "ziel", "--model", "a2de", "-o", new, preexec_fn=limit)
        told = "fitted" if done.returncode == 0 else done.stderr.strip()[-90:]
        codes.append(f"{megabytes} MB: {told}")
    assert model.read_bytes() == old, "the old file changed"
    return "; ".join(codes)


def interrupt(_: Path) -> str:
    """Press Ctrl-C at many moments after the start; the command never shows a traceback."""
    early, ours = 0, 0
    for moment in MOMENTS * 3:
        with subprocess.Popen(
            [*PROGRAM, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            told = process.communicate(timeout=120)[1]
        if "Traceback" in told or "KeyboardInterrupt" in told:
            early += 1
            ours += "unnaive/__init__" in told
            assert "unnaive/cli" not in told, told[-800:]
    tries = len(MOMENTS) * 3
    return f"{tries} moments: {early} tracebacks of Python's own start, {ours} of our first line"


HARDSHIPS: dict[str, Callable[[Path], str]] = {
    "threads": threads,
    "processes": processes,
    "cycles": cycles,
    "full disk": full_disk,
    "kill": kill,
    "permission": permission,
    "pipes": pipes,
    "home": home,
    "locale": locale,
    "memory": memory,
    "interrupt": interrupt,
}


def main(only: str = "") -> int:
    """Run all hardships, or those whose name contains a word; return 1 if one was not met."""
    faults = 0
    for name, hardship in HARDSHIPS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            try:
                told = hardship(Path(folder))
            except (AssertionError, UnnaiveError, OSError, subprocess.SubprocessError) as error:
                faults += 1
                told = f"FAULT: {error}"
            with contextlib.suppress(OSError):
                Path(folder).chmod(0o755)
        print(f"{name:12s} {time.monotonic() - began:6.1f} s  {told}", flush=True)
    return int(faults > 0)
