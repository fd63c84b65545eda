"""Allowed values of parameters: declared beside the default, and checked when a model is fitted.

A model is a dataclass, and its fields are its parameters::

    missing: str = one_of("marginalize", "drop")
    k: int | str = whole(2, also=("loo",))

:func:`check_parameters` then raises ``missing='x'; it must be 'marginalize' or 'drop'``, even if
the value would not be used.
"""

from __future__ import annotations

from dataclasses import field, fields
from numbers import Integral, Real
from textwrap import fill
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import Field

Value = TypeVar("Value")
_KEY = "allowed"


@dataclass(frozen=True)
class Allowed:
    """Allowed values of a parameter: some words, or values that pass a test."""

    words: tuple[object, ...]
    test: Callable[[object], bool] | None
    told: str

    def accepts(self, value: object) -> bool:
        """Whether a value is allowed; 1 is not True, and an array is not a word."""
        is_word = any(_is(value, word) for word in self.words)
        return is_word or (self.test is not None and self.test(value))


def _is(value: object, word: object) -> bool:
    """Whether a value equals a word, as a string or boolean of Python or numpy."""
    kinds = {str: (str,), bool: (bool, np.bool_)}.get(type(word), (type(word),))
    return isinstance(value, kinds) and bool(value == word)


def parameter(
    default: Value,
    told: str = "",
    *,
    also: Sequence[object] = (),
    test: Callable[[object], bool] | None = None,
) -> Value:
    """Declare a parameter that must be one of some words, or pass a test.

    Parameters
    ----------
    default : object
        Default value.
    told : str, default=""
        Description of the values that pass the test, for the error message.
    also : sequence, default=()
        Words, such as strings or None.
    test : callable, default=None
        Whether a value is allowed.

    Returns
    -------
    object
        A dataclass field; typed as its default.

    See Also
    --------
    one_of : One of some words.
    whole : A whole number.
    number : A real number.

    Examples
    --------
    >>> @dataclass
    ... class Model:
    ...     depth: object = parameter(3, "an even number", test=lambda value: value % 2 == 0)
    >>> check_parameters(Model())
    Traceback (most recent call last):
    ValueError: depth=3; it must be an even number
    """
    described = [repr(word) for word in also if word is not None]
    described += [told] if told else []
    described += ["None"] if None in also else []
    last = described.pop()
    text = f"{', '.join(described)} or {last}" if described else last
    return field(default=default, metadata={_KEY: Allowed(tuple(also), test, text)})


def described(declared: Value, kind: str, text: str) -> Value:
    """Describe a parameter that several models declare; their docstrings fill the entry in."""
    lines = fill(text, 95, initial_indent="    ", subsequent_indent="    ")
    known: Field[Value] = declared  # type: ignore[assignment]
    entry = {"entry": f"{kind}\n{lines}"}
    return field(default=known.default, metadata={**known.metadata, **entry})  # type: ignore[return-value]


def one_of(default: Value, *others: object) -> Value:
    """Declare a parameter that is one of some words; the first one is the default.

    >>> @dataclass
    ... class Model:
    ...     missing: str = one_of("marginalize", "drop")
    >>> check_parameters(Model("x"))
    Traceback (most recent call last):
    ValueError: missing='x'; it must be 'marginalize' or 'drop'
    """
    return parameter(default, also=(default, *others))


def flag(default: bool) -> bool:
    """Declare a parameter that is True or False."""
    return parameter(
        default, "True or False", test=lambda value: isinstance(value, bool | np.bool_)
    )


def whole(
    default: Value, least: int = 0, *, also: Sequence[object] = (), most: float = np.inf
) -> Value:
    """Declare a parameter that is a whole number within bounds, or one of some words."""
    told = f"a whole number of at least {least}" + (f" and at most {most:g}" * (most < np.inf))
    return parameter(default, told, also=also, test=lambda value: is_whole(value, least, most))


def frequency(default: Value) -> Value:
    """Declare a parameter that is a number of samples, a share of them, or None."""

    def accepts(value: object) -> bool:
        return is_whole(value, 1) or (is_number(value, 0.0, 1.0) and value not in {0, 1})

    told = "a whole number of at least 1, a share between 0 and 1"
    return parameter(default, told, also=(None,), test=accepts)


def number(
    default: Value,
    least: float = 0.0,
    *,
    also: Sequence[object] = (),
    most: float = np.inf,
    what: str = "a number",
    infinite: bool = False,
) -> Value:
    """Declare a parameter that is a number within bounds, or one of some words.

    ``infinite``: whether it may be infinite, where that means "no limit".
    """
    told = (
        f"{what} of at least {least:g}" if most == np.inf else f"{what} from {least:g} to {most:g}"
    )

    def accepts(value: object) -> bool:
        return is_number(value, least, most, infinite=infinite)

    return parameter(default, told, also=also, test=accepts)


def is_whole(value: object, least: float = -np.inf, most: float = np.inf) -> bool:
    """Whether a value is a whole number within bounds; True and False are not."""
    whole_one = isinstance(value, Integral) and not isinstance(value, bool)
    return whole_one and least <= int(value) <= most  # type: ignore[call-overload]


def is_number(
    value: object, least: float = -np.inf, most: float = np.inf, *, infinite: bool = False
) -> bool:
    """Whether a value is a number within bounds, and finite; True and False are not."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    return (infinite or bool(np.isfinite(float(value)))) and least <= float(value) <= most


def check_parameters(model: object) -> None:
    """Raise a ValueError that names the first wrong parameter, its value and the allowed values."""
    for declared in fields(model):  # type: ignore[arg-type]
        allowed: Allowed | None = declared.metadata.get(_KEY)
        value = getattr(model, declared.name)
        if allowed is not None and not allowed.accepts(value):
            raise ValueError(f"{declared.name}={value!r}; it must be {allowed.told}")
