"""Expressions of SQL: numbers, sums, conditions."""

from __future__ import annotations

from functools import reduce
from math import prod
from typing import TYPE_CHECKING

from unnaive.exceptions import UnnaiveError
from unnaive.export.reading import NOTHING

try:
    from sqlglot import exp as exp  # noqa: PLC0414 - the other modules take it from here
except ImportError:
    raise UnnaiveError('SQL needs sqlglot: pip install "unnaive[sql]"') from None

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Expression = exp.Expression


def number(value: float) -> Expression:
    """Write a double; the exponent says that it is one, not a decimal.

    Examples
    --------
    >>> number(0.5).sql()
    '0.5e0'
    """
    return exp.Literal(this=double(value), is_string=False)


def double(value: float) -> str:
    """Write a double as text, with an exponent."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def whole(value: int) -> Expression:
    """Write an integer."""
    return exp.Literal(this=str(int(value)), is_string=False)


def column(name: str) -> Expression:
    """Refer to a column of an earlier stage; each call makes a new reference."""
    return exp.Column(this=exp.to_identifier(name, quoted=False))


def plus(terms: Iterable[Expression]) -> Expression:
    """Add up expressions from left to right, in parentheses; 0 if there are none.

    Examples
    --------
    >>> plus([number(1.0), column('v1')]).sql()
    '(1.0e0 + v1)'
    """
    terms = list(terms)
    add = lambda a, b: exp.Add(this=a, expression=b)  # noqa: E731
    return exp.Paren(this=reduce(add, terms)) if terms else number(0.0)


def place_of(codes: Sequence[Expression], sizes: Sequence[int]) -> Expression:
    r"""Return the position of a joint value, the last code fastest: ((x₁ v₂ + x₂) v₃ + x₃) ….

    Examples
    --------
    >>> place_of([column("x0"), column("x1")], [4, 3]).sql()
    '(x0 * 3 + x1)'
    """
    strides = [prod(sizes[place + 1 :]) for place in range(len(codes))]
    return plus(
        code if stride == 1 else exp.Mul(this=code, expression=whole(stride))
        for code, stride in zip(codes, strides, strict=True)
    )


def minus(a: Expression, b: Expression) -> Expression:
    """Subtract."""
    return exp.Paren(this=exp.Sub(this=a, expression=b))


def times(a: Expression, b: Expression) -> Expression:
    """Multiply."""
    return exp.Paren(this=exp.Mul(this=a, expression=b))


def divided(a: Expression, b: Expression) -> Expression:
    """Divide doubles; one of the two must be a double in every database."""
    return exp.Paren(this=exp.Div(this=a, expression=b, typed=True))


def when(*branches: tuple[Expression, Expression], otherwise: Expression | None) -> Expression:
    """Return the value of the first condition that holds, else ``otherwise`` (None: NULL).

    Databases compute only the branch that they choose, so that rows without missing values do not
    pay for sums over missing ones.

    Examples
    --------
    >>> when((is_missing(column('v1')), whole(0)), otherwise=whole(1)).sql()
    'CASE WHEN v1 IS NULL THEN 0 ELSE 1 END'
    """
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(ifs=ifs, default=otherwise)


def is_missing(operand: Expression) -> Expression:
    """Whether a value is NULL; never NULL itself."""
    return exp.Is(this=operand, expression=exp.Null())


def is_known(operand: Expression) -> Expression:
    """Whether a value is not NULL; never NULL itself."""
    return exp.Not(this=is_missing(operand))


def every(conditions: Iterable[Expression]) -> Expression:
    """Whether all conditions hold; at least one is given."""
    return exp.Paren(this=reduce(lambda a, b: exp.And(this=a, expression=b), conditions))


def some(conditions: Iterable[Expression]) -> Expression:
    """Whether one of the conditions holds; at least one is given."""
    return exp.Paren(this=reduce(lambda a, b: exp.Or(this=a, expression=b), conditions))


def function(name: str, *operands: Expression) -> Expression:
    """Call a function by its name, which sqlglot does not translate."""
    return exp.Anonymous(this=name, expressions=list(operands))


def or_zero(operand: Expression) -> Expression:
    """Replace NULL by 0, the logarithm of 1: a factor that changes nothing."""
    return function("COALESCE", operand, number(0.0))


def log_zero() -> Expression:
    """Stand for log 0: a finite number, since −∞ − −∞ is none, and not every database has −∞."""
    return number(NOTHING)
