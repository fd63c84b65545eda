"""Where rows are counted: the same kernels, other schedulers.

An engine is recognized by the module that defines the type of a source, so that no library is
imported before one of its frames is used.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from unnaive.io.sources import is_stream

if TYPE_CHECKING:
    from unnaive.counts.engines.dispatch import Engine

_HOLDERS = {"dask": "dask", "dask_expr": "dask", "distributed": "dask", "pyspark": "spark"}


def engine_of(source: object) -> Engine | None:
    """Find the engine that holds the partitions of a source; None if it is in memory.

    Examples
    --------
    >>> from unnaive.counts.engines import engine_of
    >>> engine_of([[1, 2], [3, 4]]) is None
    True
    """
    some = source[0] if isinstance(source, list | tuple) and source else source
    kind: Any = type(some)
    name = _holder(kind) or ("streams" if is_stream(source) else None)
    if isinstance(some, str | PathLike):
        name = "paths"
    if name is None:
        return None
    engine: Engine = import_module(f"unnaive.counts.engines.{name}").engine(source)
    return engine


@cache
def _holder(kind: type) -> str | None:
    modules = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next((_HOLDERS[module] for module in modules if module in _HOLDERS), None)
