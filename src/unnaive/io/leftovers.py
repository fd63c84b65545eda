"""Hidden files of saves that were killed: named and locked, so that a later save can remove them.

A file is written under a hidden name beside its place and then renamed. A killed process leaves the
hidden file behind. A process holds a lock on the file that it writes, which ends with the process:
a file that is old enough and without a lock is nobody's. The age matters in the moments before the
lock is taken and between its end and the renaming.
"""

from __future__ import annotations

import re
import secrets
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING

try:
    import fcntl
except ImportError:  # Windows, where no file can be removed while another process writes it
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"\.unnaive-[0-9a-f]{16}\.tmp")
_OLD = 60.0  # seconds since the last write


def hidden(path: Path) -> Path:
    """Return a new hidden name beside a path."""
    return path.with_name(f".unnaive-{secrets.token_hex(8)}.tmp")


def lock(stream: IO[bytes]) -> None:
    """Lock a file for this process, until it is closed; raises OSError if another one has it."""
    if fcntl is not None:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_leftovers(folder: Path) -> None:
    """Remove hidden files of dead processes from a folder, as far as that is possible."""
    with suppress(OSError):
        for path in folder.iterdir():
            if _NAME.fullmatch(path.name):
                _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > _OLD:
            with path.open("rb") as stream:
                lock(stream)
            path.unlink()
