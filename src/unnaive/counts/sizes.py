"""Size of tables of counts, and an error before too large ones are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import TableTooLarge

if TYPE_CHECKING:
    from unnaive.schema import Schema


def pair_bytes(schema: Schema) -> int:
    """Size of the tables of all pairs of columns in bytes."""
    sizes = schema.sizes.astype(object)
    both = (sizes.sum() ** 2 - (sizes**2).sum()) // 2
    return int(both) * len(schema.classes) * 8


def largest_pair_bytes(schema: Schema) -> int:
    """Size of the table of the two widest columns in bytes."""
    widest = np.sort(schema.sizes)[-2:].astype(object)
    return int(np.prod(widest)) * len(schema.classes) * 8 if len(widest) == 2 else 0


def require_pairs_fit(schema: Schema, pairs: str | None, max_memory: int) -> None:
    """Raise :class:`TableTooLarge` if all pairs are wanted and do not fit into memory."""
    if pairs == "all":
        require_memory(schema, pair_bytes(schema), max_memory, "counting all pairs of columns")


def require_memory(schema: Schema, needed: int, max_memory: int, what: str) -> None:
    """Raise :class:`TableTooLarge` with the size and the cure if tables do not fit."""
    if needed > max_memory:
        widest = schema.columns[int(np.argmax(schema.sizes))]
        raise TableTooLarge(
            f"{what} would take {needed / 2**30:,.2f} GiB, more than max_memory "
            f"({max_memory / 2**30:,.2f} GiB); the widest column is {widest.name!r} with "
            f"{widest.size:,} values: drop it, group its rare values, or raise max_memory"
        )
