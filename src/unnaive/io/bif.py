"""BIF, the Interchange Format for Bayesian networks, and the draft that a reader fills.

A file has a block for the network, one for every variable and one for the probabilities of
every variable, ``( x | parents )``: a row for each combination of the parents' states,
``(yes, no) 0.2, 0.8;``, or all numbers at once after ``table``, where the state of ``x``
changes slowest (in XMLBIF it changes fastest). ``default`` is for the rows not given.
Commas and ``|`` may be left out where blanks separate. We read all of that, and write the
rows, which no program reads in another order.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from difflib import get_close_matches
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import DataFileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unnaive._typing import FloatArray, State
    from unnaive.io.networks import Spelling

    Entry = tuple[str, str, int]  # "table", "default" or "(", the text after it, its line
    Parts = tuple[str, list[str], list[tuple[str, ...]], list[tuple[int, ...]], list[FloatArray]]

NOTE = "unnaive-names "  # begins the comments that hold true names
EXACT = 1e-9  # sums this near to 1 are left alone, so that a round trip changes no bit
_ROUNDED = 1e-2 + EXACT  # sums this near to 1 were rounded by who wrote them
_CELLS = 1 << 25  # numbers of all tables, which few rows and a default can ask for
_VARIABLES, _STATES = 100_000, 1_000_000
_PARENTS = 63  # arrays have no more axes than 64

_KEYWORDS = {"network", "variable", "probability", "property"}
_KEYWORDS |= {"type", "discrete", "default", "table"}
_COMMENT = re.compile(r'"[^"\n]*+"?|//[^\n]*+|/\*.*?(?:\*/|\Z)', re.DOTALL)
_WORD = re.compile(r"\s*+([A-Za-z]++|.|\Z)", re.DOTALL)
_UNTIL = {stop: re.compile(rf'((?:[^{stop}"]++|"[^"]*+")*+){stop}') for stop in "{};"}
_TYPE = re.compile(r"\s*discrete\s*\[\s*([0-9]{1,9})\s*\]\s*=?\s*")
_PIECE = re.compile(r'(?:[^,"]++|"[^"]*+")++')  # between commas
_NAME = re.compile(r'(?:[^,|"]++|"[^"]*+")++')  # between commas and bars
_TOKEN = re.compile(r'"[^"]*+"|[^\s,"]++')  # between blanks
_NUMBER = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_START = r"(?:[A-Za-z_]|[0-9]+[A-DF-Za-df-z_])"  # 1e5 would be a number
_SAFE = {  # what pgmpy, pyAgrum and bnlearn all take; pgmpy trips over words within names
    "network": re.compile(r"(?!.*(?:variable|probability))[A-Za-z_][A-Za-z0-9_]*"),
    "variable": re.compile(rf"(?!.*(?:table|default)[0-9eE]){_START}[A-Za-z0-9_]*"),
    "state": re.compile(rf"{_START}[A-Za-z0-9_.%?-]*|-?[0-9]+"),
}
_SIGNS = str.maketrans({"<": " lt ", ">": " gt ", "≤": " le ", "≥": " ge "})


def spell_bif(name: str, kind: str) -> str:
    """Give a name back if all readers of BIF take it, or else one like it that they take.

    Examples
    --------
    >>> spell_bif("Größe", "variable"), spell_bif("<=2.5", "state"), spell_bif("table", "state")
    ('Gro_e', 'le_2_5', 'table_')
    """
    if _SAFE[kind].fullmatch(name) and name not in _KEYWORDS:
        return name
    plain = name.replace("<=", "≤").replace(">=", "≥").translate(_SIGNS)
    plain = unicodedata.normalize("NFKD", plain)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = re.sub(r"[^A-Za-z0-9]+", "_", plain.strip())
    plain = plain if plain[:1].isalpha() else f"x{plain}"
    plain = re.sub(r"(table|default)(?=[0-9eE])", r"\1_", plain)
    if kind == "network" and not _SAFE[kind].fullmatch(plain):
        return "unknown"
    return f"{plain}_" if plain in _KEYWORDS else plain


def write_bif(spelling: Spelling) -> str:
    """Write a network whose names are spelled already."""
    network = spelling.network
    *notes, first = [f"    // {NOTE}{note}\n" if note else "" for note in spelling.notes]
    pieces = [f"network {spelling.name} {{\n{first}}}\n"]
    for name, states, note in zip(spelling.variables, spelling.states, notes, strict=True):
        domain = f"    type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n"
        pieces.append(f"variable {name} {{\n{note}{domain}}}\n")
    for name, parents, table in zip(
        spelling.variables, network.parents, network.tables, strict=True
    ):
        given = f" | {', '.join(spelling.variables[parent] for parent in parents)}"
        pieces.append(f"probability ( {name}{given if parents else ''} ) {{\n")
        rows = (np.asarray(table) + 0.0).reshape(-1, np.shape(table)[-1]).tolist()
        given_states = product(*(spelling.states[parent] for parent in parents))
        for labels, row in zip(given_states, rows, strict=True):
            start = f"({', '.join(labels)})" if parents else "table"
            pieces.append(f"    {start} {', '.join(map(repr, row))};\n")
        pieces.append("}\n")
    return "".join(pieces)


def read_bif(text: str, draft: Draft) -> None:
    """Fill a draft from the text of a BIF file."""
    if text.lstrip().startswith("<"):
        raise draft.error(1, "this is XML, not BIF", "let its name end in .xml, or pass format")
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    scanner = _Scanner(_without_comments(lines, draft), draft)
    blocks: list[tuple[str, int, list[Entry]]] = []
    while word := scanner.word():
        line = scanner.line
        if word == "network":
            draft.name = _clean(scanner.take("{"))
            list(scanner.entries(set()))
        elif word == "variable":
            _read_variable(scanner, draft)
        elif word == "probability":
            header = scanner.take("{")
            blocks.append((header, line, list(scanner.entries({"table", "default", "("}))))
        elif word != ";":
            raise scanner.surprise(word, "network, variable or probability")
    for header, line, entries in blocks:
        _define(header, line, entries, draft)


def _without_comments(text: str, draft: Draft) -> str:
    """Blank out comments, lines kept, and take down the names that some of them hold."""
    notes: list[tuple[int, str]] = []

    def blank(match: re.Match[str]) -> str:
        found, kind = match[0], match[0][:2]
        end = {"//": "", "/*": "*/"}.get(kind, '"')
        if len(found) < 2 * len(end) or not found.endswith(end):
            line = text.count("\n", 0, match.start()) + 1
            raise draft.error(line, f"{short(found)} is not closed", f"add {end} where it ends")
        if found.startswith('"'):
            return found
        if kind == "//" and found[2:].lstrip().startswith(NOTE):
            notes.append((match.start(), found[2:].strip().removeprefix(NOTE)))
        return "\n" * found.count("\n") or " "

    bare = _COMMENT.sub(blank, text)
    line, before = 1, 0
    for start, note in notes:
        line, before = line + text.count("\n", before, start), start
        draft.note(note, line)
    return bare


class _Scanner:
    """Walks over a text without comments, and knows the line."""

    def __init__(self, text: str, draft: Draft) -> None:
        self.text = text
        self.draft = draft
        self.line = 1
        self._place = 0

    def word(self) -> str:
        """Take a word, or else one character; nothing at the end."""
        match = next(_WORD.finditer(self.text, self._place))
        self._move(match.end())
        return match[1]

    def take(self, stop: str) -> str:
        """Take all up to a character that is not in quotes, and that character."""
        match = _UNTIL[stop].match(self.text, self._place)
        if not match:
            raise self.draft.error(self.line, f"no {stop} follows", "the file may be cut off")
        self._move(match.end())
        return match[1]

    def entries(self, wanted: set[str]) -> Iterator[Entry]:
        """Take the inside of a block, which properties may be in too, and its end."""
        while (word := self.word()) != "}":
            line = self.line
            if word in wanted or word == "property":
                text = self.take("{" if word == "type" else ";")
                if word in wanted:
                    yield word, text, line
            elif word != ";":
                raise self.surprise(word, ", ".join(sorted({*wanted, "property", "}"})))

    def surprise(self, word: str, wanted: str) -> DataFileError:
        """Make the error for what must not stand here."""
        if not word:
            return self.draft.error(self.line, "the file ends within a block", "it is cut off")
        found = (word + self.text[self._place : self._place + 30]).splitlines()[0]
        return self.draft.error(self.line, f"found {found!r}", f"here must stand one of {wanted}")

    def _move(self, place: int) -> None:
        self.line += self.text.count("\n", self._place, place)
        self._place = place


def _read_variable(scanner: _Scanner, draft: Draft) -> None:
    line = scanner.line
    name = _clean(scanner.take("{"))
    states: list[str] = []
    for _, kind, place in scanner.entries({"type"}):
        match = _TYPE.fullmatch(kind)
        if not match or not 0 < int(match[1]) <= _STATES:
            what = f"variable {short(name)} has type {short(' '.join(kind.split()))}"
            raise draft.error(place, what, "only discrete [ number of states ] can be read")
        inside, count = scanner.take("}"), int(match[1])
        states = _split(inside, count)
        if len(states) != count:
            what = f"variable {short(name)} has not the {count} states it declares"
            cure = "count them, and put quotes around those with blanks, commas or brackets"
            raise draft.error(place, what, cure)
    draft.add_variable(name, states, line)


def _define(header: str, line: int, entries: list[Entry], draft: Draft) -> None:
    """Make the table of a variable from the rows of its block."""
    child, *parents = _read_header(header, line, draft)
    given = tuple(parents)
    shape = draft.shape(child, given, line)
    table = np.full(shape, np.nan)
    places = [{label: code for code, label in enumerate(draft.states[p])} for p in given]
    default = None
    for kind, text, place in entries:
        states, _, numbers = text.rpartition(")") if kind == "(" else ("", "", text)
        row = _row(states, places, child, place, draft) if kind == "(" else ()
        size = shape[-1] if kind != "table" else math.prod(shape)
        values = draft.numbers(numbers.replace(",", " "), size, child, place)
        if kind == "default":
            default = values
        elif np.isnan(table[row]).all():
            table[row] = values if kind == "(" else _turned(values, shape, child, place, draft)
        else:
            what = f"variable {draft.named(child)} has the same row twice"
            raise draft.error(place, what, "remove one of them")
    missing = np.isnan(table[..., 0])
    if default is not None:
        table[missing] = default
    elif missing.any():
        which = np.unravel_index(int(missing.argmax()), missing.shape)
        row_states = ", ".join(draft.states[p][code] for p, code in zip(given, which, strict=True))
        what = f"variable {draft.named(child)} has no probabilities for ({row_states})"
        raise draft.error(line, what, "add the row, or a default")
    draft.define(child, given, table, line)


def _read_header(header: str, line: int, draft: Draft) -> list[int]:
    """Tell the places of a variable and its parents."""
    inside = header.strip()
    pieces = [piece for piece in _NAME.findall(inside[1:-1]) if piece.strip()]
    if not (pieces and inside.startswith("(") and inside.endswith(")")):
        what = f"found {short(inside)} after probability"
        raise draft.error(line, what, "write probability ( variable | parent, parent ) {")
    places: list[int] = []
    for piece in pieces:
        names = [_clean(word) for word in _TOKEN.findall(piece)]
        if _clean(piece) in draft.places or names[0] not in draft.places:
            names = [_clean(piece)]
        places.extend(draft.find(name, line) for name in names)
    return places


def _row(
    states: str, places: list[dict[str, int]], child: int, line: int, draft: Draft
) -> tuple[int, ...]:
    """Tell where in a table a row belongs."""
    labels = _split(states, len(places))
    if len(labels) != len(places):
        what = f"a row of variable {draft.named(child)} has not {len(places)} states before it"
        raise draft.error(line, what, "write one state of each parent, in their order")
    for label, known in zip(labels, places, strict=True):
        if label not in known:
            what = f"variable {draft.named(child)} has a row for state {short(label)}"
            cure = f"the states of that parent are {short(', '.join(known))[1:-1]}"
            raise draft.error(line, what, cure)
    return tuple(known[label] for label, known in zip(labels, places, strict=True))


def _turned(
    values: FloatArray, shape: tuple[int, ...], child: int, line: int, draft: Draft
) -> FloatArray:
    """Bring the axis of the variable, the first in a table of BIF, to the end."""
    table = np.moveaxis(values.reshape(shape[-1], *shape[:-1]), 0, -1)
    away = np.abs(table.sum(axis=-1) - 1).max()
    if away > _ROUNDED and np.abs(values.reshape(shape).sum(axis=-1) - 1).max() <= _ROUNDED:
        what = f"the table of variable {draft.named(child)} is in the order of XMLBIF"
        raise draft.error(line, what, "in BIF the states of the variable itself change slowest")
    return table


def _split(text: str, count: int) -> list[str]:
    """Split at commas, or at blanks too if that gives as many pieces as there must be."""
    found = (match[0] for match in _PIECE.finditer(text))
    pieces = list(islice(filter(str.strip, found), count + 1))
    if len(pieces) != count:
        pieces = [match[0] for match in islice(_TOKEN.finditer(text), count + 1)]
    return [_clean(piece) for piece in pieces]


def _clean(text: str) -> str:
    """Take a name out of its quotes, or merge the blanks of one that has none."""
    words = _TOKEN.findall(text)
    quoted = len(words) == 1 and words[0].startswith('"')
    return words[0][1:-1] if quoted else " ".join(text.split())


class Draft:
    """A network while its file is read; every refusal names the file, the line and a cure."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.name = ""
        self.variables: list[str] = []
        self.states: list[tuple[str, ...]] = []
        self.places: dict[str, int] = {}
        self._defined: dict[int, tuple[tuple[int, ...], FloatArray]] = {}
        self._notes: dict[str, State] = {}
        self._cells = 0

    def error(self, line: int, what: str, cure: str) -> DataFileError:
        """Make the error that refuses the file."""
        return DataFileError(f"{self.source}, line {line}: {what}; {cure}")

    def named(self, place: int) -> str:
        """Quote the name of a variable."""
        return short(self.variables[place])

    def note(self, text: str, line: int) -> None:
        """Take down the true names that a comment of ours holds."""
        try:
            note = json.loads(text)
            key, names = note.get("variable", ""), note.setdefault("states", {})
            told = [key, note.get("name", ""), note.get("network", ""), *names.values()]
        except (ValueError, TypeError, AttributeError, RecursionError):
            told = [None]
        if not all(isinstance(name, str) for name in told):
            cure = "remove it, and names stay as the file spells them"
            raise self.error(line, "a comment that holds names was altered", cure)
        self._notes[key] = note

    def add_variable(self, name: str, states: Sequence[str], line: int) -> None:
        """Take down a variable, in the order of the file."""
        if not name or name in self.places:
            what = f"variable {short(name)} is declared twice" if name else "a variable has no name"
            raise self.error(line, what, "give every variable a name of its own")
        if not states or len(set(states)) < len(states):
            what = f"variable {short(name)} has {'a state twice' if states else 'no states'}"
            raise self.error(line, what, "list every state once")
        if len(self.places) == _VARIABLES:
            what = f"there are more than {_VARIABLES} variables"
            raise self.error(line, what, "no network that large can be read")
        self.places[name] = len(self.places)
        self.variables.append(name)
        self.states.append(tuple(states))

    def find(self, name: str, line: int) -> int:
        """Tell the place of a variable."""
        if name not in self.places:
            near = get_close_matches(name[:60], self.variables[:1000], n=1)
            cure = f"did you mean {near[0]!r}?" if near else "declare it"
            raise self.error(line, f"variable {short(name)} is not declared", cure)
        return self.places[name]

    def shape(self, child: int, parents: tuple[int, ...], line: int) -> tuple[int, ...]:
        """Tell the shape of a table, once it is clear that there is memory for it."""
        if child in self._defined:
            what = f"variable {self.named(child)} has its probabilities twice"
            raise self.error(line, what, "remove one of them")
        if len({child, *parents}) <= len(parents):
            what = f"the probabilities of variable {self.named(child)} name a variable twice"
            raise self.error(line, what, "list every parent once")
        shape = tuple(len(self.states[place]) for place in (*parents, child))
        self._cells += math.prod(shape)
        if len(parents) > _PARENTS or self._cells > _CELLS:
            what = f"variable {self.named(child)} has {len(parents)} parents and too large a table"
            cure = f"at most {_PARENTS} parents and {_CELLS} numbers in all tables can be read"
            raise self.error(line, what, cure)
        return shape

    def numbers(self, text: str, size: int, child: int, line: int) -> FloatArray:
        """Read as many probabilities as a table, or one row of it, must have."""
        words = text.split(None, size)
        if len(words) != size:
            found = len(words) if len(words) < size else f"more than {size}"
            what = f"variable {self.named(child)} has {found} numbers here, and {size} are needed"
            raise self.error(line, what, "give one for each of its states, in every row")
        wrong = next((word for word in words if not _NUMBER.fullmatch(word)), None)
        if wrong is not None:
            what = f"variable {self.named(child)} has {short(wrong)}, which is not a number"
            raise self.error(line, what, "write digits, with a point and not a comma")
        values = np.array([float(word) for word in words])
        if values.min() < 0 or values.max() > 1 + _ROUNDED:
            wrong = next(word for word in words if not 0 <= float(word) <= 1 + _ROUNDED)
            what = f"variable {self.named(child)} has the probability {short(wrong)[1:-1]}"
            raise self.error(line, what, "write numbers from 0 to 1, none of them negative")
        return values

    def define(self, child: int, parents: tuple[int, ...], table: FloatArray, line: int) -> None:
        """Take down the table of a variable, and divide by their sums rows that were rounded."""
        sums = table.sum(axis=-1, keepdims=True)
        away = np.abs(sums - 1)
        if away.max() > _ROUNDED:
            worst = np.unravel_index(int(away.argmax()), away.shape)
            pairs = zip(parents, worst, strict=False)  # the last axis has length one
            given = ", ".join(f"{self.variables[p]} = {self.states[p][code]}" for p, code in pairs)
            row = f"{self.named(child)}{' given ' if given else ''}{short(given)[1:-1]}"
            what = f"the probabilities of variable {row} sum to {sums[worst]:.9g}"
            raise self.error(line, what, "make them sum to 1")
        self._defined[child] = (parents, np.where(away <= EXACT, table, table / sums))

    def finish(self) -> Parts:
        """Give all that a description needs, under true names."""
        if not self.variables:
            raise DataFileError(f"{self.source} has no variable; is it a network?")
        for place in range(len(self.variables)):
            if place not in self._defined:
                what = f"{self.source}: variable {self.named(place)} has no probabilities"
                raise DataFileError(f"{what}; add them, or remove the variable")
        notes = [self._notes.get(name, {"states": {}}) for name in self.variables]
        variables = [n.get("name", own) for n, own in zip(notes, self.variables, strict=True)]
        states = [
            tuple(note["states"].get(label, label) for label in labels)
            for note, labels in zip(notes, self.states, strict=True)
        ]
        name = self._notes.get("", {}).get("network", self.name)
        tables = [self._defined[place] for place in range(len(variables))]
        return name, variables, states, [p for p, _ in tables], [table for _, table in tables]


def short(name: str) -> str:
    """Quote a name for a message, and not the whole file if it is that long."""
    return repr(name if len(name) <= 60 else f"{name[:60]}…")
