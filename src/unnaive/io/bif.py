"""BIF, the Interchange Format for Bayesian networks, and the draft that a parser fills.

A file has a block for the network, one for every variable, and one for the probabilities of
every variable, ``( x | parents )``. The latter has a row for each combination of states of the
parents, ``(yes, no) 0.2, 0.8;``, or all numbers after ``table``, where the state of ``x``
changes slowest (in XMLBIF it changes fastest). ``default`` fills the missing rows. Commas and
``|`` may be replaced by blanks. The parser accepts all of these; the writer uses rows, which
all programs read in the same order.
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
    from collections.abc import Callable, Iterator, Sequence

    from unnaive._typing import FloatArray, State
    from unnaive.io.networks import NetworkDescription, Spelling

    Entry = tuple[str, str, int]  # "table", "default" or "(", the text after it, its line
    Fields = tuple[
        str,
        list[str],
        list[tuple[str, ...]],
        list[tuple[int, ...]],
        list[FloatArray],
        list[tuple[str, ...]],
        list[tuple[float, ...] | None],
    ]

NOTE = "unnaive-names "  # begins the comments that hold the original names
TYPE, BINS = "unnaive_type", "unnaive_bins"  # properties of variables, see properties
TYPES: dict[str, Callable[[str], object]] = {  # of states
    "text": str,
    "int": int,
    "float": float,
    "bool": "True".__eq__,
}
EXACT = 1e-9  # sums this close to 1 are not normalized, so that a round trip is exact
_ROUNDED = 1e-2 + EXACT  # sums this close to 1 come from rounded numbers
_CELLS = 1 << 25  # numbers in all tables; a short file with defaults can ask for many
_VARIABLES, _STATES = 100_000, 1_000_000
_PARENTS = 63  # numpy arrays have at most 64 axes

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
_SAFE = {  # names that pgmpy, pyAgrum and bnlearn read; pgmpy stumbles over words within names
    "network": re.compile(r"(?!.*(?:variable|probability))[A-Za-z_][A-Za-z0-9_]*"),
    "variable": re.compile(rf"(?!.*(?:table|default)[0-9eE]){_START}[A-Za-z0-9_]*"),
    "state": re.compile(rf"{_START}[A-Za-z0-9_.%?-]*|-?[0-9]+"),
}
_SIGNS = str.maketrans({"<": " lt ", ">": " gt ", "≤": " le ", "≥": " ge "})


def spell_bif(name: str, kind: str) -> str:
    """Return the name if all readers of BIF accept it, otherwise a similar name.

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


def properties(network: NetworkDescription, place: int) -> list[str]:
    """Spell the types of the states and the edges of the bins of a variable, if there are any."""
    types = network.types[place] if network.types else ()
    bins = network.bins[place] if network.bins else None
    written = [f"{TYPE} = {' '.join(types)}"] if set(types) - {"text"} else []
    return written if bins is None else [*written, f"{BINS} = {' '.join(map(repr, bins))}"]


def write_bif(spelling: Spelling) -> str:
    """Write a network with names that BIF allows."""
    network = spelling.network
    *notes, first = [f"    // {NOTE}{note}\n" if note else "" for note in spelling.notes]
    pieces = [f"network {spelling.name} {{\n{first}}}\n"]
    lines = zip(spelling.variables, spelling.states, notes, strict=True)
    for place, (name, states, note) in enumerate(lines):
        domain = f"    type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n"
        domain += "".join(f"    property {one} ;\n" for one in properties(network, place))
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


def read_bif(content: str | bytes, draft: Draft) -> None:
    """Fill a draft from the content of a BIF file."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        what = f"the byte 0x{error.object[error.start]:02x} is not UTF-8"
        raise draft.error(line, what, "save the file as UTF-8") from error
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
    """Replace comments by blanks, keeping line numbers, and store the names in our comments."""
    notes: list[tuple[int, str]] = []

    def blank(match: re.Match[str]) -> str:
        comment, kind = match[0], match[0][:2]
        end = {"//": "", "/*": "*/"}.get(kind, '"')
        if len(comment) < 2 * len(end) or not comment.endswith(end):
            line = text.count("\n", 0, match.start()) + 1
            raise draft.error(line, f"{short(comment)} is not closed", f"add {end} where it ends")
        if comment.startswith('"'):
            return comment
        if kind == "//" and comment[2:].lstrip().startswith(NOTE):
            notes.append((match.start(), comment[2:].strip().removeprefix(NOTE)))
        return "\n" * comment.count("\n") or " "

    bare = _COMMENT.sub(blank, text)
    line, before = 1, 0
    for start, note in notes:
        line, before = line + text.count("\n", before, start), start
        draft.note(note, line)
    return bare


class _Scanner:
    """Reads a text without comments from left to right and counts lines."""

    def __init__(self, text: str, draft: Draft) -> None:
        self.text, self.draft = text, draft
        self.line, self._position = 1, 0

    def word(self) -> str:
        """Read a word or a single other character; "" at the end."""
        match = next(_WORD.finditer(self.text, self._position))
        self._move(match.end())
        return match[1]

    def take(self, stop: str) -> str:
        """Read up to and including a character that is not in quotes."""
        match = _UNTIL[stop].match(self.text, self._position)
        if not match:
            raise self.draft.error(self.line, f"no {stop} follows", "the file may be cut off")
        self._move(match.end())
        return match[1]

    def entries(self, wanted: set[str]) -> Iterator[Entry]:
        """Read a block to its end, skipping properties."""
        while (word := self.word()) != "}":
            line = self.line
            if word in wanted or word == "property":
                text = self.take("{" if word == "type" else ";")
                if word in wanted:
                    yield word, text, line
            elif word != ";":
                raise self.surprise(word, ", ".join(sorted({*wanted, "property", "}"})))

    def surprise(self, word: str, wanted: str) -> DataFileError:
        """Make the error for an unexpected word."""
        if not word:
            return self.draft.error(self.line, "the file ends within a block", "it is cut off")
        rest = (word + self.text[self._position : self._position + 30]).splitlines()[0]
        return self.draft.error(self.line, f"found {rest!r}", f"expected one of {wanted}")

    def _move(self, position: int) -> None:
        self.line += self.text.count("\n", self._position, position)
        self._position = position


def _read_variable(scanner: _Scanner, draft: Draft) -> None:
    line = scanner.line
    name = _clean(scanner.take("{"))
    states: list[str] = []
    described: list[str] = []
    for word, kind, place in scanner.entries({"type", "property"}):
        if word == "property":
            described.append(kind)
            continue
        match = _TYPE.fullmatch(kind)
        if not match or not 0 < int(match[1]) <= _STATES:
            what = f"variable {short(name)} has type {short(' '.join(kind.split()))}"
            raise draft.error(place, what, "only discrete [ number of states ] is supported")
        inside, count = scanner.take("}"), int(match[1])
        states = _split(inside, count)
        if len(states) != count:
            what = f"variable {short(name)} does not have the {count} states that it declares"
            cure = "count them, and put quotes around those with blanks, commas or brackets"
            raise draft.error(place, what, cure)
    draft.add_variable(name, states, line, described)


def _define(header: str, line: int, entries: list[Entry], draft: Draft) -> None:
    """Make the table of a variable from the rows of its block."""
    child, *rest = _read_header(header, line, draft)
    parents = tuple(rest)
    shape = draft.shape(child, parents, line)
    table = np.full(shape, np.nan)
    codes = [{label: code for code, label in enumerate(draft.states[p])} for p in parents]
    default = None
    for kind, text, place in entries:
        states, _, numbers = text.rpartition(")") if kind == "(" else ("", "", text)
        row = _row(states, codes, child, place, draft) if kind == "(" else ()
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
        labels = ", ".join(draft.states[p][code] for p, code in zip(parents, which, strict=True))
        what = f"variable {draft.named(child)} has no probabilities for ({labels})"
        raise draft.error(line, what, "add the row, or a default")
    draft.define(child, parents, table, line)


def _read_header(header: str, line: int, draft: Draft) -> list[int]:
    """Return the positions of a variable and its parents."""
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
    states: str, codes: list[dict[str, int]], child: int, line: int, draft: Draft
) -> tuple[int, ...]:
    """Return the index of a row of a table."""
    labels = _split(states, len(codes))
    if len(labels) != len(codes):
        what = f"a row of variable {draft.named(child)} does not begin with {len(codes)} states"
        raise draft.error(line, what, "write one state of each parent, in their order")
    for label, known in zip(labels, codes, strict=True):
        if label not in known:
            what = f"variable {draft.named(child)} has a row for state {short(label)}"
            cure = f"the states of that parent are {short(', '.join(known))[1:-1]}"
            raise draft.error(line, what, cure)
    return tuple(known[label] for label, known in zip(labels, codes, strict=True))


def _turned(
    values: FloatArray, shape: tuple[int, ...], child: int, line: int, draft: Draft
) -> FloatArray:
    """Move the axis of the variable, the first in a table of BIF, to the end."""
    table = np.moveaxis(values.reshape(shape[-1], *shape[:-1]), 0, -1)
    deviation = np.abs(table.sum(axis=-1) - 1).max()
    if deviation > _ROUNDED and np.abs(values.reshape(shape).sum(axis=-1) - 1).max() <= _ROUNDED:
        what = f"the table of variable {draft.named(child)} is in the order of XMLBIF"
        raise draft.error(line, what, "in BIF the states of the variable itself change slowest")
    return table


def _split(text: str, count: int) -> list[str]:
    """Split at commas; also at blanks if commas do not give the expected number of pieces."""
    between = (match[0] for match in _PIECE.finditer(text))
    pieces = list(islice(filter(str.strip, between), count + 1))
    if len(pieces) != count:
        pieces = [match[0] for match in islice(_TOKEN.finditer(text), count + 1)]
    return [_clean(piece) for piece in pieces]


def _clean(text: str) -> str:
    """Remove the quotes of a name, or merge the blanks of an unquoted one."""
    words = _TOKEN.findall(text)
    quoted = len(words) == 1 and words[0].startswith('"')
    return words[0][1:-1] if quoted else " ".join(text.split())


class Draft:
    """A network while its file is parsed; every error names the file, the line and a cure."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.name = ""
        self.variables: list[str] = []
        self.states: list[tuple[str, ...]] = []
        self.places: dict[str, int] = {}
        self.types: list[tuple[str, ...]] = []
        self.bins: list[tuple[float, ...] | None] = []
        self._defined: dict[int, tuple[tuple[int, ...], FloatArray]] = {}
        self._notes: dict[str, State] = {}
        self._cells = 0

    def error(self, line: int, what: str, cure: str) -> DataFileError:
        """Make the error for a line of the file."""
        return DataFileError(f"{self.source}, line {line}: {what}; {cure}")

    def named(self, place: int) -> str:
        """Quote the name of a variable."""
        return short(self.variables[place])

    def note(self, text: str, line: int) -> None:
        """Store the original names that one of our comments holds."""
        try:
            note = json.loads(text)
            key, names = note.get("variable", ""), note.setdefault("states", {})
            texts = [key, note.get("name", ""), note.get("network", ""), *names.values()]
        except (ValueError, TypeError, AttributeError, RecursionError):
            texts = [None]
        if not all(isinstance(name, str) for name in texts):
            cure = "remove it to read the names as they are in the file"
            raise self.error(line, "a comment that holds names was altered", cure)
        self._notes[key] = note

    def add_variable(
        self, name: str, states: Sequence[str], line: int, described: Sequence[str] = ()
    ) -> None:
        """Add a variable, in the order of the file; of its properties, only ours are read."""
        if not name or name in self.places:
            what = f"variable {short(name)} is declared twice" if name else "a variable has no name"
            raise self.error(line, what, "give every variable its own name")
        if not states or len(set(states)) < len(states):
            what = f"variable {short(name)} has {'a state twice' if states else 'no states'}"
            raise self.error(line, what, "list every state once")
        if len(self.places) == _VARIABLES:
            what = f"there are more than {_VARIABLES} variables"
            raise self.error(line, what, "larger networks cannot be read")
        self.places[name] = len(self.places)
        self.variables.append(name)
        self.states.append(tuple(states))
        pairs = (text.partition("=") for text in described)
        known = {key.strip(' "'): value.strip(' "').split() for key, _, value in pairs}
        types, edges = known.get(TYPE, []), known.get(BINS)
        if not set(types) <= set(TYPES) or len(types) not in {0, len(states)}:
            raise self.error(line, f"{TYPE} of {short(name)} was altered", "remove the property")
        try:
            bins = None if edges is None else tuple(map(float, edges))
        except ValueError as error:
            what = f"{BINS} of {short(name)} are not numbers"
            raise self.error(line, what, "remove the property") from error
        self.types.append(tuple(types))
        self.bins.append(bins)

    def find(self, name: str, line: int) -> int:
        """Return the position of a variable."""
        if name not in self.places:
            near = get_close_matches(name[:60], self.variables[:1000], n=1)
            cure = f"did you mean {near[0]!r}?" if near else "declare it"
            raise self.error(line, f"variable {short(name)} is not declared", cure)
        return self.places[name]

    def shape(self, child: int, parents: tuple[int, ...], line: int) -> tuple[int, ...]:
        """Return the shape of a table after checking that it fits into memory."""
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
        """Parse the probabilities of a table or of one of its rows."""
        words = text.split(None, size)
        if len(words) != size:
            amount = len(words) if len(words) < size else f"more than {size}"
            what = f"variable {self.named(child)} has {amount} numbers here but needs {size}"
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
        """Add the table of a variable; rows of rounded numbers are normalized."""
        sums = table.sum(axis=-1, keepdims=True)
        deviation = np.abs(sums - 1)
        if deviation.max() > _ROUNDED:
            worst = np.unravel_index(int(deviation.argmax()), deviation.shape)
            pairs = zip(parents, worst, strict=False)  # the last axis has length one
            where = ", ".join(f"{self.variables[p]} = {self.states[p][code]}" for p, code in pairs)
            row = f"{self.named(child)}{' given ' if where else ''}{short(where)[1:-1]}"
            what = f"the probabilities of variable {row} sum to {sums[worst]:.9g}"
            raise self.error(line, what, "make them sum to 1")
        self._defined[child] = (parents, np.where(deviation <= EXACT, table, table / sums))

    def finish(self) -> Fields:
        """Return the fields of a description, with the original names."""
        if not self.variables:
            raise DataFileError(f"{self.source} has no variable; is it a network?")
        for place in range(len(self.variables)):
            if place not in self._defined:
                what = f"{self.source}: variable {self.named(place)} has no probabilities"
                raise DataFileError(f"{what}; add them, or remove the variable")
        notes = [self._notes.get(name, {"states": {}}) for name in self.variables]
        variables = [n.get("name", name) for n, name in zip(notes, self.variables, strict=True)]
        states = [
            tuple(note["states"].get(label, label) for label in labels)
            for note, labels in zip(notes, self.states, strict=True)
        ]
        name = self._notes.get("", {}).get("network", self.name)
        tables = [self._defined[place] for place in range(len(variables))]
        above, filled = [p for p, _ in tables], [table for _, table in tables]
        return name, variables, states, above, filled, self.types, self.bins


def short(name: str) -> str:
    """Quote a name for a message, shortened if it is long."""
    return repr(name if len(name) <= 60 else f"{name[:60]}…")
