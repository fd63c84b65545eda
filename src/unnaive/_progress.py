"""Progress reports of long searches to a watcher; the library itself prints nothing."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_watcher: ContextVar[Callable[[Any], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watch: Callable[[Any], None]) -> Iterator[None]:
    """Call ``watch`` with every generation or step of the searches in this context."""
    token = _watcher.set(watch)
    try:
        yield
    finally:
        _watcher.reset(token)


def watcher() -> Callable[[Any], None] | None:
    """Return the present watcher, or None."""
    return _watcher.get()
