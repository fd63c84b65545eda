"""How long work tells whoever wants to know how far it is; the library itself is silent."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_watcher: ContextVar[Callable[[Any], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watch: Callable[[Any], None]) -> Iterator[None]:
    """Have searches within tell ``watch`` of every generation or step."""
    token = _watcher.set(watch)
    try:
        yield
    finally:
        _watcher.reset(token)


def watcher() -> Callable[[Any], None] | None:
    """Return who watches, None if nobody does."""
    return _watcher.get()
