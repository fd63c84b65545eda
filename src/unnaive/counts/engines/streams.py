"""Streams of arrow batches: models learn from them batch by batch, and predict lazily."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from unnaive.counts.engines.answers import stream_of_answers
from unnaive.counts.engines.streaming import bytes_of, located, read_ahead, require_names
from unnaive.io.parts.streams import BATCH_ROWS, StreamPart

if TYPE_CHECKING:
    from collections.abc import Generator

    import pyarrow as pa

    from unnaive.counts.engines.dispatch import Prediction, Work
    from unnaive.io.frames import Frame

Result = TypeVar("Result")
FAN_IN = 8  # results that wait to be merged
ROOM = 1 << 28  # bytes of the rows that are held of a stream that can be read only once


def engine(source: object) -> StreamEngine:
    """Make an engine of a stream."""
    return StreamEngine(StreamPart(source))


@dataclass
class StreamEngine:
    """Batches of a stream; rows that perhaps cannot be read again are held, if they are few."""

    part: StreamPart
    keeps_columns: bool = True
    in_order: bool = True
    held: list[Frame] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the stream."""
        return self.part.columns

    def fold(
        self, work: Work[Result], labels: object = None, weights: object = None
    ) -> Result | None:
        """Run the work on every batch and merge the results."""
        require_names("a stream", y=labels, sample_weight=weights)
        results: list[Result | None] = []
        first = 0
        with closing(read_ahead(self._frames())) as frames:
            for frame in frames:
                with located(self.part.name, first, frame.n_rows):
                    results.append(work.run_part(frame, place=(0, first)))
                first += frame.n_rows
                if len(results) == FAN_IN:
                    results = [work.merge(results)]
        return work.merge(results)

    def _frames(self) -> Generator[Frame]:
        """Yield the rows, and hold those of a stream that perhaps cannot be read again."""
        if self.held:
            yield from self.held
            return
        room = 0 if self.part.again else ROOM
        for frame in self.part.plain(BATCH_ROWS, list(self.names), threads=True):
            if room > 0:
                self.held.append(frame)
                room -= bytes_of(*frame.columns)
                if room <= 0:
                    self.held.clear()
                    if self.part.once:
                        raise self.part.is_read_once()
            yield frame

    def predict(self, prediction: Prediction) -> pa.RecordBatchReader:
        """Add predictions to the stream as new columns, batch by batch, when it is read."""
        batches = self.part.batches(batch_size=BATCH_ROWS, columns=list(self.names))
        return stream_of_answers(prediction, self.part.fields, batches)
