"""Bayesian networks in the files of other programs: BIF, and its successor in XML.

A network is a table for every variable: how probable its states are, given the states of
its parents. :class:`NetworkDescription` is that and nothing else; this module checks it and
knows names, :mod:`unnaive.io.bif` and :mod:`unnaive.io.xmlbif` know how a file spells it.

Names are the trouble of exchange. BIF knows words of letters, digits and ``_`` only, and no
program reads more of it than that; XMLBIF has all characters, but its readers merge blanks.
A name that a format cannot spell is written as one that it can, no two alike, and a comment
beside it, which other programs skip, holds the true one for :func:`read_network`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import DataFileError
from unnaive.io.bif import EXACT, Draft, read_bif, spell_bif, write_bif
from unnaive.io.content import require_file
from unnaive.io.store import replacing
from unnaive.io.xmlbif import read_xmlbif, spell_xmlbif, write_xmlbif

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from unnaive._typing import FloatArray

    Spell = Callable[[str, str], str]  # a name and what it names, to what the format can spell

ENDINGS = {".bif": "bif", ".xml": "xmlbif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif"}
LARGEST = 1 << 26  # bytes of a file, some three million numbers


@dataclass(frozen=True, eq=False)
class NetworkDescription:
    """A discrete Bayesian network, as files of other programs describe one.

    Whether the graph has a cycle is not checked here.

    Parameters
    ----------
    name : str
        Of the network; may be empty.
    variables : tuple of str
        In the order of the file.
    states : tuple of tuple of str
        The labels of every variable, in order.
    parents : tuple of tuple of int
        For every variable the positions of its parents, in the order of its table's axes.
    tables : tuple of float64 array
        ``P(x | parents)`` of every variable: one axis for each parent, then one for the
        variable itself, over which the numbers sum to 1.

    Raises
    ------
    ValueError
        If these do not fit together; the message names the variable.

    Examples
    --------
    >>> alarm = NetworkDescription(
    ...     "alarm",
    ...     ("burglary", "alarm"),
    ...     (("no", "yes"), ("silent", "rings")),
    ...     ((), (0,)),
    ...     (np.array([0.99, 0.01]), np.array([[0.999, 0.001], [0.06, 0.94]])),
    ... )
    >>> print(to_bif(alarm))
    network alarm {
    }
    variable burglary {
        type discrete [ 2 ] { no, yes };
    }
    variable alarm {
        type discrete [ 2 ] { silent, rings };
    }
    probability ( burglary ) {
        table 0.99, 0.01;
    }
    probability ( alarm | burglary ) {
        (no) 0.999, 0.001;
        (yes) 0.06, 0.94;
    }
    """

    name: str
    variables: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        lengths = [len(part) for part in (self.variables, self.states, self.parents, self.tables)]
        if not self.variables or len(set(lengths)) > 1:
            what = "variables, states, parents and tables are {}, {}, {} and {}".format(*lengths)
            raise ValueError(f"{what}; give one of each for every variable, and at least one")
        _check_distinct(self.variables, "the network", "variable")
        for name, states in zip(self.variables, self.states, strict=True):
            _check_distinct(states, f"variable {name!r}", "state")
        for position in range(len(self.variables)):
            _check_table(self, position)


def _check_distinct(names: Sequence[str], whose: str, what: str) -> None:
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{whose} has {what}s {names}; give at least one, and strings")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{whose} has {what} {name!r} {times} times; rename them")


def _check_table(network: NetworkDescription, position: int) -> None:
    name, parents = network.variables[position], network.parents[position]
    inside = all(isinstance(p, int | np.integer) and 0 <= p < len(network.states) for p in parents)
    if not inside or len({position, *parents}) <= len(parents):
        what = f"variable {name!r} has parents {parents}"
        raise ValueError(f"{what}; give the positions of other variables, each once")
    table = network.tables[position]
    shape = tuple(len(network.states[axis]) for axis in (*parents, position))
    if np.shape(table) != shape:
        what = f"the table of variable {name!r} has shape {np.shape(table)}"
        raise ValueError(f"{what}; its parents and states need {shape}")
    if not (np.min(table) >= 0 and np.max(np.abs(np.sum(table, axis=-1) - 1)) <= EXACT):
        what = f"the table of variable {name!r} has rows that are no probabilities"
        raise ValueError(f"{what}; divide each by its sum")


def write_network(
    path: str | os.PathLike[str],
    network: NetworkDescription,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write a network to a file that other programs open, or leave what was there untouched.

    pgmpy opens both formats, bnlearn BIF, WEKA XMLBIF, and pyAgrum both, XMLBIF if the name
    ends in ``.bifxml``. From BIF pyAgrum takes seven digits of a number, and neither it nor
    bnlearn a variable that has one state only. For GeNIe, let pyAgrum or pgmpy turn either
    into XDSL.

    Parameters
    ----------
    path : str or path
        Where to. The ending tells the format: ``.bif``, or one of ``.xml``, ``.xmlbif`` and
        ``.bifxml``.
    network : NetworkDescription
        What to write; numbers have all their digits, so that they come back exactly.
    format : {"bif", "xmlbif"}, optional
        The format, if the ending does not tell it.

    Raises
    ------
    ValueError
        If neither tells the format, or the file would be larger than 64 MiB.
    OSError
        If the file cannot be written; an older one is still there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> coin = NetworkDescription("", ("coin",), (("heads", "tails"),), ((),), (np.full(2, 0.5),))
    >>> with TemporaryDirectory() as folder:
    ...     write_network(Path(folder) / "coin.bif", coin)
    ...     read_network(Path(folder) / "coin.bif").states
    (('heads', 'tails'),)
    """
    path = Path(path)
    writer = to_bif if _format(path, format) == "bif" else to_xmlbif
    content = writer(network).encode()
    if len(content) > LARGEST:
        what = f"the network needs {len(content)} bytes, and files may have {LARGEST}"
        raise ValueError(f"{what}; merge states, or take fewer parents")
    with replacing(path) as stream:
        stream.write(content)


def read_network(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002
) -> NetworkDescription:
    """Read a network that this library or another program wrote.

    Parameters
    ----------
    path : str or path
        A file of at most 64 MiB.
    format : {"bif", "xmlbif"}, optional
        The format, if the ending (see :func:`write_network`) does not tell it.

    Returns
    -------
    NetworkDescription
        Variables, states and parents in the order of the file. Rows of probabilities that
        were rounded, to as few as two digits, are divided by their sums.

    Raises
    ------
    DataFileError
        If the file is not what its ending says, or is no network; the message gives the
        line, the variable and the cure.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> read_network("no such file.bif")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] no such file; check its name and folder: 'no such file.bif'
    """
    path = Path(path)
    require_file(path)
    form = _format(path, format)
    with path.open("rb") as stream:
        content = stream.read(LARGEST + 1)
    draft = _draft(str(path), len(content))
    if form == "xmlbif":
        read_xmlbif(content, draft)
        return _finished(draft)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = f"the byte 0x{content[error.start]:02x} is not UTF-8"
        raise draft.error(line, what, "save the file as UTF-8") from error
    read_bif(text, draft)
    return _finished(draft)


def _draft(source: str, size: int) -> Draft:
    if size > LARGEST:
        what = f"{source} has more than {LARGEST} bytes, the most that can be read"
        raise DataFileError(f"{what}; is it a network?")
    return Draft(source)


def _finished(draft: Draft) -> NetworkDescription:
    name, variables, states, parents, tables = draft.finish()
    try:
        return NetworkDescription(
            name, tuple(variables), tuple(states), tuple(parents), tuple(tables)
        )
    except ValueError as error:  # true names are all that is not checked yet
        cure = "remove the comments that begin with unnaive-names"
        raise DataFileError(f"{draft.source}: {error}, or {cure}") from error


def _format(path: Path, wanted: str | None) -> str:
    if wanted is None and path.suffix.lower() not in ENDINGS:
        cure = f"let its name end in one of {', '.join(ENDINGS)}, or pass format"
        raise DataFileError(f"{path} has no ending that tells what it is; {cure}")
    form = ENDINGS[path.suffix.lower()] if wanted is None else wanted
    if form not in ENDINGS.values():
        raise ValueError(f"format is {wanted!r}; pass 'bif' or 'xmlbif'")
    return form


def to_bif(network: NetworkDescription) -> str:
    r"""Spell a network in BIF, the older of the two formats.

    Parameters
    ----------
    network : NetworkDescription
        What to spell.

    Returns
    -------
    str
        ASCII, in the words and the layout that pgmpy, pyAgrum and bnlearn all read.

    Examples
    --------
    >>> coin = NetworkDescription("", ("my coin",), (("Kopf", "Zahl"),), ((),), (np.full(2, 0.5),))
    >>> print("\n".join(to_bif(coin).splitlines()[3:6]))
    variable my_coin {
        // unnaive-names {"variable": "my_coin", "name": "my coin"}
        type discrete [ 2 ] { Kopf, Zahl };
    """
    return write_bif(_spelling(network, spell_bif, str.lower))


def of_bif(text: str, source: str = "text") -> NetworkDescription:
    """Read the text of a BIF file.

    Parameters
    ----------
    text : str
        The whole file.
    source : str
        What errors call it.

    Returns
    -------
    NetworkDescription
        What it describes; see :func:`read_network`, also for what is refused.

    Examples
    --------
    >>> text = '''
    ... network "Dog-Problem" { property "by JavaBayes" ; }
    ... variable "family-out" { type discrete[2] { "true" "false" }; }
    ... variable "light-on" { type discrete[2] { "true" "false" }; }
    ... probability ( "family-out" ) { table 0.15 0.85 ; }
    ... probability ( "light-on" "family-out" ) { table 0.6 0.05 0.4 0.95 ; }
    ... '''
    >>> of_bif(text).tables[1]
    array([[0.6 , 0.4 ],
           [0.05, 0.95]])
    """
    draft = _draft(source, len(text))
    read_bif(text, draft)
    return _finished(draft)


def to_xmlbif(network: NetworkDescription) -> str:
    """Spell a network in XMLBIF 0.3.

    Parameters
    ----------
    network : NetworkDescription
        What to spell.

    Returns
    -------
    str
        XML that asks for UTF-8. It has no DTD, with which pyAgrum could not read it; WEKA
        complains of that and reads it all the same.

    Examples
    --------
    >>> coin = NetworkDescription("", ("coin",), (("Kopf", "Zahl"),), ((),), (np.full(2, 0.5),))
    >>> of_xmlbif(to_xmlbif(coin)).states
    (('Kopf', 'Zahl'),)
    """
    return write_xmlbif(_spelling(network, spell_xmlbif, str))


def of_xmlbif(text: str, source: str = "text") -> NetworkDescription:
    """Read the text of an XMLBIF file.

    Parameters
    ----------
    text : str
        The whole file; what encoding it says it has does not matter.
    source : str
        What errors call it.

    Returns
    -------
    NetworkDescription
        What it describes; see :func:`read_network`, also for what is refused.

    Examples
    --------
    >>> of_xmlbif("<BIF><NETWORK><NAME>empty</NAME></NETWORK></BIF>", "empty.xml")
    Traceback (most recent call last):
    unnaive.exceptions.DataFileError: empty.xml has no variable; is it a network?
    """
    draft = _draft(source, len(text))
    read_xmlbif(text, draft)
    return _finished(draft)


@dataclass(frozen=True)
class Spelling:
    """A network whose names a format can spell, and notes on those that had to change."""

    network: NetworkDescription
    name: str
    variables: list[str]
    states: list[list[str]]
    notes: list[str]  # on every variable, then on the network; empty where nothing changed


def _spelling(network: NetworkDescription, spell: Spell, fold: Callable[[str], str]) -> Spelling:
    name = spell(network.name, "network")
    variables = _distinct(network.variables, spell, "variable", fold)
    states = [_distinct(labels, spell, "state", str) for labels in network.states]
    notes = []
    for own, written, labels, new in zip(
        network.variables, variables, network.states, states, strict=True
    ):
        changed = {b: a for a, b in zip(labels, new, strict=True) if a != b}
        note = ({"name": own} if own != written else {}) | ({"states": changed} if changed else {})
        notes.append(json.dumps({"variable": written} | note) if note else "")
    notes.append(json.dumps({"network": network.name}) if name != network.name else "")
    return Spelling(network, name, variables, states, notes)


def _distinct(
    names: Sequence[str], spell: Spell, kind: str, fold: Callable[[str], str]
) -> list[str]:
    """Spell names so that no two are alike; one that can stay never makes way for another."""
    spelled = [spell(name, kind) for name in names]
    taken: dict[str, int] = {}
    for place, (name, new) in enumerate(zip(names, spelled, strict=True)):
        if name == new:
            taken.setdefault(fold(name), place)
    times: dict[str, int] = {}
    for place, new in enumerate(spelled):
        candidate = new
        while taken.setdefault(fold(candidate), place) != place:
            times[new] = times.get(new, 1) + 1
            candidate = f"{new}_{times[new]}"
        spelled[place] = candidate
    return spelled
