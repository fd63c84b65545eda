"""Files by their paths: models learn from them part by part, as from a stream."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from unnaive.counts.engines.answers import stream_of_answers
from unnaive.counts.engines.dispatch import features_of
from unnaive.counts.engines.files import BATCH_ROWS, Kinds, ReadAgainError
from unnaive.counts.engines.streaming import located, read_ahead, require_names, warn_of_reading
from unnaive.exceptions import DataFileError, UnnaiveError
from unnaive.io.parts import entries
from unnaive.io.parts.parquet import ArrowPart

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    import pyarrow as pa

    from unnaive.counts.engines.dispatch import Prediction, Work
    from unnaive.io.parts import Part

Result = TypeVar("Result")


def engine(source: str | PathLike[str] | Sequence[str | PathLike[str]]) -> PathsEngine:
    """Make an engine of a path, a folder, a pattern, or a list of these.

    Parameters
    ----------
    source : str, path, or list of these
        Files of one kind of rows, in the order of their names.

    Returns
    -------
    PathsEngine
        Reads the files again in every pass.

    Raises
    ------
    DataFileError
        If a file lacks columns of the first one, or has others.
    """
    parts = [entry.open() for entry in entries(source)]
    for part in parts[1:]:
        try:
            features_of(part.columns, (), parts[0].columns)
        except UnnaiveError as error:
            raise DataFileError(f"{part.name}: {error}") from error
    return PathsEngine(parts)


@dataclass
class PathsEngine:
    """Open files, and the kinds that their columns were found to have.

    Attributes
    ----------
    parts : list of Part
        The files, in the order in which their rows are numbered.
    keeps_columns : bool
        Whether predictions keep the columns of the files beside them.
    in_order : bool
        Whether rows have positions without being counted first.
    kinds : Kinds
        Columns that are text in some file, and so in all.
    told : bool
        Whether warnings about the files were given.
    """

    parts: list[Part]
    keeps_columns: bool = True
    in_order: bool = True
    kinds: Kinds = field(default_factory=lambda: Kinds({}))
    told: bool = False

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Columns of the files, in the order of the first one."""
        return self.parts[0].columns

    def fold(
        self, work: Work[Result], labels: object = None, weights: object = None
    ) -> Result | None:
        """Run the work on every batch and merge the results."""
        require_names("files", y=labels, sample_weight=weights)
        while True:
            try:
                result = self._fold(work)
                break
            except ReadAgainError:  # now with a column as text that is text in some files only
                continue
        if not self.told:  # of the first pass, which the others repeat
            warn_of_reading(self.parts, stacklevel=6)
            self.told = True
        return result

    def _fold(self, work: Work[Result]) -> Result | None:
        known = self.kinds.texts()
        results: list[Result | None] = []
        first = 0
        for part in self.parts:
            texts = dict.fromkeys(known, "text")
            found, rows = _fold_part(work, part, first, texts)
            self.kinds.note(part)
            if self.kinds.texts() - known:
                raise ReadAgainError
            results = [work.merge([*results, *found])]
            first += rows
        return work.merge(results)

    def predict(self, prediction: Prediction) -> pa.RecordBatchReader:
        """Add predictions to the columns of the files, batch by batch, when they are read."""
        typed = [part for part in self.parts if isinstance(part, ArrowPart)]
        for part in self.parts:
            if part not in typed:
                raise UnnaiveError(
                    f"{part.name} does not say the types of its columns, so that its predictions "
                    "cannot be a stream; give it to `unnaive predict`, or read it as a table"
                )
        columns, fields = list(self.names), typed[0].fields
        kinds = import_module("pyarrow").schema(fields)
        batches = (
            batch.cast(kinds)  # labels are read with their dictionary
            for part in typed
            for batch in part.batches(batch_size=BATCH_ROWS, columns=columns)
        )
        return stream_of_answers(prediction, fields, batches)


def _fold_part(
    work: Work[Result], part: Part, first: int, told: dict[str, str]
) -> tuple[list[Result | None], int]:
    """Run the work on a file, whose first row is row ``first`` of all; also return its rows."""
    found: list[Result | None] = []
    rows = 0
    with closing(read_ahead(part.frames(BATCH_ROWS, told, threads=True))) as frames:
        for frame in frames:
            if isinstance(frame, str):  # the file starts again
                found, rows = [], 0
                continue
            with located(part.name, rows, frame.n_rows):
                found.append(work.run_part(frame, place=(0, first + rows)))
            found = [work.merge(found)]
            rows += frame.n_rows
    return found, rows
