"""Docstrings that say a thing once: what a base class or another function says is filled in.

A class docstring may have the placeholders ``{parameters}`` and ``{attributes}`` for the entries of
its base class. The docstring of a method that overrides another one, or is marked by
:func:`described_like`, says only what differs; the other sections are those of the other one.
"""

from __future__ import annotations

import re
from dataclasses import Field
from inspect import cleandoc
from types import FunctionType
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = TypeVar("Function", bound=Callable[..., object])

_TITLES = "Attributes|Examples|Notes|Parameters|Raises|References|Returns|See Also|Warns|Yields"
_BEFORE_SECTION = re.compile(rf"^(?=(?:{_TITLES})\n---+$)", re.MULTILINE)
_BEFORE_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)
_SHARED = ("Parameters", "Returns", "Raises")  # in the order of numpydoc, before all others
_written: WeakKeyDictionary[type, str] = WeakKeyDictionary()  # before anything was filled in


class Inherits:
    """Base of classes whose docstrings say only what differs from their bases."""

    __slots__ = ()

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        inherit(cls)


def inherit(kind: type) -> None:
    """Fill in the placeholders of a class, and the sections of its methods that override others.

    An entry that the class describes itself is not repeated. Fields with an entry of their own (see
    :func:`unnaive.parameters.described`) come before those of the base class.
    """
    text = cleandoc(kind.__doc__ or "")
    for name, member in vars(kind).items():
        if isinstance(member, Field) and "entry" in member.metadata:
            entry = f"{name} : {member.metadata['entry']}"
            text = text.replace("{parameters}", f"{entry}\n{{parameters}}")
    _written[kind] = text
    for base in kind.__mro__[1:]:
        _, sections = _split(_written.get(base) or base.__doc__)
        for title in ("Parameters", "Attributes"):
            entries = _BEFORE_ENTRY.split(sections.get(title, "").strip() + "\n")
            new = [entry for entry in entries if f"\n{entry.split(' :')[0]} :" not in text]
            if title in sections:
                text = text.replace(f"{{{title.lower()}}}", "".join(new).strip())
    kind.__doc__ = text or None
    for name, member in vars(kind).items():
        method = member.__func__ if isinstance(member, classmethod) else member
        above = getattr(super(kind, kind), name, None)
        if isinstance(method, FunctionType) and method.__doc__ and above is not None:
            described_like(above)(method)


def described_like(other: object) -> Callable[[Function], Function]:
    r"""Give a function those sections (Parameters, Returns, Raises) of another that it lacks.

    >>> def largest(numbers):
    ...     '''Find the largest number.
    ...
    ...     Parameters
    ...     ----------
    ...     numbers : list
    ...         Some numbers.
    ...     '''
    >>> @described_like(largest)
    ... def smallest(numbers):
    ...     '''Find the smallest number.'''
    >>> smallest.__doc__
    'Find the smallest number.\n\nParameters\n----------\nnumbers : list\n    Some numbers.'
    """
    _, theirs = _split(other.__doc__)

    def complete(function: Function) -> Function:
        summary, sections = _split(function.__doc__)
        shared = {title: theirs[title] for title in _SHARED if title in theirs}
        merged = dict.fromkeys(_SHARED, "") | shared | sections
        parts = (f"{title}\n{'-' * len(title)}\n{text}" for title, text in merged.items() if text)
        function.__doc__ = "\n\n".join([summary, *parts])
        return function

    return complete


def _split(docstring: str | None) -> tuple[str, dict[str, str]]:
    """Split a docstring into its text before the sections, and the sections by title."""
    summary, *sections = _BEFORE_SECTION.split(cleandoc(docstring or ""))
    return summary.strip(), {
        title: text.partition("\n")[2].rstrip()
        for title, _, text in (section.partition("\n") for section in sections)
    }
