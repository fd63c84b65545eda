"""Warnings that point at the line of the user, and are not repeated in every fold."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from contextvars import Token

_PACKAGE = str(Path(__file__).parent)


@dataclass(frozen=True)
class _Place:
    """A line of the user, and what was said about it."""

    where: tuple[str, int, str, dict[Any, Any]]  # file, line, module and its list of warnings
    said: set[object] = field(default_factory=set)

    @classmethod
    def here(cls) -> _Place:
        """Return the first call from outside this library."""
        frame = sys._getframe(1)  # noqa: SLF001 - as the module warnings does
        while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
            frame = frame.f_back
        names = frame.f_globals
        registry = names.setdefault("__warningregistry__", {})
        file, module = frame.f_code.co_filename, names.get("__name__", "unnaive")
        return cls((file, frame.f_lineno, module, registry))


_once: ContextVar[_Place | None] = ContextVar("once", default=None)


def caution(warning: Warning) -> None:
    """Warn, with the place of the first call from outside this library.

    Parameters
    ----------
    warning : Warning
        The warning. Inside of :class:`Once`, a ``DataWarning`` of the same kind about the same
        columns is not given again, though its figures differ from fold to fold.
    """
    place = _once.get() or _Place.here()
    key: Any = (getattr(warning, "kind", ""), getattr(warning, "names", ()))
    key = key if any(key) else str(warning)
    if key not in place.said:
        place.said.add(key)
        warnings.warn_explicit(warning, type(warning), *place.where)


class Once:
    """A block in which each warning is given once, also by the threads that it starts."""

    token: Token[_Place | None]

    def __enter__(self) -> None:
        self.token = _once.set(_once.get() or _Place.here())

    def __exit__(self, *_: object) -> None:
        _once.reset(self.token)
