"""Frozen dataclasses that are quick to define.

For every frozen class the standard library compiles two methods that refuse changes, and a longer
``__init__``; with some seventy classes this was a quarter of the time of importing a model. Here
frozen classes share one method that sets a field once and one that refuses to delete.
"""

from __future__ import annotations

import dataclasses
from dataclasses import FrozenInstanceError
from functools import partial
from typing import TYPE_CHECKING, Never

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(kind=None, /, *, frozen=False, eq=True, **options):
        """Make a dataclass as :func:`dataclasses.dataclass` does."""
        if kind is None:
            return partial(dataclass, frozen=frozen, eq=eq, **options)
        if not frozen:
            return dataclasses.dataclass(kind, eq=eq, **options)
        # To the standard library a base counts as frozen except while a class of ours is made.
        bases = [base for base in kind.__mro__[1:] if base.__setattr__ is _set_once]
        _mark(bases, frozen=False)
        try:
            dataclasses.dataclass(kind, eq=eq, unsafe_hash=eq and not _hashes(kind), **options)
        finally:
            _mark(bases, frozen=True)
        kind.__setattr__, kind.__delattr__ = _set_once, _refuse
        _mark([kind], frozen=True)
        return kind


def _hashes(kind: type) -> bool:
    """Whether the class itself says how it is hashed; one with ``__eq__`` alone does not."""
    own = vars(kind)
    return "__hash__" in own and not (own["__hash__"] is None and "__eq__" in own)


def _mark(kinds: list[type], *, frozen: bool) -> None:
    for kind in kinds:
        vars(kind)["__dataclass_params__"].frozen = frozen


def _set_once(self: object, name: str, value: object) -> None:
    """Set a field that has no value yet, as ``__init__`` does; a subclass may have attributes."""
    kind = type(self)
    known = name in kind.__dataclass_fields__  # type: ignore[attr-defined]
    if name in self.__dict__ or not (known or "__dataclass_fields__" not in vars(kind)):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    self.__dict__[name] = value


def _refuse(_self: object, name: str) -> Never:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
