"""scikit-build-core, with a compiler from the package index where the machine has none.

The build needs a C++ compiler. Where none is found, ``ziglang`` (a C and C++ compiler as a Python
package) is asked for as a build requirement, and CMake is pointed at it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from scikit_build_core import build
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_COMPILERS = ("c++", "g++", "clang++", "icpx")
_VSWHERE = r"Microsoft Visual Studio\Installer\vswhere.exe"
_ZIG = "ziglang>=0.13"


def has_compiler() -> bool:
    """Tell whether CMake will find a C++ compiler by itself."""
    if os.environ.get("CXX"):
        return True
    if sys.platform == "win32":
        folders = (os.environ.get("PROGRAMFILES(X86)"), os.environ.get("PROGRAMFILES"))
        return bool(shutil.which("cl")) or any(
            folder and (Path(folder) / _VSWHERE).exists() for folder in folders
        )
    return any(shutil.which(name) for name in _COMPILERS)


def get_requires_for_build_wheel(settings: dict[str, Any] | None = None) -> list[str]:
    """Return what scikit-build-core asks for, and a compiler if there is none."""
    wanted = build.get_requires_for_build_wheel(settings)
    return wanted if has_compiler() else [*wanted, _ZIG]


def get_requires_for_build_editable(settings: dict[str, Any] | None = None) -> list[str]:
    """Return what scikit-build-core asks for, and a compiler if there is none."""
    wanted = build.get_requires_for_build_editable(settings)
    return wanted if has_compiler() else [*wanted, _ZIG]


def build_wheel(
    folder: str, settings: dict[str, Any] | None = None, metadata: str | None = None
) -> str:
    """Build a wheel."""
    with compiler():
        return build.build_wheel(folder, settings, metadata)


def build_editable(
    folder: str, settings: dict[str, Any] | None = None, metadata: str | None = None
) -> str:
    """Build an editable wheel."""
    with compiler():
        return build.build_editable(folder, settings, metadata)


@contextmanager
def compiler() -> Iterator[None]:
    """Point CMake at zig while the machine has no compiler of its own."""
    if has_compiler():
        yield
        return
    import ziglang  # noqa: PLC0415 - installed only where it is needed

    zig = Path(ziglang.__file__).parent / ("zig.exe" if os.name == "nt" else "zig")
    with TemporaryDirectory() as folder:
        tools = {name: _tool(Path(folder), zig, name) for name in ("c++", "ar", "ranlib")}
        before = dict(os.environ)
        os.environ["CXX"] = str(tools["c++"])
        chosen = [f"-DCMAKE_AR={tools['ar']}", f"-DCMAKE_RANLIB={tools['ranlib']}"]
        given = os.environ.get("CMAKE_ARGS", "")
        os.environ["CMAKE_ARGS"] = " ".join([given, *map(shlex.quote, chosen)]).strip()
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _tool(folder: Path, zig: Path, name: str) -> Path:
    """Write a program that calls one of zig's, for CMake wants one word."""
    if os.name == "nt":
        path = folder / f"zig-{name}.cmd"
        path.write_text(f'@"{zig}" {name} %*\r\n')
    else:
        path = folder / f"zig-{name}"
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(str(zig))} {name} "$@"\n')
        path.chmod(0o755)
    return path
