"""Frozen dataclasses of the project behave like those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field, replace
from functools import cached_property

import pytest

from unnaive import Laplace
from unnaive._dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list, compare=False)

    @cached_property
    def norm(self) -> int:
        return self.x**2 + self.y**2


@dataclass(frozen=True, eq=False)
class Named(Point):
    name: str = ""


class Plain(Point):
    """Not a dataclass itself."""


def test_fields_are_set_once() -> None:
    point = Named(1, name="a")
    for name in ("x", "y", "name", "other"):
        with pytest.raises(FrozenInstanceError, match=name):
            setattr(point, name, 2)
    with pytest.raises(FrozenInstanceError, match="x"):
        del point.x
    assert (point.x, point.y, point.tags, point.name, point.norm) == (1, 0, [], "a", 1)
    assert point.tags is not Point(1).tags


def test_a_plain_subclass_may_have_attributes_but_not_change_fields() -> None:
    point = Plain(1)
    point.other = 3  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]


def test_equality_hashes_copies_and_replacement() -> None:
    point = Point(1, 2, ["a"])
    assert point == Point(1, 2)
    assert hash(point) == hash(Point(1, 2))
    assert repr(point) == "Point(x=1, y=2, tags=['a'])"
    for same in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert same == point
        with pytest.raises(FrozenInstanceError):
            same.x = 2
    assert replace(point, y=5) == Point(1, 5)


def test_a_hash_of_its_own_is_kept() -> None:
    @dataclass(frozen=True)
    class Own:
        x: int

        def __hash__(self) -> int:
            return 7

    assert hash(Own(1)) == 7


def test_standard_frozen_subclasses_and_no_others() -> None:
    """What a user writes with the standard library works on our classes, and is refused alike."""

    @dataclasses.dataclass(frozen=True)
    class Mine(Laplace):
        more: int = 1

    assert Mine(2.0).more == 1
    with pytest.raises(FrozenInstanceError):
        Mine(2.0).more = 2  # type: ignore[misc]
    with pytest.raises(TypeError, match="frozen"):
        dataclasses.dataclass(type("Other", (Laplace,), {}))
    with pytest.raises(TypeError, match="frozen"):
        dataclass(type("Other", (Laplace,), {}))
