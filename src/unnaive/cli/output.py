"""Files that commands write: checked before the work, replaced only when complete."""

import os
from pathlib import Path


def require_writable(path: Path, *inputs: Path) -> None:
    """Raise if a file cannot be written, or is also read; called before any long work."""
    folder = path.resolve().parent
    for read in inputs:
        if path.exists() and read.exists() and path.samefile(read):
            raise ValueError(f"{path} is an input and would be overwritten; name another file")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file in it")
    if not folder.is_dir():
        raise ValueError(
            f"{path} cannot be written: folder {folder} does not exist; create it first"
        )
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ValueError(f"{path} cannot be written: no permission; choose another folder")


def require_apart(*inputs: Path, **outputs: Path | None) -> None:
    """Check the files of several options, and raise if two options name the same file."""
    seen: dict[Path, tuple[str, Path]] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        require_writable(path, *inputs)
        first, same = seen.setdefault(path.resolve(), (option, path))
        if first != option:
            raise ValueError(f"--{first} and --{option} both name {same}; name two different files")


def write(path: Path, text: str) -> None:
    """Write a text as UTF-8; on failure the old file stays."""
    from unnaive.io.store import replacing  # noqa: PLC0415 - see app.py

    with replacing(path) as stream:
        stream.write(text.encode())


def size_of(path: Path) -> str:
    """Return a file's size with its unit."""
    size = float(path.stat().st_size)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
