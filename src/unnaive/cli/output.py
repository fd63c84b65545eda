"""Files that commands write: checked before the work, replaced only when complete."""

import os
from pathlib import Path


def require_writable(path: Path, *inputs: Path) -> None:
    """Raise before long work if a file could not be written after it, or is one of its inputs."""
    folder = path.resolve().parent
    for read in inputs:
        if path.exists() and read.exists() and path.samefile(read):
            raise ValueError(f"{path} is what is read here and would be lost; name another file")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    if not folder.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {folder}; create it first")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ValueError(f"{path} cannot be written: you have no permission; save elsewhere")


def size_of(path: Path) -> str:
    """Return a file's size in words."""
    size = float(path.stat().st_size)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
