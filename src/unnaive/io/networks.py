"""Bayesian networks in the file formats of other programs: BIF and XMLBIF.

A network has one table per variable: the probabilities of its states, given the states of its
parents. :class:`NetworkDescription` holds these tables. This module checks them and maps names;
:mod:`unnaive.io.bif` and :mod:`unnaive.io.xmlbif` write and parse the two formats.

Names need care. In BIF a name is a word of letters, digits and ``_``, and other programs read
nothing else. XMLBIF allows all characters, but its readers merge blanks. A name that a format
cannot hold is replaced by a similar one, and no two names become equal. A comment beside it,
which other programs ignore, keeps the original name for :func:`read_network`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._docstrings import described_like
from unnaive.exceptions import DataFileError
from unnaive.io.bif import EXACT, TYPES, Draft, read_bif, spell_bif, write_bif
from unnaive.io.content import require_file
from unnaive.io.store import replacing
from unnaive.io.xmlbif import read_xmlbif, spell_xmlbif, write_xmlbif

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from unnaive._typing import FloatArray, State

    Spell = Callable[[str, str], str]  # a name and its kind, to a name that the format allows

ENDINGS = {".bif": "bif", ".xml": "xmlbif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif"}
LARGEST = 1 << 26  # bytes of a file, about three million numbers


@dataclass(frozen=True, eq=False)
class NetworkDescription:
    """A discrete Bayesian network, as the files of other programs describe it.

    Cycles of the graph are not detected here.

    Parameters
    ----------
    name : str
        Name of the network; may be empty.
    variables : tuple of str
        Names of the variables, in the order of the file.
    states : tuple of tuple of str
        States of every variable, in order.
    parents : tuple of tuple of int
        Positions of the parents of every variable, in the order of the axes of its table.
    tables : tuple of float64 array
        ``P(x | parents)`` of every variable. There is one axis per parent and a last one for
        the variable itself, along which the probabilities sum to 1.
    types : tuple of tuple of str, default=()
        "text", "int", "float" or "bool" for every state, or nothing for a variable whose states
        are all text. Files keep them as a property, which other programs ignore.
    bins : tuple of tuples of float or None, default=()
        Edges of the bins of the variables that are cut numbers; None for others. Also a property.

    Raises
    ------
    ValueError
        If the fields do not agree; the message names the variable.

    See Also
    --------
    read_network : Read a file.
    write_network : Write a file.

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
    types: tuple[tuple[str, ...], ...] = ()
    bins: tuple[tuple[float, ...] | None, ...] = ()

    def __post_init__(self) -> None:
        fields = (self.variables, self.states, self.parents, self.tables)
        lengths = [len(field) for field in fields]
        if not self.variables or len(set(lengths)) > 1:
            what = "variables, states, parents and tables are {}, {}, {} and {}".format(*lengths)
            raise ValueError(f"{what}; give one of each for every variable, and at least one")
        _check_distinct(self.variables, "the network", "variable")
        for name, states in zip(self.variables, self.states, strict=True):
            _check_distinct(states, f"variable {name!r}", "state")
        for position in range(len(self.variables)):
            _check_table(self, position)
        for name, types, states in zip(self.variables, self.types, self.states, strict=False):
            _check_types(name, types, states)


def _check_distinct(names: Sequence[str], whose: str, what: str) -> None:
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{whose} has {what}s {names}; give at least one, and strings")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{whose} has {what} {name!r} {times} times; rename them")


def _check_types(name: str, types: Sequence[str], states: Sequence[str]) -> None:
    for kind, state in zip(types, states, strict=bool(types)):
        try:
            TYPES[kind](state)
        except (KeyError, ValueError):
            what = f"variable {name!r} has the state {state!r} of type {kind!r}"
            cure = f"give a type of {', '.join(TYPES)} that fits"
            raise ValueError(f"{what}; {cure}") from None


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
        what = f"the table of variable {name!r} has rows that are not probabilities"
        raise ValueError(f"{what}; divide each by its sum")


def write_network(
    path: str | os.PathLike[str],
    network: NetworkDescription,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write a network to a file for other programs.

    pgmpy and pyAgrum read both formats (pyAgrum reads XMLBIF if the name ends in ``.bifxml``),
    bnlearn reads BIF, and WEKA reads XMLBIF. From BIF, pyAgrum keeps only seven digits of a
    number; pyAgrum and bnlearn refuse a variable with a single state. For GeNIe, convert
    either format to XDSL with pyAgrum or pgmpy. If writing fails, an existing file is kept.

    Parameters
    ----------
    path : str or path
        File name. The extension determines the format: ``.bif``, or one of ``.xml``,
        ``.xmlbif`` and ``.bifxml``.
    network : NetworkDescription
        The network. Numbers are written with all digits, so that they are read back exactly.
    format : {"bif", "xmlbif"}, default=None
        The format, if the extension does not determine it.

    Raises
    ------
    ValueError
        If the format is unknown or the file would be larger than 64 MiB.
    OSError
        If the file cannot be written; an existing file is kept.

    See Also
    --------
    read_network : Read the file again.

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
        A file of at most 64 MiB; it may be compressed (``x.bif.gz``).
    format : {"bif", "xmlbif"}, default=None
        The format, if the extension (see :func:`write_network`) does not determine it.

    Returns
    -------
    NetworkDescription
        Variables, states and parents in the order of the file. Probabilities that were rounded,
        to two digits or more, are normalized.

    Raises
    ------
    DataFileError
        If the content does not match the extension or is not a network. The message has the
        line, the variable and the cure.
    FileNotFoundError
        If the file does not exist.

    See Also
    --------
    write_network : Write a network.

    Examples
    --------
    >>> read_network("no such file.bif")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] no such file; check its name and folder: 'no such file.bif'
    """
    path = Path(path)
    require_file(path)
    packed = path.suffix.lower() == ".gz"
    form = _format(path.with_suffix("") if packed else path, format)
    try:
        with (gzip.open if packed else open)(path, "rb") as stream:
            content = stream.read(LARGEST + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataFileError(f"{path} is no gzip file, or it is cut off; fetch it again") from error
    return _description(read_bif if form == "bif" else read_xmlbif, content, str(path))


def _description(
    parse: Callable[[str | bytes, Draft], None], content: str | bytes, source: str
) -> NetworkDescription:
    """Parse the content of a file; errors name the source."""
    if len(content) > LARGEST:
        what = f"{source} has more than {LARGEST} bytes, the most that can be read"
        raise DataFileError(f"{what}; is it a network?")
    draft = Draft(source)
    parse(content, draft)
    name, *fields = draft.finish()
    try:
        return NetworkDescription(name, *map(tuple, fields))  # type: ignore[arg-type]
    except ValueError as error:  # only the original names are not checked yet
        cure = "remove the comments that begin with unnaive-names"
        raise DataFileError(f"{source}: {error}, or {cure}") from error


def _format(path: Path, wanted: str | None) -> str:
    if wanted is None and path.suffix.lower() not in ENDINGS:
        cure = f"let its name end in one of {', '.join(ENDINGS)}, or pass format"
        raise DataFileError(f"{path} has no ending of a known format; {cure}")
    form = ENDINGS[path.suffix.lower()] if wanted is None else wanted
    if form not in ENDINGS.values():
        raise ValueError(f"format is {wanted!r}; pass 'bif' or 'xmlbif'")
    return form


def to_bif(network: NetworkDescription) -> str:
    r"""Write a network as BIF text, the older of the two formats.

    Parameters
    ----------
    network : NetworkDescription
        The network.

    Returns
    -------
    str
        ASCII text in the dialect that pgmpy, pyAgrum and bnlearn read.

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
    """Parse the text of a BIF file.

    Parameters
    ----------
    text : str
        The whole file.
    source : str, default="text"
        Name of the file in error messages.

    Returns
    -------
    NetworkDescription
        The network; see :func:`read_network`, also for the errors.

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
    return _description(read_bif, text, source)


def to_xmlbif(network: NetworkDescription) -> str:
    """Write a network as XMLBIF 0.3 text.

    Parameters
    ----------
    network : NetworkDescription
        The network.

    Returns
    -------
    str
        XML that declares UTF-8. It has no DTD, since pyAgrum could not read one; WEKA warns
        about the missing DTD but reads the file.

    Examples
    --------
    >>> coin = NetworkDescription("", ("coin",), (("Kopf", "Zahl"),), ((),), (np.full(2, 0.5),))
    >>> of_xmlbif(to_xmlbif(coin)).states
    (('Kopf', 'Zahl'),)
    """
    return write_xmlbif(_spelling(network, spell_xmlbif, str))


@described_like(of_bif)
def of_xmlbif(text: str, source: str = "text") -> NetworkDescription:
    """Parse the text of an XMLBIF file; the encoding that it declares is ignored.

    Examples
    --------
    >>> of_xmlbif("<BIF><NETWORK><NAME>empty</NAME></NETWORK></BIF>", "empty.xml")
    Traceback (most recent call last):
    unnaive.exceptions.DataFileError: empty.xml has no variable; is it a network?
    """
    return _description(read_xmlbif, text, source)


@dataclass(frozen=True)
class Spelling:
    """A network with names that a format allows, and notes on the names that were changed."""

    network: NetworkDescription
    name: str
    variables: list[str]
    states: list[list[str]]
    notes: list[str]  # for every variable, then for the network; empty where nothing changed


def _spelling(network: NetworkDescription, spell: Spell, fold: Callable[[str], str]) -> Spelling:
    name = spell(network.name, "network")
    variables = _distinct(network.variables, spell, "variable", fold)
    states = [_distinct(labels, spell, "state", str) for labels in network.states]
    notes = []
    for original, written, labels, new in zip(
        network.variables, variables, network.states, states, strict=True
    ):
        changed = {b: a for a, b in zip(labels, new, strict=True) if a != b}
        note: State = {"name": original} if original != written else {}
        note |= {"states": changed} if changed else {}
        notes.append(json.dumps({"variable": written} | note) if note else "")
    notes.append(json.dumps({"network": network.name}) if name != network.name else "")
    return Spelling(network, name, variables, states, notes)


def _distinct(
    names: Sequence[str], spell: Spell, kind: str, fold: Callable[[str], str]
) -> list[str]:
    """Map names to allowed ones, all different; a name that is allowed always stays."""
    spelled = [spell(name, kind) for name in names]
    taken: dict[str, int] = {}
    for position, (name, new) in enumerate(zip(names, spelled, strict=True)):
        if name == new:
            taken.setdefault(fold(name), position)
    times: Counter[str] = Counter()
    for position, new in enumerate(spelled):
        candidate = new
        while taken.setdefault(fold(candidate), position) != position:
            times[new] += 1
            candidate = f"{new}_{times[new] + 1}"
        spelled[position] = candidate
    return spelled
