"""Run the inputs of one kind in a child process, watch it, and list the faults.

A kind is a module with a function ``subjects(folder)``. It returns functions by name; each takes a
seed and returns "" or what is wrong. ``folder`` is empty and its own. A subject refuses an input by
:class:`Refused`, so that refusals are counted.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    Subject = Callable[[int], str]

SLOWER = float(os.environ.get("UNNAIVE_SLOWER", "1"))  # a sanitized core takes several times longer
LIMIT = 5.0 * SLOWER  # seconds of processor time for one input
HANG = 40.0 * SLOWER  # seconds of the processor without a new input
IDLE = 600.0  # seconds of the clock; the machine may be busy
TURN = 0.05  # seconds of processor time for a subject, before the next one has its turn
_NOW = struct.Struct("qq")  # seed and number of the subject that is being tried


class Refused(Exception):
    """The library refused an input by an error of its own, in one printable line."""


class TooSlow(BaseException):
    """An input took longer than the limit; no handler of ordinary errors catches it."""


@dataclass(frozen=True)
class Budget:
    """How long a kind runs, over how many inputs, and from which seed."""

    seconds: float
    inputs: int
    seed: int


@dataclass
class Tally:
    """What happened so far; ``faults`` are lists of examples by their first words."""

    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    faults: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @property
    def total(self) -> int:
        """Number of inputs."""
        return sum(self.tried.values())

    def add_fault(self, name: str, seed: int, wrong: str) -> None:
        """Note a fault with what repeats it."""
        self.faults[f"{name}: {wrong.split(': ', 1)[0]}"].append(
            f"--only {name} --seed {seed}: {wrong}"
        )


def kind(name: str, only: str, budget: Budget) -> int:
    """Run a kind and print its table; return how many faults there were."""
    home = "/dev/shm" if Path("/dev/shm").is_dir() else None
    tally, began = Tally(), time.monotonic()
    with tempfile.TemporaryDirectory(dir=home) as folder:
        end, crashed = began + budget.seconds, True
        while crashed and time.monotonic() < end:
            left = Budget(end - time.monotonic(), budget.inputs - tally.total, budget.seed)
            crashed = _watched(name, only, left, Path(folder), tally)
    spent = time.monotonic() - began
    for subject, tries in sorted(tally.tried.items()):
        print(f"{tries:10,d} {subject:24s} {tally.refused[subject]:10,d} refused")
    for what, examples in sorted(tally.faults.items(), key=lambda item: -len(item[1])):
        print(f"{len(examples):6d} x {what}\n         {examples[0]}")
    faults, rate = sum(map(len, tally.faults.values())), tally.total / max(spent, 1e-9)
    print(
        f"{name}: {tally.total:,} inputs in {spent:.0f} s ({rate:,.0f} a second), {faults} faults"
    )
    return faults


def _watched(name: str, only: str, budget: Budget, folder: Path, tally: Tally) -> bool:
    """Run a child until it ends; return whether it crashed or hung."""
    now = mmap.mmap(-1, _NOW.size)
    receive, send = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(receive)
        os._exit(_child(name, only, budget, folder, now=now, send=send, tally=tally))
    os.close(send)
    before, since, hung = b"", _times(child), False
    names: list[str] = []
    with os.fdopen(receive, "rb", buffering=0) as lines:
        while not hung:
            ready, _, _ = select.select([lines], [], [], 1.0)
            if ready and not (line := lines.readline()):
                break
            if ready:
                names = _noted(json.loads(line), tally) or names
            if (current := now[:]) != before or not names:  # imports may take long
                before, since = current, _times(child)
            spent, clock = np.subtract(_times(child), since)
            hung = bool(spent > HANG or clock > IDLE)
        if hung:
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) == 0:
        return False
    if not names:
        raise RuntimeError(f"the subjects of {name} could not be made")
    seed, subject = _NOW.unpack(now[:])
    how = "does not end" if hung else f"crash by signal {os.WTERMSIG(status)}"
    tally.add_fault(names[subject], seed, how)
    tally.tried[names[subject]] = seed + 1 - budget.seed
    return True


def _times(process: int) -> tuple[float, float]:
    """Return the processor seconds of a process, where the system is Linux, and the time."""
    clock, path = time.monotonic(), Path(f"/proc/{process}/stat")
    if not path.exists():
        return clock, clock
    figures = path.read_text().rsplit(")", 1)[1].split()
    return (int(figures[11]) + int(figures[12])) / os.sysconf("SC_CLK_TCK"), clock


def _noted(message: list[Any], tally: Tally) -> list[str]:
    """Add what a child told; return the names of its subjects if it told them."""
    what, content = message
    if what == "names":
        return content
    if what == "fault":
        tally.add_fault(*content)
    else:
        tally.tried, tally.refused = Counter(content[0]), Counter(content[1])
    return []


def _child(
    name: str, only: str, budget: Budget, folder: Path, *, now: mmap.mmap, send: int, tally: Tally
) -> int:
    """Try inputs until time is over, as long for every subject; return the exit code."""

    def tell(what: str, content: object) -> None:
        os.write(send, json.dumps([what, content]).encode() + b"\n")

    warnings.simplefilter("ignore")
    try:
        subjects = import_module(f"fuzz.{name}").subjects(folder)
    except Exception:
        traceback.print_exc()
        return 1
    chosen = {key: subject for key, subject in subjects.items() if only in key}
    chosen = {only: chosen[only]} if only in chosen else chosen
    tell("names", list(chosen))
    end, left = time.monotonic() + budget.seconds, budget.inputs
    while chosen and left and time.monotonic() < end:
        for number, (key, subject) in enumerate(chosen.items()):
            turn = time.process_time() + TURN
            while left and time.process_time() < turn and time.monotonic() < end:
                seed, left = budget.seed + tally.tried[key], left - 1
                now[:] = _NOW.pack(seed, number)
                tally.tried[key] += 1
                wrong = attempt(subject, seed, tally.refused, key)
                if wrong:
                    tell("fault", [key, seed, wrong[:600]])
        tell("tried", [tally.tried, tally.refused])
    return 0


def attempt(subject: Subject, seed: int, refused: Counter[str] | None = None, key: str = "") -> str:
    """Try one input; return what is wrong, or ""."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        return subject(seed)
    except Refused:
        if refused is not None:
            refused[key] += 1
        return ""
    except TooSlow:
        return f"more than {LIMIT:g} s of processor time"
    except (MemoryError, Exception) as error:
        return described(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _late(_: int, __: FrameType | None) -> None:
    raise TooSlow


def described(error: BaseException) -> str:
    """Say in one line what a bare error is and where it was raised."""
    line = traceback.extract_tb(error.__traceback__)[-1]
    text = ascii(str(error)[:200])
    return f"{type(error).__name__} at {Path(line.filename).name}:{line.lineno}: {text}"


def check_message(error: BaseException) -> None:
    """Raise :class:`Refused` if a message is one printable line, else say what it has."""
    text = str(error)
    if odd := next((c for c in text if not c.isprintable()), ""):
        what = "several lines" if odd in "\r\n" else f"the character {odd!a}"
        raise AssertionError(f"a message with {what}: {text[:200]!a}") from error
    raise Refused from error
