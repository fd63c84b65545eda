"""How many bytes tables of counts take, and an error before they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import TableTooLarge

if TYPE_CHECKING:
    from unnaive.schema import Schema


def pair_bytes(schema: Schema) -> int:
    """Bytes that the tables of all pairs take."""
    sizes = schema.sizes.astype(object)
    both = (sizes.sum() ** 2 - (sizes**2).sum()) // 2
    return int(both) * len(schema.classes) * 8


def largest_pair_bytes(schema: Schema) -> int:
    """Bytes that the table of the two widest columns takes."""
    widest = np.sort(schema.sizes)[-2:].astype(object)
    return int(np.prod(widest)) * len(schema.classes) * 8 if len(widest) == 2 else 0


def require_memory(schema: Schema, needed: int, max_memory: int, what: str) -> None:
    """Raise :class:`TableTooLarge` with the figure and the cure."""
    if needed > max_memory:
        widest = schema.columns[int(np.argmax(schema.sizes))]
        raise TableTooLarge(
            f"{what} would take {needed / 2**30:,.2f} GiB, more than max_memory "
            f"({max_memory / 2**30:,.2f} GiB); the widest column is {widest.name!r} with "
            f"{widest.size:,} values: drop it, group its rare values, or raise max_memory"
        )
