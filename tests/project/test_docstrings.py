"""Docstrings of all public objects follow numpydoc; three lines in ten are docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from public_api import PACKAGES
from statements import statements
from unnaive._docstrings import Inherits

numpydoc = pytest.importorskip("numpydoc.validate", reason="numpydoc comes with the docs")

SOURCE = Path(__file__).parents[2] / "src"
# No extended summary is asked for; quotes close where ruff wants them; parameters that all models
# share come last, wherever they are declared.
NOT_ASKED = {"ES01", "GL01", "GL02", "GL03", "PR03"}
OF_MEMBERS = NOT_ASKED | {"SA01", "EX01"}  # methods and properties: the class has both


def public_objects():
    """Names of classes, functions, public methods and properties, each once."""
    seen = set()
    for package in PACKAGES:
        module = import_module(package)
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)) or thing in seen:
                continue
            seen.add(thing)
            home = f"{thing.__module__}.{thing.__qualname__}"
            yield home, NOT_ASKED
            if inspect.isclass(thing):
                yield from ((f"{home}.{member}", OF_MEMBERS) for member in members_of(thing))


def members_of(cls):
    kinds = (property, classmethod, staticmethod)
    return [
        name
        for name, member in vars(cls).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, kinds))
    ]


@cache
def validated():
    """What numpydoc says of every public object: its name, codes to ignore, docstring, errors."""
    results = ((name, ignored, numpydoc.validate(name)) for name, ignored in public_objects())
    return [(name, ignored, one["docstring"], one["errors"]) for name, ignored, one in results]


def test_every_public_object_is_documented():
    wrong = [
        f"{name}: {code} {message}"
        for name, ignored, _, errors in validated()
        for code, message in errors
        if code not in ignored
    ]
    assert wrong == []


def test_three_lines_in_ten_are_docstrings():
    lines = documented = 0
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines += len(text.splitlines())
        for node in statements(ast.parse(text)):
            kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
            if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
                quoted = node.body[0]
                documented += quoted.end_lineno - quoted.lineno + 1
    assert documented / lines >= 0.3


class Base(Inherits):
    """A base.

    Parameters
    ----------
    shared : int
        Of all.
    other : int
        Of the base.
    """

    @classmethod
    def made(cls, size):
        """Make one.

        Parameters
        ----------
        size : int
            Its size.

        Returns
        -------
        Base
            It.

        Examples
        --------
        Not taken over.
        """


class Kind(Base):
    """A kind.

    Parameters
    ----------
    other : str
        Of the kind.
    {parameters}
    """

    @classmethod
    def made(cls, size):
        """Make this kind.

        Returns
        -------
        Kind
            It.

        Notes
        -----
        Its own.
        """


def test_a_class_describes_only_what_its_base_does_not():
    shared = ["other : str", "    Of the kind.", "shared : int", "    Of all."]
    expected = ["A kind.", "", "Parameters", "----------", *shared]
    assert inspect.getdoc(Kind).splitlines() == expected


def test_a_method_says_only_what_differs_from_the_one_it_overrides():
    parameters = ["Parameters", "----------", "size : int", "    Its size.", ""]
    its_own = ["Returns", "-------", "Kind", "    It.", "", "Notes", "-----", "Its own."]
    expected = ["Make this kind.", "", *parameters, *its_own]
    assert inspect.getdoc(Kind.made).splitlines() == expected


def test_no_placeholder_is_left_in_a_docstring():
    placeholder = re.compile(r"^ *\{\w+\}$", re.MULTILINE)
    assert [name for name, _, text, _ in validated() if placeholder.search(text)] == []
