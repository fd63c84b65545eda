"""Check a data file before its rows are read: its extension, its first bytes, its encoding.

The extension of the file name determines the format, and the first bytes must agree.
"""

from __future__ import annotations

import errno
import gzip
import re
import zlib
from collections import Counter
from contextlib import contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, cast

from unnaive.exceptions import DataFileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import ModuleType

ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".arff", ".arff.gz")
_UTF8 = 'save it as UTF-8 (in Excel: "CSV UTF-8")'
_SIGNATURES = (
    (rb"PK\x03\x04", "a zip archive or an Excel workbook", "save the sheet as CSV, or unzip it"),
    (rb"\xd0\xcf\x11\xe0", "an old Excel workbook", "save the sheet as CSV"),
    (rb"\x1f\x8b", "gzip-compressed", "let its name end in .gz"),
    (rb"PAR1[^ -~]", "a Parquet file", "let its name end in .parquet"),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16", _UTF8),
    (rb"(?i)\s*<(!doctype|html)\b", "a web page", "download the data itself"),
    (rb"(?i)(\xef\xbb\xbf)?\s*(%.*\n\s*)*@relation\b", "an ARFF file", "let its name end in .arff"),
    (rb"[^\0]*\0", "binary data", "convert it, or give it the ending of its format"),
)
_OWN = {".parquet": "a Parquet file", ".arff": "an ARFF file"}


def checked_ending(path: Path) -> str:
    """Return the extension without .gz, after checking that the first bytes agree."""
    require_file(path)
    ending = next((e for e in ENDINGS if path.name.lower().endswith(e)), None)
    if ending is None:
        known = ", ".join(ENDINGS)
        raise DataFileError(f"{path} has no known ending; rename or convert it to one of {known}")
    ending = ending.removesuffix(".gz")
    _check_content(path, ending)
    return ending


def require_file(path: Path) -> None:
    """Raise if the file does not exist."""
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, "no such file; check its name and folder", str(path))
    if not path.is_file():
        raise DataFileError(f"{path} is a folder or a device; name one file in it")


def is_compressed(path: Path) -> bool:
    """Whether the name of a file ends in .gz."""
    return path.name.lower().endswith(".gz")


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open the decompressed bytes of a file; a damaged gzip file is an error with a cure."""
    try:
        with gzip.open(path) if is_compressed(path) else path.open("rb") as stream:
            yield cast("IO[bytes]", stream)
    except EOFError as error:
        raise DataFileError(f"{path} is cut off before its end; fetch it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        cure = "fetch it again, or drop .gz from its name if it is not compressed"
        raise DataFileError(f"{path} is not a valid gzip file ({error}); {cure}") from error


def _check_content(path: Path, ending: str) -> None:
    """Compare the first bytes of a file with its extension."""
    with open_bytes(path) as stream:
        head = stream.read(4096)
    if not head.removeprefix(b"\xef\xbb\xbf").strip():
        raise DataFileError(f"{path} is empty; it needs a header and rows")
    for signature, what, cure in _SIGNATURES:
        if re.match(signature, head):
            if what == _OWN.get(ending):
                return
            raise DataFileError(f"{path} is {what}, which its ending does not say; {cure}")
    if ending == ".parquet":
        raise DataFileError(f"{path} is text, not a Parquet file; give it the ending of its format")


def text_of(path: Path) -> str:
    """Read a whole text file."""
    with open_bytes(path) as stream:
        content = stream.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        what = f"line {number} has the byte 0x{content[error.start]:02x}, which is not UTF-8"
        raise DataFileError(f"{path}: {what}; {_UTF8}") from error


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
    for name, times in Counter(names).items():
        if times > 1:
            raise DataFileError(f"{path}: column name {name!r} occurs {times} times; rename them")
