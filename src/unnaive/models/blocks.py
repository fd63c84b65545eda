"""Rows of models of counts: predicted in blocks, left out, and counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.tables import posterior
from unnaive.counts import CodedRows
from unnaive.tables.left_out import by_weight

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import FloatArray
    from unnaive.counts import JointCounts
    from unnaive.io.frames import Frame
    from unnaive.models.base import CountsClassifier
    from unnaive.models.inputs import Given
    from unnaive.schema import Schema

_BLOCK_ROWS = 1 << 13
_FEW_ROWS = 1 << 7  # predicted sooner than a second thread starts


def in_blocks(
    frame: Frame, work: Callable[[tuple[int, int], int | None], None], n_jobs: int | None
) -> None:
    """Process blocks of an array's rows in threads, or a whole table with threads inside."""
    if frame.matrix is None or frame.n_rows <= _FEW_ROWS:
        work((0, frame.n_rows), n_jobs if frame.matrix is None else 1)
        return
    pieces = 4 * _parallel.effective_n_jobs(n_jobs)
    size = max(1, min(_BLOCK_ROWS, -(-frame.n_rows // pieces)))
    blocks = _parallel.row_blocks(frame.n_rows, size)
    _parallel.run(lambda rows: work(rows, 1), blocks, n_jobs)


def left_out_posteriors(model: CountsClassifier, batch: Given) -> FloatArray:
    """Leave-one-out posterior probabilities of training rows; shape (n, k)."""
    fitted = model.fitted_
    weights = np.ones(1) if batch.weights is None else np.unique(batch.weights)
    tables = {weight: fitted.left_out_tables(weight) for weight in weights.tolist()}
    classes = fitted.schema.encode_target(batch.target)
    chances = np.empty((batch.frame.n_rows, len(fitted.labels)))

    def predict_block(bounds: tuple[int, int], n_jobs: int | None) -> None:
        block = slice(*bounds)
        codes = model.codes_of(batch.frame.block(*bounds), n_jobs, fitted.schema)
        weights = None if batch.weights is None else batch.weights[block]
        for group in by_weight(CodedRows(fitted.schema, codes, classes[block], weights)):
            joint = fitted.left_out_of(group, tables[group.weight], n_jobs or 1)
            if fitted.calibration is not None:
                fitted.calibration.apply(joint)
            out = np.empty_like(joint)
            posterior(joint, out)
            chances[block][group.places] = out

    in_blocks(batch.frame, predict_block, model.n_jobs)
    return chances


def coded_batch(model: CountsClassifier, batch: Given, schema: Schema) -> CodedRows:
    """Code samples by known categories and bin edges."""
    codes = model.codes_of(batch.frame, model.n_jobs, schema)
    classes = schema.encode_target(batch.target)
    return CodedRows(schema, codes, classes, batch.weights, model.n_jobs)


def counted(known: JointCounts, rows: CodedRows) -> JointCounts:
    """Count rows in the tables that other counts have."""
    families = rows.count_families([family.columns for family in known.families])
    triples = None if known.triples is None else rows.count_triples()
    return replace(rows.select(known.pair_columns), families=families, triples=triples)
