"""Check a data file before its rows are read: its extension, its first bytes, its encoding.

The extension of the file name determines the format, and the first bytes must agree.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import re
import zlib
from collections import Counter
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from io import BufferedReader, RawIOBase
from itertools import chain
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from unnaive.exceptions import DataFileError, DataWarning

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

    from typing_extensions import Buffer

    from unnaive.io.reading import Reading

TEXT = (".csv", ".tsv", ".arff", ".jsonl", ".ndjson")
ENDINGS = (*TEXT, *(f"{ending}.gz" for ending in TEXT), ".parquet", ".xlsx")
UTF8 = "utf-8"
_BOM_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NAMES = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
_UNDEFINED = (0x81, 0x8D, 0x8F, 0x90, 0x9D)  # bytes that Windows-1252 does not have
_PIECE = 1 << 20  # bytes that are decoded at a time
_LONGEST = 200  # characters of a message of another library
_EXCEL = "a zip archive or an Excel workbook"
_SIGNATURES = (
    (rb"PK\x03\x04", _EXCEL, "let the name of a workbook end in .xlsx, or unzip the archive"),
    (rb"\xd0\xcf\x11\xe0", "an old Excel workbook", "save the sheet as CSV"),
    (rb"\x1f\x8b", "gzip-compressed", "let its name end in .gz"),
    (rb"PAR1[^ -~]", "a Parquet file", "let its name end in .parquet"),
    (rb"(?i)\s*<(!doctype|html)\b", "a web page", "download the data itself"),
    (rb"(?i)(\xef\xbb\xbf)?\s*(%.*\n\s*)*@relation\b", "an ARFF file", "let its name end in .arff"),
    (rb"[^\0]*\0", "binary data", "convert it, or give it the ending of its format"),
)
_OWN = {".parquet": "a Parquet file", ".arff": "an ARFF file", ".xlsx": _EXCEL}


def checked_ending(path: Path, encoding: str | None = None) -> str:
    """Return the extension without .gz, after checking that the first bytes agree.

    The bytes of a text file are not checked if the user gave its encoding.
    """
    require_file(path)
    ending = next((e for e in ENDINGS if path.name.lower().endswith(e)), None)
    if ending is None:
        known = ", ".join(ENDINGS)
        raise DataFileError(f"{path} has no known ending; rename or convert it to one of {known}")
    ending = ending.removesuffix(".gz")
    if encoding is None or ending not in TEXT:
        _check_content(path, ending)
    return ending


def require_file(path: Path) -> None:
    """Raise if the file does not exist."""
    if not path.exists():
        cure = "check its name and folder"
        if path.parts[0].lower() in {"http:", "https:", "ftp:"}:
            cure = "download it first, only files of this machine are read"
        raise FileNotFoundError(errno.ENOENT, f"no such file; {cure}", str(path))
    if not path.is_file():
        raise DataFileError(f"{path} is a folder or a device; name one file in it")


def is_compressed(path: Path) -> bool:
    """Whether the name of a file ends in .gz."""
    return path.name.lower().endswith(".gz")


@contextmanager
def open_bytes(path: Path, encoding: str = UTF8) -> Iterator[IO[bytes]]:
    """Open the decompressed bytes of a file; a damaged gzip file is an error with a cure.

    Text of another encoding is read as if it were UTF-8.
    """
    try:
        with gzip.open(path) if is_compressed(path) else path.open("rb") as stream:
            plain = cast("IO[bytes]", stream)
            yield plain if encoding == UTF8 else BufferedReader(_Recoded(plain, encoding), _PIECE)
    except UnicodeError as error:
        what = f"{path} is not text in {encoding} ({getattr(error, 'reason', error)})"
        raise DataFileError(f"{what}; name its encoding (--encoding)") from error
    except EOFError as error:
        raise DataFileError(f"{path} is cut off before its end; download it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        cure = "download it again, or drop .gz from its name if it is not compressed"
        raise DataFileError(
            f"{path} is not a valid gzip file ({one_line(error)}); {cure}"
        ) from error


def _check_content(path: Path, ending: str) -> None:
    """Compare the first bytes of a file with its extension."""
    with open_bytes(path) as stream:
        head = stream.read(4096)
    if head.startswith(_BOM_UTF16) and ending in TEXT:
        return
    if not head.removeprefix(b"\xef\xbb\xbf").strip():
        raise DataFileError(f"{path} is empty; it needs a header and rows")
    for signature, what, cure in _SIGNATURES:
        if re.match(signature, head):
            if what == _OWN.get(ending):
                return
            raise DataFileError(
                f"{path} is {what}, but its ending is that of another format; {cure}"
            )
    if ending in {".parquet", ".xlsx"}:
        raise DataFileError(f"{path} is text, not {_OWN[ending]}; give it the ending of its format")


class _Recoded(RawIOBase):
    """The bytes of a stream of text, converted to UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._stream, self._rest, self._at_end = stream, memoryview(b""), False
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        while not self._rest and not self._at_end:
            piece = self._stream.read(_PIECE)
            self._at_end = not piece
            self._rest = memoryview(self._decoder.decode(piece, self._at_end).encode())
        room = memoryview(buffer)
        size = min(len(room), len(self._rest))
        room[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


class Encoding(NamedTuple):
    """The encoding of a file, and the line with the byte that rules out UTF-8."""

    name: str = UTF8
    line: int = 0
    byte: int = 0

    def note(self, source: str) -> Iterator[DataWarning]:
        """Yield the note on a file that is not UTF-8."""
        if self.line:
            what = f"line {self.line} has the byte 0x{self.byte:02x}, which is not UTF-8"
            yield DataWarning(
                f"{source}: {what}; the file is read as {_NAMES[self.name]}",
                kind="encoding",
                names=(self.name,),
            )


def find_encoding(path: Path, size: int | None = None) -> Encoding:
    """Find the encoding of a text file, or of its first ``size`` bytes.

    A byte order mark decides. Text that is not UTF-8 is Windows-1252, the encoding of western
    European Windows programs; Latin-1 is the same with other control characters.
    """
    line, decoder = 1, codecs.getincrementaldecoder(UTF8)()
    with open_bytes(path) as stream:
        pieces = chain(iter(partial(stream.read, size or _PIECE), b""), [b""])
        for piece in pieces:
            if line == 1 and piece.startswith(_BOM_UTF16):
                return Encoding("utf-16")
            try:
                decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                line += error.object.count(b"\n", 0, error.start)
                rest = chain([error.object], pieces)
                latin = any(byte in piece for piece in rest for byte in _UNDEFINED)
                return Encoding("latin-1" if latin else "cp1252", line, error.object[error.start])
            line += piece.count(b"\n")
            if len(piece) == size:
                break
    return Encoding()


def encoding_of(path: Path, reading: Reading, size: int | None = None) -> Encoding:
    """Return the encoding that the user gave, or find it."""
    if reading.encoding is None:
        return find_encoding(path, size)
    return Encoding(codecs.lookup(reading.encoding).name.removesuffix("-sig"))


def text_of(path: Path, encoding: str) -> str:
    """Read a whole text file."""
    with open_bytes(path, encoding) as stream:
        return stream.read().decode("utf-8-sig")


def printable(text: str) -> str:
    """Escape control characters of a message that quotes a file."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def one_line(error: object) -> str:
    """Return the first line of a message of another library, with printable characters only."""
    return printable(str(error).strip().partition("\n")[0][:_LONGEST])


def arrow_for(path: Path, module: str = "pyarrow") -> ModuleType:
    """Import pyarrow, which only some formats need."""
    try:
        return import_module(module)
    except ImportError as error:
        cure = 'pip install "unnaive[files]"'
        raise DataFileError(f"{path} cannot be read without pyarrow; {cure}") from error


def check_names(names: Sequence[str], path: Path) -> None:
    """Raise if a column has no name, or if two have the same name."""
    if "" in names:
        cure = "name it, or remove it if it holds row numbers or follows a last separator"
        raise DataFileError(f"{path}: column {names.index('') + 1} has no name; {cure}")
    refuse_duplicates(names, str(path))


def refuse_duplicates(names: Sequence[str], where: str) -> None:
    """Raise if two columns of a file or a stream have the same name."""
    for name, times in Counter(names).items():
        if times > 1:
            raise DataFileError(f"{where}: column name {name!r} occurs {times} times; rename them")
