"""The one way to compile a kernel: lazily, without the interpreter lock, cached if it can be."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numba

if TYPE_CHECKING:
    from collections.abc import Callable


class ForgivingCache:
    """Numba's cache on disk, for which a full, damaged or forbidden disk is a cache miss."""

    def __init__(self, cache: Any) -> None:
        self.cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cache, name)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Code that an earlier process compiled, or None where there is none to read."""
        with suppress(Exception):  # whatever a damaged file does to pickle is a miss, too
            return self.cache.load_overload(signature, target_context)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep compiled code for later processes, or do without."""
        with suppress(OSError, EOFError):
            self.cache.save_overload(signature, compiled)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` at its first call, as ``numba.njit(nogil=True, cache=True)`` does.

    With one difference: no state of the disk can make the decoration or a call fail. Where
    numba finds no folder to write to, every process compiles for itself.
    """
    return _compiled(function, fastmath=False)


def summing_kernel(function: Callable[..., Any]) -> Any:
    """Compile as :func:`kernel` does; sums may be taken in another order, so that they vectorise.

    The order is that of the compiled code: the same for any number of threads.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    compiled: Any = numba.njit(nogil=True, **options)(function)
    if compiled is function:  # NUMBA_DISABLE_JIT
        return function
    with suppress(RuntimeError, OSError):
        compiled.enable_caching()
        compiled._cache = ForgivingCache(compiled._cache)  # noqa: SLF001
    return compiled
