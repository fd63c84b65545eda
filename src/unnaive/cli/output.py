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


def require_apart(*inputs: Path, **outputs: Path | None) -> None:
    """Raise likewise for files by their options, and if two options name the same one."""
    seen: dict[Path, tuple[str, Path]] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        require_writable(path, *inputs)
        first, same = seen.setdefault(path.resolve(), (option, path))
        if first != option:
            raise ValueError(f"--{first} and --{option} both name {same}; name two files")


def write(path: Path, text: str) -> None:
    """Write a text as UTF-8, or leave what was there untouched."""
    from unnaive.io.store import replacing  # noqa: PLC0415 - see app.py

    with replacing(path) as stream:
        stream.write(text.encode())


def size_of(path: Path) -> str:
    """Return a file's size in words."""
    size = float(path.stat().st_size)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
