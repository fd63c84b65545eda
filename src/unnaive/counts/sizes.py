"""Size of tables of counts, and an error before too large ones are made."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive.counts import cells
from unnaive.exceptions import TableTooLarge

if TYPE_CHECKING:
    from unnaive._typing import IntArray
    from unnaive.schema import Schema


CELL_BYTES = 16  # number and count of a cell that occurred


def pair_bytes(schema: Schema, n_rows: int | None = None) -> int:
    """Size of the tables of all pairs of columns in bytes.

    Of a pair with very many cells at most ``n_rows`` are held; None: all cells are.
    """
    sizes = schema.sizes.astype(object)
    both = (sizes.sum() ** 2 - (sizes**2).sum()) // 2
    every = int(both) * len(schema.classes) * 8
    if n_rows is None:
        return every
    wide, number = wide_bytes(schema)
    return every - wide + min(wide, CELL_BYTES * n_rows * number)


def wide_bytes(schema: Schema) -> tuple[int, int]:
    """Bytes of all cells of the pairs with very many cells, and the number of these pairs."""
    sizes, n_classes = schema.sizes, len(schema.classes)
    order = np.sort(sizes)[::-1]
    least = cells.DENSE_CELLS / (n_classes * max(int(order[0]), 1)) if len(order) else 0.0
    some = order[order > least].astype(np.float64)  # with a smaller one no pair is that large
    products = n_classes * np.outer(some, some)[np.triu_indices(len(some), 1)]
    wide = products > cells.DENSE_CELLS
    return 8 * int(products[wide].sum()), int(wide.sum())


def largest_pair_bytes(schema: Schema, n_rows: int) -> int:
    """Size of the table of the two widest columns in bytes; of its cells if it has very many."""
    widest = np.sort(schema.sizes)[-2:].astype(object)
    every = int(np.prod(widest)) * len(schema.classes) if len(widest) == 2 else 0
    return min(8 * every, CELL_BYTES * n_rows) if every > cells.DENSE_CELLS else 8 * every


def require_pairs_fit(
    schema: Schema, pairs: str | None, max_memory: int, n_rows: int | None = None
) -> None:
    """Raise :class:`TableTooLarge` if all pairs are wanted and do not fit into memory."""
    if pairs == "all":
        needed = pair_bytes(schema, n_rows)
        require_memory(schema, needed, max_memory, "counting all pairs of columns")


def require_memory(schema: Schema, needed: int, max_memory: int, what: str) -> None:
    """Raise :class:`TableTooLarge` with the size and the cure if tables do not fit."""
    if needed > max_memory:
        widest = schema.columns[int(np.argmax(schema.sizes))]
        raise TableTooLarge(
            f"{what} would take {memory_words(needed)}, more than max_memory "
            f"({memory_words(max_memory)}); the widest column is {widest.name!r} with "
            f"{widest.size:,} values: drop it, group its rare values by min_frequency or "
            "max_categories, or raise max_memory"
        )


def memory_words(size: float) -> str:
    """Say a number of bytes in a unit that shows its first digits.

    Examples
    --------
    >>> memory_words(3 * 2**30), memory_words(5 * 2**20), memory_words(5_000)
    ('3.00 GiB', '5.00 MiB', '5,000 bytes')
    """
    for power, unit in ((30, "GiB"), (20, "MiB")):
        if size >= 2**power:
            return f"{size / 2**power:,.2f} {unit}"
    return f"{size:,} bytes"


def starts_of(lengths: IntArray) -> IntArray:
    """Return where consecutive pieces of some lengths begin, and the end; shape (m + 1,)."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, dtype=np.int64, out=starts[1:])
    return starts


def all_triples(n_columns: int) -> IntArray:
    """List every triple i < j < l in lexicographic order; shape (d(d−1)(d−2)/6, 3)."""
    triples = list(combinations(range(n_columns), 3))
    return np.array(triples, dtype=np.int64).reshape(-1, 3)


def all_pairs(n_columns: int) -> IntArray:
    """List every pair i < j in lexicographic order; shape (d(d−1)/2, 2)."""
    return np.stack(np.triu_indices(n_columns, 1), axis=1).astype(np.int64)
