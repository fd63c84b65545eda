"""XMLBIF 0.3, the Interchange Format for Bayesian networks in XML.

A ``VARIABLE`` has a ``NAME`` and its states, ``OUTCOME``. A ``DEFINITION`` names its variable
(``FOR``) and its parents (``GIVEN``) and has all numbers in one ``TABLE``. There the state of
the variable changes fastest and that of its first parent slowest, as in our arrays.

The XML is parsed by expat, which loads and expands nothing. A document type may declare
elements, as that of XMLBIF does; entities and external files are refused.
"""

from __future__ import annotations

import html
import math
import re
from typing import TYPE_CHECKING
from xml.parsers import expat

import numpy as np

from unnaive.exceptions import DataFileError
from unnaive.io.bif import NOTE, Draft, properties, short

if TYPE_CHECKING:
    from unnaive.io.networks import Spelling

_ELEMENTS = 1_000_000
_DEPTH = 20
_DEFAULTS = 20  # attributes that a document type may declare; XMLBIF has two
_LONGEST = 100  # characters of the default value of an attribute
_BLANK = re.compile(r"[ \t\r\n]+")
_STRANGE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DOUBT = "no network needs this, so do not trust the file"


def spell_xmlbif(name: str, _kind: str) -> str:
    r"""Return the name if all readers of XMLBIF keep it, otherwise a similar name.

    Examples
    --------
    >>> spell_xmlbif("Größe <5", "state"), spell_xmlbif(" a \n b", "state")
    ('Größe <5', 'a b')
    """
    return _merged(_STRANGE.sub("_", name)) or "_"


def write_xmlbif(spelling: Spelling) -> str:
    """Write a network with names that XMLBIF keeps."""
    network = spelling.network
    variables = [html.escape(name, quote=False) for name in spelling.variables]
    *notes, first = [_comment(note) if note else "" for note in spelling.notes]
    pieces = ['<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n']
    pieces.append(f"<NAME>{html.escape(spelling.name, quote=False)}</NAME>\n{first}")
    for place, (name, states, note) in enumerate(
        zip(variables, spelling.states, notes, strict=True)
    ):
        pieces.append(f'<VARIABLE TYPE="nature">\n<NAME>{name}</NAME>\n{note}')
        pieces += [f"<OUTCOME>{html.escape(s, quote=False)}</OUTCOME>\n" for s in states]
        pieces += [f"<PROPERTY>{one}</PROPERTY>\n" for one in properties(network, place)]
        pieces.append("</VARIABLE>\n")
    for name, parents, table in zip(variables, network.parents, network.tables, strict=True):
        pieces.append(f"<DEFINITION>\n<FOR>{name}</FOR>\n")
        pieces += [f"<GIVEN>{variables[parent]}</GIVEN>\n" for parent in parents]
        rows = (np.asarray(table) + 0.0).reshape(-1, np.shape(table)[-1]).tolist()
        numbers = "\n".join(" ".join(map(repr, row)) for row in rows)
        pieces.append(f"<TABLE>{numbers}</TABLE>\n</DEFINITION>\n")
    pieces.append("</NETWORK>\n</BIF>\n")
    return "".join(pieces)


def _comment(note: str) -> str:
    """Write a note as a comment; XML comments must not have two hyphens in a row."""
    escaped = note.replace("-", "\\u002d")
    return f"<!-- {NOTE}{escaped} -->\n"


def read_xmlbif(content: str | bytes, draft: Draft) -> None:
    """Fill a draft from the content of an XMLBIF file."""
    root = _parse(content, draft)
    networks = root.all("NETWORK")
    if root.tag != "BIF" or len(networks) != 1:
        what = f"<{short(root.tag)[1:-1]}> with {len(networks)} <NETWORK> is the outermost element"
        raise draft.error(root.line, what, "XMLBIF has one <NETWORK> in a <BIF>")
    draft.name = next((element.name for element in networks[0].all("NAME")), "")
    for variable in networks[0].all("VARIABLE"):
        name = variable.one("NAME", draft).name
        if (kind := variable.kind.lower()) in {"decision", "utility"}:
            what = f"variable {short(name)} is of type {kind}"
            raise draft.error(variable.line, what, "only random variables can be read")
        states = [state.name for state in variable.all("OUTCOME")]
        described = [one.name for one in variable.all("PROPERTY")]
        draft.add_variable(name, states, variable.line, described)
    for definition in networks[0].all("DEFINITION"):
        element = definition.one("FOR", draft)
        child = draft.find(element.name, element.line)
        parents = tuple(draft.find(one.name, one.line) for one in definition.all("GIVEN"))
        shape = draft.shape(child, parents, definition.line)
        table = definition.one("TABLE", draft)
        numbers = draft.numbers(table.text, math.prod(shape), child, table.line)
        draft.define(child, parents, numbers.reshape(shape), table.line)


class _Element:
    """One element of the file and the line where it starts."""

    __slots__ = ("children", "kind", "line", "tag", "text", "texts")

    def __init__(self, tag: str, kind: str, line: int) -> None:
        self.tag, self.kind, self.line, self.text = tag, kind, line, ""
        self.texts: list[str] = []
        self.children: list[_Element] = []

    @property
    def name(self) -> str:
        """Its text with blanks merged, as all programs do."""
        return _merged(self.text)

    def all(self, tag: str) -> list[_Element]:
        """Return the children with a tag."""
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str, draft: Draft) -> _Element:
        """Return the child with a tag that must occur exactly once."""
        children = self.all(tag)
        if len(children) != 1:
            what = f"a <{self.tag}> has {len(children)} <{tag}>"
            raise draft.error(self.line, what, "it must have exactly one")
        return children[0]


class _Builder:
    """Builds the tree of elements from expat's events and refuses harmful content."""

    def __init__(self, draft: Draft, encoding: str | None) -> None:
        self.draft = draft
        self.root = _Element("", "", 1)
        self._open = [self.root]
        self._elements = self._defaults = 0
        self.parser = expat.ParserCreate(encoding)
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        self.parser.CommentHandler = self._comment
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.AttlistDeclHandler = self._attribute
        self.parser.EntityDeclHandler = self._entity

    def refuse(self, what: str) -> None:
        raise self.draft.error(self.parser.CurrentLineNumber, what, _DOUBT)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > _ELEMENTS or len(self._open) > _DEPTH:
            self.refuse(f"there are more than {_ELEMENTS} elements, or {_DEPTH} within each other")
        line = self.parser.CurrentLineNumber
        element = _Element(tag.upper(), attributes.get("TYPE", ""), line)
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _tag: str) -> None:
        element = self._open.pop()
        element.text = "".join(element.texts)
        element.texts.clear()

    def _data(self, text: str) -> None:
        self._open[-1].texts.append(text)

    def _comment(self, text: str) -> None:
        if text.lstrip().startswith(NOTE):
            self.draft.note(text.strip().removeprefix(NOTE), self.parser.CurrentLineNumber)

    def _doctype(self, _name: str, system: str | None, public: str | None, _inside: bool) -> None:
        if system is not None or public is not None:
            self.refuse(f"the document type is external, {short(system or public or '')}")

    def _attribute(
        self, _element: str, name: str, _kind: str, default: str | None, _required: bool
    ) -> None:
        self._defaults += 1
        if self._defaults > _DEFAULTS or len(default or "") > _LONGEST:
            self.refuse(
                f"the document type declares too many or too long attributes: {short(name)}"
            )

    def _entity(self, name: str, *_rest: object) -> None:
        self.refuse(f"the document type declares the entity {short(name)}")


def _parse(content: str | bytes, draft: Draft) -> _Element:
    """Parse the XML; a string is already decoded, so the encoding that it declares is ignored."""
    builder = _Builder(draft, "utf-8" if isinstance(content, str) else None)
    try:
        builder.parser.Parse(content.encode() if isinstance(content, str) else content, True)
    except expat.ExpatError as error:
        what = f"this is not XML, or it is cut off ({expat.ErrorString(error.code)})"
        raise draft.error(error.lineno, what, "write or fetch the file again") from error
    except DataFileError:
        raise
    except (LookupError, ValueError) as error:
        what = f"the text does not match its encoding ({error})"
        raise draft.error(1, what, "save the file as UTF-8") from error
    return builder.root.children[0]


def _merged(text: str) -> str:
    return _BLANK.sub(" ", text).strip(" ")
