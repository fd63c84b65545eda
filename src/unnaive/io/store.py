"""The file format of models and counts: a zip of JSON and plain arrays, never pickle.

The member ``unnaive.json`` has format, version, kind and writer, then the state. Every array is
a separate member, little-endian and in C order. The zip is not compressed, so the sizes that a
file claims can be checked against its length before memory is allocated. SHA-256 checksums of
every array and of the JSON detect changes. The same state with keys in the same order always
gives the same bytes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import shutil
import struct
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from unnaive.exceptions import ModelFileError, WrongKindError
from unnaive.io.leftovers import hidden, lock, remove_leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import AnyArray, State

FORMAT = "unnaive"
VERSION = 1
_MEMBER = "unnaive.json"
_ARRAY, _FLOAT = "__array__", "__float__"
TYPES = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"}
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character; JSON may merge two of them
_DEPTH = 100  # levels; a deeper state is a mistake or an attack
_OF_KIND = "pass a file of the right kind"
_AGAIN = "save it or copy it again"
_OTHER = "this is not a file that unnaive saved, check its name"
_CURES = {  # by what a file holds and what was expected
    ("counts", "model"): "fit a model to it first, by fit_counts or unnaive fit",
    ("model", "counts"): "name a file of counts",
}
_HINTS = {
    "model": "the model comes before the data file",
    "counts": "unnaive count makes counts of a data file",
}
_DOUBT = "unnaive does not write such files, do not trust it"


def save(
    path: str | os.PathLike[str], state: State, kind: str = "model", written_by: str = ""
) -> None:
    """Write a state to one file; if that fails, an existing file is kept.

    Parameters
    ----------
    path : str or path
        File name. The file appears under this name only when it is complete. A symbolic link
        stays a link, and a replaced file passes its permissions on.
    state : dict
        Nested dictionaries with string keys, lists, strings, numbers, booleans, None, and
        numpy arrays of booleans, integers and floats. All are read back bit for bit.
    kind : str, default="model"
        Kind of object; :func:`load` must be called with the same one.
    written_by : str, default=""
        Version of the library, for the error message of a version that is too old.

    Raises
    ------
    TypeError
        If a value of the state cannot be stored; the message says where it is.
    OSError
        If the file cannot be written, for example on a full disk; an existing file is kept.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save(Path(folder) / "model.unb", {"prior": np.array([0.25, 0.75])})
    ...     load(Path(folder) / "model.unb")
    {'prior': array([0.25, 0.75])}
    """
    arrays: list[AnyArray] = []
    document: State = {"format": FORMAT, "version": VERSION, "kind": kind}
    document |= {"written_by": written_by, "state": _encode(state, "state", arrays, 0)}
    document["sha256"] = _checksum(_dump(document))
    with replacing(Path(path)) as stream, zipfile.ZipFile(stream, "w") as archive:
        _write_member(archive, _MEMBER, _dump(document))
        for number, array in enumerate(arrays):
            _write_member(archive, f"arrays/{number}", _bytes_of(array))


def load(path: str | os.PathLike[str], kind: str = "model") -> State:
    """Read a state that :func:`save` wrote.

    Parameters
    ----------
    path : str or path
        File name.
    kind : str, default="model"
        Kind of object that the file must hold.

    Returns
    -------
    dict
        The state; its arrays are writable copies.

    Raises
    ------
    WrongKindError
        If the file holds another kind of object.
    ModelFileError
        If the file is truncated, altered, or written by a newer version.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save(Path(folder) / "counts.unb", {"rows": 3}, kind="counts")
    ...     load(Path(folder) / "counts.unb")
    Traceback (most recent call last):
    unnaive.exceptions.WrongKindError: ...counts.unb is of kind 'counts', not 'model'; ...
    """
    path = Path(path)
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; name the file in it")
    with path.open("rb") as stream:
        head = stream.read(4)
        try:
            return _read(stream, kind)
        except MemoryError:
            raise
        except Exception as error:  # zipfile raises a dozen kinds of errors for altered bytes
            if isinstance(error, ModelFileError):
                error.args = (f"{path} {error}",)  # the functions below do not know the path
                raise
            what = f"is {'damaged or cut off' if head else 'empty'}; {_AGAIN}"
            if not b"PK\x03\x04".startswith(head):
                hint = _HINTS.get(kind)
                what = f"is not a zip file; {_OTHER}" + (f" ({hint})" if hint else "")
            raise ModelFileError(f"{path} {what}") from error


def _encode(value: object, place: str, arrays: list[AnyArray], depth: int) -> object:
    """Convert a state to strict JSON and its arrays to references."""
    if depth > _DEPTH:
        raise TypeError(f"{place[:60]}… is nested deeper than {_DEPTH} levels; flatten it")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str) and not _SURROGATE.search(value):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_FLOAT: struct.pack(">d", value).hex()}
    if isinstance(value, list):
        return [_encode(v, f"{place}[{i}]", arrays, depth + 1) for i, v in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or key in {_ARRAY, _FLOAT} or _SURROGATE.search(key):
                raise TypeError(f"{place} has the key {key!r}; use other keys, all strings")
        return {k: _encode(v, f"{place}[{k!r}]", arrays, depth + 1) for k, v in value.items()}
    if type(value) is np.ndarray:
        return _encode_array(value, place, arrays)
    cure = "use dict, list, str (valid Unicode), int, float, bool, None or a numpy array"
    raise TypeError(f"{place} is a {type(value).__name__} that cannot be stored; {cure}")


def _encode_array(array: AnyArray, place: str, arrays: list[AnyArray]) -> State:
    kind = array.dtype.newbyteorder("<")
    if kind.str not in TYPES:
        raise TypeError(f"{place} is an array of {array.dtype}; store bool, int, uint or float")
    arrays.append(array.astype(kind, order="C", copy=False))
    return {
        _ARRAY: f"arrays/{len(arrays) - 1}",
        "dtype": kind.str,
        "shape": list(array.shape),
        "sha256": _checksum(_bytes_of(arrays[-1])),
    }


def _bytes_of(array: AnyArray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _checksum(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()


def _dump(document: State) -> bytes:
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()


def _write_member(archive: zipfile.ZipFile, name: str, content: bytes | memoryview) -> None:
    info = zipfile.ZipInfo(name)  # dated 1980 on every machine
    info.create_system = 3
    info.external_attr = 0o644 << 16
    archive.writestr(info, content)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file that replaces ``path`` if no error occurs.

    Hidden files beside it, of processes that were killed while they saved, are removed.
    """
    final = path.resolve()
    if final.exists() and not (final.is_file() and os.access(final, os.W_OK)):
        what = "this is a folder, a device or a protected file; save elsewhere"
        raise PermissionError(errno.EACCES, what, str(path))
    remove_leftovers(final.parent)
    new = hidden(final)
    try:
        with new.open("xb") as stream:
            with suppress(OSError):  # file systems without locks
                lock(stream)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if final.exists():
            shutil.copymode(final, new)
        new.replace(final)
    except OSError as error:
        what = f"{error.strerror or error}; an older file is untouched: make room or save elsewhere"
        if not final.parent.is_dir():
            what = f"folder {final.parent} does not exist; create it first, or save elsewhere"
        raise OSError(error.errno, what, str(path)) from error
    finally:
        with suppress(OSError):
            new.unlink()


def _read(stream: IO[bytes], kind: str) -> State:
    """Read a whole file and check everything that it claims."""
    size = os.fstat(stream.fileno()).st_size
    with zipfile.ZipFile(stream) as archive:
        if _MEMBER not in archive.namelist():
            raise ModelFileError(f"is a zip without {_MEMBER}; {_OTHER}")
        _check_members([archive.getinfo(_MEMBER)], size)
        document = _parse(archive.read(_MEMBER), kind)
        _check_members(archive.infolist(), size)
        reader = _Reader(archive)
        state: State = reader.decode(document["state"], 0)
        if reader.expected != len(archive.infolist()) - 1:
            raise ModelFileError(f"has members that no array refers to; {_DOUBT}")
    return state


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    plain = all(m.compress_type == zipfile.ZIP_STORED and not m.flag_bits & 1 for m in members)
    if not plain or sum(m.file_size for m in members) > size:
        raise ModelFileError(f"has compressed, encrypted or overlapping members; {_DOUBT}")


def _parse(content: bytes, kind: str) -> State:
    """Check the JSON before the state is used."""
    try:
        document: State = json.loads(content)
    except RecursionError as error:
        raise ModelFileError(f"is nested too deeply; {_DOUBT}") from error
    if document["format"] != FORMAT:
        raise ModelFileError(f"is of format {document['format']!r}; {_OTHER}")
    if (version := document["version"]) > VERSION:
        what = f"was written by unnaive {document['written_by']}, in format {version}"
        raise ModelFileError(f"{what}; upgrade with pip install -U unnaive")
    if document.pop("sha256") != _checksum(_dump(document)):
        raise ModelFileError(f"was altered after it was saved; {_AGAIN}")
    if (actual := document["kind"]) != kind:
        what = f"is of kind {actual!r}, not {kind!r}; {_CURES.get((actual, kind), _OF_KIND)}"
        raise WrongKindError(what, found=actual, wanted=kind)
    return document


class _Reader:
    """Replaces references in a state by arrays; each member is read once, in order."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive, self.expected = archive, 0

    def decode(self, value: Any, depth: int) -> Any:
        if depth > _DEPTH:
            raise ModelFileError(f"is nested too deeply; {_DOUBT}")
        if isinstance(value, list):
            return [self.decode(item, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if _FLOAT in value:
            return struct.unpack(">d", bytes.fromhex(value[_FLOAT]))[0]
        if _ARRAY in value:
            return self.read_array(value)
        return {key: self.decode(item, depth + 1) for key, item in value.items()}

    def read_array(self, reference: State) -> AnyArray:
        name, dtype, shape = reference[_ARRAY], reference["dtype"], reference["shape"]
        if name != f"arrays/{self.expected}" or name not in self.archive.namelist():
            raise ModelFileError(f"lacks its member {name!r}; {_AGAIN}")
        self.expected += 1
        if dtype not in TYPES:
            raise ModelFileError(f"has an array of type {dtype!r}; {_DOUBT}")
        size = self.archive.getinfo(name).file_size
        if min(shape, default=0) < 0 or math.prod(shape) * np.dtype(dtype).itemsize != size:
            raise ModelFileError(f"has {size} bytes for shape {shape} of {dtype}; {_DOUBT}")
        array = np.empty(shape, dtype=dtype)
        buffer, done = _bytes_of(array), 0
        with self.archive.open(name) as member:
            while piece := member.read(1 << 20):
                buffer[done : done + len(piece)] = piece
                done += len(piece)
        if _checksum(buffer[:done]) != reference["sha256"]:
            raise ModelFileError(f"was altered after it was saved, in {name!r}; {_AGAIN}")
        if dtype == "|b1" and array.size and array.view(np.uint8).max() > 1:
            raise ModelFileError(f"has booleans that are neither 0 nor 1; {_DOUBT}")
        return array.astype(array.dtype.newbyteorder("="), copy=False)
