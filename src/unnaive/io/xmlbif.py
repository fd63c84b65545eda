"""XMLBIF 0.3, the Interchange Format for Bayesian networks in XML.

A ``VARIABLE`` has a ``NAME`` and its states, ``OUTCOME``; a ``DEFINITION`` tells what it is
``FOR``, the parents, ``GIVEN``, and all numbers in one ``TABLE``, where the state of the
variable changes fastest and that of its first parent slowest: the order of our arrays.

The XML is read by expat, with nothing fetched and nothing expanded: a document type may
declare elements, as that of XMLBIF does, but entities and files elsewhere are refused.
"""

from __future__ import annotations

import html
import math
import re
from typing import TYPE_CHECKING
from xml.parsers import expat

import numpy as np

from unnaive.exceptions import DataFileError
from unnaive.io.bif import NOTE, Draft, short

if TYPE_CHECKING:
    from unnaive.io.networks import Spelling

_ELEMENTS = 1_000_000
_DEPTH = 20
_DEFAULTS = 20  # attributes that a document type declares; XMLBIF has two
_LONGEST = 100  # characters of the value that it gives to an attribute by default
_BLANK = re.compile(r"[ \t\r\n]+")
_STRANGE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DOUBT = "no network needs that, do not trust the file"


def spell_xmlbif(name: str, _kind: str) -> str:
    r"""Give a name back if all readers of XMLBIF keep it, or else one like it that they keep.

    Examples
    --------
    >>> spell_xmlbif("Größe <5", "state"), spell_xmlbif(" a \n b", "state")
    ('Größe <5', 'a b')
    """
    return _merged(_STRANGE.sub("_", name)) or "_"


def write_xmlbif(spelling: Spelling) -> str:
    """Write a network whose names are spelled already."""
    network = spelling.network
    variables = [html.escape(name, quote=False) for name in spelling.variables]
    *notes, first = [_comment(note) if note else "" for note in spelling.notes]
    pieces = ['<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n']
    pieces.append(f"<NAME>{html.escape(spelling.name, quote=False)}</NAME>\n{first}")
    for name, states, note in zip(variables, spelling.states, notes, strict=True):
        pieces.append(f'<VARIABLE TYPE="nature">\n<NAME>{name}</NAME>\n{note}')
        pieces += [f"<OUTCOME>{html.escape(s, quote=False)}</OUTCOME>\n" for s in states]
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
    """Hide a note from other programs; XML has no two hyphens in a comment."""
    hidden = note.replace("-", "\\u002d")
    return f"<!-- {NOTE}{hidden} -->\n"


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
            raise draft.error(variable.line, what, "only networks of chance variables can be read")
        draft.add_variable(name, [state.name for state in variable.all("OUTCOME")], variable.line)
    for definition in networks[0].all("DEFINITION"):
        element = definition.one("FOR", draft)
        child = draft.find(element.name, element.line)
        parents = tuple(draft.find(given.name, given.line) for given in definition.all("GIVEN"))
        shape = draft.shape(child, parents, definition.line)
        table = definition.one("TABLE", draft)
        numbers = draft.numbers(table.text, math.prod(shape), child, table.line)
        draft.define(child, parents, numbers.reshape(shape), table.line)


class _Element:
    """One element of the file, and the line it starts on."""

    __slots__ = ("children", "kind", "line", "tag", "text", "texts")

    def __init__(self, tag: str, kind: str, line: int) -> None:
        self.tag = tag
        self.kind = kind
        self.line = line
        self.text = ""
        self.texts: list[str] = []
        self.children: list[_Element] = []

    @property
    def name(self) -> str:
        """What it holds, blanks merged, as all programs do."""
        return _merged(self.text)

    def all(self, tag: str) -> list[_Element]:
        """Elements of one kind within it."""
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str, draft: Draft) -> _Element:
        """Take the element of a kind that must be there once."""
        found = self.all(tag)
        if len(found) != 1:
            what = f"a <{self.tag}> has {len(found)} <{tag}>"
            raise draft.error(self.line, what, "it must have exactly one")
        return found[0]


class _Builder:
    """Puts the elements together that expat finds, and refuses what could do harm."""

    def __init__(self, draft: Draft, encoding: str | None) -> None:
        self.draft = draft
        self.root = _Element("", "", 1)
        self._open = [self.root]
        self._elements = 0
        self._defaults = 0
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
            self.refuse(f"the document type is in another place, {short(system or public or '')}")

    def _attribute(
        self, _element: str, name: str, _kind: str, default: str | None, _required: bool
    ) -> None:
        self._defaults += 1
        if self._defaults > _DEFAULTS or len(default or "") > _LONGEST:
            self.refuse(f"the document type gives too much to attributes, {short(name)} for one")

    def _entity(self, name: str, *_rest: object) -> None:
        self.refuse(f"the document type declares the entity {short(name)}")


def _parse(content: str | bytes, draft: Draft) -> _Element:
    """Read the XML; a string is UTF-8 by now, whatever encoding it declares."""
    builder = _Builder(draft, "utf-8" if isinstance(content, str) else None)
    try:
        builder.parser.Parse(content.encode() if isinstance(content, str) else content, True)
    except expat.ExpatError as error:
        what = f"this is not XML, or cut off ({expat.ErrorString(error.code)})"
        raise draft.error(error.lineno, what, "write or fetch the file again") from error
    except DataFileError:
        raise
    except (LookupError, ValueError) as error:
        what = f"the text does not have its encoding ({error})"
        raise draft.error(1, what, "save the file as UTF-8") from error
    return builder.root.children[0]


def _merged(text: str) -> str:
    return _BLANK.sub(" ", text).strip(" ")
