"""Results that survive: work killed half-way goes on where it was.

A file of JSON lines. The first says what the results are of; each other line is one finished
unit of work, written in one piece when it is done.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive import __version__
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

    Whoever computes something long asks ``key in runs`` first, and puts what is done. If the
    process is killed, nothing but the unit under way is lost: a line cut off in the middle is
    dropped when the file is opened again. Threads may put at the same time.

    Parameters
    ----------
    path : str or path
        The file; made if it is not there.
    settings : dict
        All that results depend on besides the key: seed, number of folds, :func:`hash_rows` of
        the data. With the version of the library it is the file's first line. Opening the file
        with other settings raises an error that names the difference.

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
        """Return what was put under a key, as plain values: lists for tuples and arrays."""
        return self._results.get(key, default)

    def put(self, key: str, result: object) -> None:
        """Keep the result of a unit: numbers, text, None, lists, dictionaries, arrays.

        Once this returns, the result outlives the process. A key put again has its last value.
        """
        try:
            line = _dump({"key": key, "result": result})
        except TypeError as error:
            raise TypeError(
                f"the result of {key!r} cannot be kept: {error}; use numbers, text, lists and "
                "dictionaries"
            ) from None
        with self._lock:
            self._append(line)
            self._results |= [self._unit(len(self) + 2, line)]

    def _append(self, line: bytes) -> None:
        with self.path.open("ab", buffering=0) as stream:  # one write: a line is there or is not
            stream.write(line + b"\n")

    def _open(self, content: bytes) -> None:
        """Read what is there, mend its end, or begin."""
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
            raise UnnaiveError(f"{self.path} is of format {header['runs']}; update unnaive")
        there, here = header["settings"], self.settings
        other = [n for n in {**there, **here} if _dump(there.get(n)) != _dump(here.get(n))]
        if other:
            differences = "; ".join(f"{n}={there.get(n)!r}, now {here.get(n)!r}" for n in other)
            raise UnnaiveError(
                f"{self.path} was started with {differences}; name another file, or go on with "
                "what it was started with"
            )

    def _unit(self, number: int, line: bytes) -> tuple[str, object]:
        unit = _parse(line)
        if unit is None or "key" not in unit or "result" not in unit:
            raise UnnaiveError(
                f"{self.path}, line {number}: this is no result; delete the line, and its unit "
                "is computed again"
            )
        return unit["key"], unit["result"]

    def _foreign(self) -> UnnaiveError:
        return UnnaiveError(f"{self.path} is no file of results of ours; name another file")


def hash_rows(rows: EvaluationRows) -> str:
    """Return a fingerprint of rows, labels and weights: the same for the same values.

    The order in which a library numbers labels plays no part, unless it is a declared one.

    Examples
    --------
    >>> from unnaive.evaluate.crossvalidate import prepare_rows
    >>> rows = prepare_rows([["a", 1], ["b", 2]], [0, 1])
    >>> other = prepare_rows([["a", 1], ["b", 3]], [0, 1])
    >>> hash_rows(rows) == hash_rows(rows), hash_rows(rows) == hash_rows(other)
    (True, False)
    """
    total = hashlib.sha256()
    frame = rows.frame
    total.update(repr((frame.names, frame.n_rows)).encode())
    if frame.matrix is not None:
        total.update(_values(frame.matrix))
    for column in (*frame.columns, rows.target):
        total.update(_content(column))
    if rows.weights is not None:
        total.update(_values(rows.weights))
    return total.hexdigest()[:32]


def _content(column: Column) -> bytes:
    """Return what tells a column from others."""
    told = repr((column.name, column.is_text, column.declared))
    values = column.values
    if column.categories is not None:
        labels = list(map(repr, column.categories))
        order = list(range(len(labels)))
        if not column.declared:
            order.sort(key=labels.__getitem__)
        told += repr([labels[place] for place in order])
        values = np.append(np.argsort(order), -1)[values]  # −1, missing, stays the last
    return told.encode() + _values(values)


def _values(array: AnyArray) -> bytes:
    """Numbers as bytes, of one width on every machine."""
    wide = "<f8" if array.dtype.kind == "f" else "<i8"
    return np.ascontiguousarray(array, dtype=wide).tobytes()


def _dump(value: object) -> bytes:
    return json.dumps(_plain(value), allow_nan=False).encode()


def _parse(line: bytes) -> State | None:
    """Read a line; None if it is not all there."""
    try:
        value = json.loads(line, object_hook=_revive)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _plain(value: object) -> object:
    """Turn arrays into lists, and what is no number in JSON into a note of it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {_FLOAT: str(value)}
    return value


def _revive(entry: State) -> State | float:
    return float(entry[_FLOAT]) if set(entry) == {_FLOAT} else entry
