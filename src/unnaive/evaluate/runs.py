"""Files of finished results, so that interrupted work can continue.

The file has one JSON value on each line. The first line has the settings; each other line is one
finished unit of work, written in one piece when it is done.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive import __version__
from unnaive._json import plain
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from unnaive._typing import AnyArray, State
    from unnaive.evaluate.crossvalidate import EvaluationRows
    from unnaive.io.frames import Column

_FORMAT = 1
_START = b'{"runs": '
_FLOAT = "__float__"


class Runs:
    """A file of finished units of work, by key.

    A long computation checks ``key in runs`` before each unit and calls :meth:`put` after it. If
    the process is killed, only the current unit is lost: an incomplete last line is dropped when
    the file is opened again. Several threads may call :meth:`put` at the same time.

    Parameters
    ----------
    path : str or path
        The file; it is created if it does not exist.
    settings : dict
        Everything besides the key that results depend on: random seed, number of folds,
        :func:`hash_rows` of the data. It is saved with the version of the library in the first
        line. Opening the file with other settings raises an error that names the difference.

    See Also
    --------
    compare : Compares models and can resume from such a file.
    hash_rows : Fingerprint of the data, for ``settings``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     runs = Runs(Path(folder) / "runs.jsonl", {"seed": 0})
    ...     runs.put("tan, fold 1", {"accuracy": 0.93})
    ...     again = Runs(Path(folder) / "runs.jsonl", {"seed": 0})
    ...     "tan, fold 2" in again, again.get("tan, fold 1")
    (False, {'accuracy': 0.93})
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, object]) -> None:
        self.path = Path(path)
        self.settings = {**settings, "unnaive": __version__}
        self._lock = Lock()
        self._results: State = {}
        self._seconds: dict[str, float] = {}
        if self.path.is_dir():
            raise UnnaiveError(f"{self.path} is a folder; name a file in it")
        self._open(self.path.read_bytes() if self.path.exists() else b"")

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._results))

    def get(self, key: str, default: object = None) -> Any:
        """Return the result of a unit.

        Parameters
        ----------
        key : str
            Key of the unit.
        default : object, default=None
            Returned if there is no result for the key.

        Returns
        -------
        object
            The result as plain values: tuples and arrays are lists.
        """
        return self._results.get(key, default)

    def seconds(self, key: str) -> float | None:
        """Return the time that was saved with the result of a unit.

        Parameters
        ----------
        key : str
            Key of the unit.

        Returns
        -------
        float or None
            Seconds; None if none were saved.
        """
        return self._seconds.get(key)

    def put(self, key: str, result: object, seconds: float | None = None) -> None:
        """Save the result of a unit; it is on disk when this returns.

        Parameters
        ----------
        key : str
            Key of the unit. A second result for a key replaces the first.
        result : object
            Numbers, text, None, lists, dictionaries and arrays, nested in any way.
        seconds : float or None, default=None
            Time that the unit took.

        Raises
        ------
        TypeError
            If the result holds anything else.
        """
        try:
            timed = {} if seconds is None else {"seconds": round(seconds, 3)}
            line = _dump({"key": key, "result": result, **timed})
        except TypeError as error:
            raise TypeError(
                f"the result of {key!r} cannot be saved: {error}; use numbers, text, lists and "
                "dictionaries"
            ) from None
        with self._lock:
            self._append(line)
            self._results |= [self._unit(len(self) + 2, line)]

    def _append(self, line: bytes) -> None:
        with self.path.open("ab", buffering=0) as stream:  # one write: a line is complete or absent
            stream.write(line + b"\n")

    def _open(self, content: bytes) -> None:
        """Read the lines, repair an incomplete end, or start a new file."""
        whole, newline, rest = content.rpartition(b"\n")
        lines = whole.split(b"\n") if newline else []
        if rest and _parse(rest) is not None:  # cut off just before its newline
            lines, ending = [*lines, rest], b"\n"
        else:
            ending = b""
        if not lines and not _START.startswith(rest[: len(_START)]):
            raise self._foreign()
        if lines:
            self._compare(lines[0])
            self._results = dict(self._unit(i, line) for i, line in enumerate(lines[1:], 2))
        if ending:
            self._append(b"")
        elif rest:
            with self.path.open("r+b") as stream:
                stream.truncate(len(whole) + len(newline))
        if not lines:
            self._append(_dump({"runs": _FORMAT, "settings": self.settings}))

    def _compare(self, line: bytes) -> None:
        header = _parse(line)
        if header is None or "runs" not in header or not isinstance(header.get("settings"), dict):
            raise self._foreign()
        if header["runs"] != _FORMAT:
            raise UnnaiveError(f"{self.path} has format {header['runs']}; update unnaive")
        there, here = header["settings"], self.settings
        other = [n for n in {**there, **here} if _dump(there.get(n)) != _dump(here.get(n))]
        if other:
            differences = "; ".join(f"{n}={there.get(n)!r}, now {here.get(n)!r}" for n in other)
            raise UnnaiveError(
                f"{self.path} was started with {differences}; name another file, or use the same "
                "settings"
            )

    def _unit(self, number: int, line: bytes) -> tuple[str, object]:
        unit = _parse(line)
        if unit is None or "key" not in unit or "result" not in unit:
            raise UnnaiveError(
                f"{self.path}, line {number}: not a result; delete the line, and its unit is "
                "computed again"
            )
        self._seconds.pop(unit["key"], None)
        if "seconds" in unit:
            self._seconds[unit["key"]] = float(unit["seconds"])
        return unit["key"], unit["result"]

    def _foreign(self) -> UnnaiveError:
        return UnnaiveError(f"{self.path} was not written by unnaive; name another file")


def hash_rows(rows: EvaluationRows) -> str:
    """Return a fingerprint of features, target and weights.

    Equal values give equal fingerprints, on every machine. The order in which a library numbers
    categories has no effect, unless the order was declared.

    Parameters
    ----------
    rows : EvaluationRows
        Result of ``unnaive.evaluate.crossvalidate.prepare_rows``.

    Returns
    -------
    str
        32 hexadecimal digits.

    See Also
    --------
    Runs : File of results that is tied to the data by this fingerprint.

    Examples
    --------
    >>> from unnaive.evaluate.crossvalidate import prepare_rows
    >>> rows = prepare_rows([["a", 1], ["b", 2]], [0, 1])
    >>> other = prepare_rows([["a", 1], ["b", 3]], [0, 1])
    >>> hash_rows(rows) == hash_rows(rows), hash_rows(rows) == hash_rows(other)
    (True, False)
    """
    frame = rows.frame
    digest = hashlib.sha256(repr((frame.names, frame.n_rows)).encode())
    if frame.matrix is not None:
        digest.update(_values(frame.matrix))
    for column in (*frame.columns, rows.target):
        digest.update(_content(column))
    if rows.weights is not None:
        digest.update(_values(rows.weights))
    return digest.hexdigest()[:32]


def _content(column: Column) -> bytes:
    """Return the name, kind and values of a column as bytes."""
    header = repr((column.name, column.is_text, column.declared))
    values = column.values
    if column.categories is not None:
        labels = list(map(repr, column.categories))
        order = list(range(len(labels)))
        if not column.declared:
            order.sort(key=labels.__getitem__)
        header += repr([labels[place] for place in order])
        values = np.append(np.argsort(order), -1)[values]  # −1, missing, stays the last
    return header.encode() + _values(values)


def _values(array: AnyArray) -> bytes:
    """Return numbers as bytes, of the same width on every machine."""
    wide = "<f8" if array.dtype.kind == "f" else "<i8"
    return np.ascontiguousarray(array, dtype=wide).tobytes()


def _dump(value: object) -> bytes:
    return json.dumps(plain(value, lambda number: {_FLOAT: str(number)}), allow_nan=False).encode()


def _parse(line: bytes) -> State | None:
    """Read a line; None if it is incomplete."""
    try:
        value = json.loads(line, object_hook=_revive)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _revive(entry: State) -> State | float:
    return float(entry[_FLOAT]) if set(entry) == {_FLOAT} else entry
