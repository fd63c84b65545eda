"""Changed bytes: bits, pieces, lines, numbers and words of a format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

NUMBERS = (
    b"0", b"-1", b"1", b"2", b"255", b"256", b"65535", b"2147483648", b"4294967296", b"-0.0", b"1e308",
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"1e309", b"1e-320",
    b"0x10", b"1_000", b"1,5", b"1.5.5", b"nan", b"inf", b"-Infinity", b"9" * 400, b"0." + b"0" * 400,
)  # fmt: skip
ODD = (
    b"\0", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80", b"\x1b[31m",
    b"\x1b]0;x\x07", b"\r", b"\n", b"\r\n", b"\t", b"\x0b", b"\x0c", b"\x1a", b"\x85", b"\xc2\x85",
    b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b'"', b'""', b"'", b"\\", b"%s", b"{", b"}",
    b"<", b">", b"&", b";", b",", b"|", b"(", b")", b"[", b"]", b"@", b"#", b"?", b" ", b"\xc2\xa0",
)  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LARGEST = 1 << 16  # bytes; a few changes that repeat must not make a file of gigabytes


def changed(content: bytes, chance: random.Random, words: Sequence[bytes] = ()) -> bytes:
    """Apply one to four random changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        content = chance.choice(_CHANGES)(content, chance, words)[:_LARGEST]
    return content


def _place(content: bytes, chance: random.Random) -> tuple[int, int]:
    """Return the ends of a random piece, short ones more often."""
    start = chance.randrange(len(content) + 1)
    longest = chance.choice((1, 2, 4, 16, 64, len(content)))
    return start, min(len(content), start + chance.randint(0, longest))


def _flip(content: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 8))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _overwrite(content: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _place(content, chance)
    return content[:start] + chance.randbytes(end - start) + content[end:]


def _delete(content: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _place(content, chance)
    return content[:start] + content[end:]


def _repeat(content: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _place(content, chance)
    return content[:end] + content[start:end] * chance.choice((1, 1, 2, 50)) + content[end:]


def _move(content: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _place(content, chance)
    rest = content[:start] + content[end:]
    place = chance.randrange(len(rest) + 1)
    return rest[:place] + content[start:end] + rest[place:]


def _cut(content: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _word(content: bytes, chance: random.Random, words: Sequence[bytes]) -> bytes:
    start, end = _place(content, chance)
    end = chance.choice((start, end))
    return content[:start] + chance.choice((*words, *ODD)) + content[end:]


def _number(content: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    match = chance.choice(found)
    return content[: match.start()] + chance.choice(NUMBERS) + content[match.end() :]


def _lines(content: bytes, chance: random.Random, _: Sequence[bytes]) -> bytes:
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return content
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    how = chance.randrange(4)
    if how == 0:
        lines[first], lines[second] = lines[second], lines[first]
    elif how == 1:
        lines.insert(second, lines[first])
    elif how == 2:
        del lines[first]
    else:
        lines[first] = lines[first].rstrip(b"\r\n")
    return b"".join(lines)


_CHANGES = (
    _flip,
    _overwrite,
    _delete,
    _repeat,
    _move,
    _cut,
    _word,
    _word,
    _number,
    _number,
    _lines,
)
