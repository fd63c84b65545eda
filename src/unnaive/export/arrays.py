"""Arrays of a document: each is written once, as base64, up to a limit of bytes."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import TableTooLarge

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, FloatArray, State

_MOST_DISTINCT = 1 << 16  # values that two bytes can number


class Arrays:
    """Arrays of doubles by their position; equal arrays share one.

    Numbers are written as little-endian doubles, so no bit is lost. Where few of them are
    distinct, as in tables of small counts, the distinct numbers are written once, and a position
    of one or two bytes for every number.

    Parameters
    ----------
    max_bytes : int
        Limit for all arrays together, as text; beyond it
        :class:`~unnaive.exceptions.TableTooLarge` is raised.

    Examples
    --------
    >>> arrays = Arrays(1000)
    >>> arrays.add([0.5, 0.25]), arrays.add([1.0] * 90), arrays.add([[0.5, 0.25]])
    (0, 1, 0)
    >>> arrays.content[0]
    {'values': 'AAAAAAAA4D8AAAAAAADQPw=='}
    >>> arrays.content[1]["width"], len(arrays.content[1]["places"])
    (1, 120)
    """

    def __init__(self, max_bytes: int) -> None:
        self.content: list[State] = []
        self._max_bytes, self._bytes = max_bytes, 0
        self._positions: dict[bytes, int] = {}

    def add(self, numbers: ArrayLike) -> int:
        """Write an array, its last axis fastest, and return its position."""
        flat = np.ascontiguousarray(numbers, dtype="<f8").reshape(-1)
        self.require(flat.size)
        key = flat.tobytes()
        if key not in self._positions:
            entry = _shorter(flat)
            size = sum(len(part) for part in entry.values() if isinstance(part, str))
            self.require(size)
            self._bytes += size
            self._positions[key] = len(self.content)
            self.content.append(entry)
        return self._positions[key]

    def require(self, size: int) -> None:
        """Raise an error if so many more bytes exceed the limit; a number takes at least one."""
        if self._bytes + size > self._max_bytes:
            raise TableTooLarge(
                f"the tables of this model take more than {self._max_bytes / 1e6:,.1f} MB; raise "
                "max_bytes, or fit a model with fewer columns or values"
            )


def _shorter(flat: FloatArray) -> State:
    """Write doubles, or distinct doubles and positions, whichever is shorter."""
    distinct, places = np.unique(flat.view("<i8"), return_inverse=True)
    width = 1 if len(distinct) <= 1 << 8 else 2
    if len(distinct) > _MOST_DISTINCT or 8 * len(distinct) + width * len(flat) >= 8 * len(flat):
        return {"values": _text(flat)}
    return {"values": _text(distinct), "places": _text(places.astype(f"<u{width}")), "width": width}


def _text(numbers: AnyArray) -> str:
    return b64encode(numbers.tobytes()).decode("ascii")
