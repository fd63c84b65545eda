"""Whether counts from a file are whole: the compiled kernels trust their arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unnaive.counts.joint import JointCounts


def fit_schema(counts: JointCounts) -> bool:
    """Whether all arrays of counts fit the schema in shape and values."""
    k, pairs, sizes = len(counts.schema.classes), counts.pair_columns, counts.schema.sizes
    d, cells = counts.n_columns, counts.cells
    keys = pairs[:, 0] * d + pairs[:, 1] if pairs.ndim == 2 else pairs
    return (
        pairs.dtype == np.int64
        and pairs.shape == (len(pairs), 2)
        and bool((pairs[:, 0] < pairs[:, 1]).all())
        and pairs.min(initial=0) >= 0
        and pairs.max(initial=0) < max(d, 1)
        and bool((np.diff(keys) > 0).all())
        and all(one.fits(sizes, k) and len(one.columns) == 2 for one in cells)
        and len({one.columns for one in cells}) == len(cells)
        and {one.columns[::-1] for one in cells} <= {tuple(pair) for pair in pairs.tolist()}
        and counts.class_counts.shape == (k,)
        and counts.values.shape == (k, sizes.sum())
        and counts.pairs.shape == (k, counts.pair_starts[-1])
        and all(family.fits(sizes, k) for family in counts.families)
        and (counts.triples is None or counts.triples.shape == (k, counts.triple_starts[-1]))
        and all(table.dtype in (np.int64, np.float64) for table in counts.tables)
        and all(np.isfinite(table).all() and (table >= 0).all() for table in counts.tables)
    )
