"""``unnaive predict``: classes and probabilities for the rows of a file, in batches."""

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, cast

import unnaive
from unnaive._json import plain
from unnaive.cli import options, output
from unnaive.cli.options import flag, option
from unnaive.cli.rows import matched_batches
from unnaive.cli.terminal import clean, progress, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray
    from unnaive.io.frames import Column, Frame
    from unnaive.models import Classifier
    from unnaive.schema.columns import Label


@options.expand
def predict(
    model: options.ModelFile,
    data: options.Data,
    *,
    to: Annotated[
        Path | None, option("--output -o", "FILE", "File to write. Default: standard output.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        option("--keep", "COLUMN", "Column to copy to the output, such as an id. Repeatable."),
    ] = None,
    proba: Annotated[bool, flag("--proba", "Also write the probability of every class.")] = False,
    precision: Annotated[
        int,
        option("--precision", "N", "Significant digits of probabilities; 17: all.", min=1, max=17),
    ] = 6,
    cells: options.Cells,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Predict the class of every row of a file.

    The output is CSV, one line for each row, in the same order; the column of predictions has the
    name of the target. Columns are matched by name. Columns that the model does not have (an
    identifier, the target) are not used; columns that the file does not have are treated as
    missing. Rows are read, predicted and written in batches, so a file may be larger than memory.

    Examples
    --------
    unnaive predict patients.unb new.csv
    unnaive predict patients.unb new.csv --keep id --proba -o predicted.csv
    """
    from unnaive.models.classifier import chosen_classes  # noqa: PLC0415

    if to is not None:
        output.require_writable(to, model, data)
    with progress(f"predicting {data.name}") as done:
        classifier = unnaive.load(model).set_params(n_jobs=n_jobs)
        kept = options.words(keep)
        batches = matched_batches(data, classifier, n_jobs, cells.reading(), kept)
        first = next(batches)  # errors in the file are reported before anything is written
        with _stream(to) as stream:
            writer = (JsonLines if json else CsvLines)(classifier, stream, kept, proba=proba)
            rows = 0
            for frame, copied in chain([first], batches):
                chances = classifier.predict_proba(frame)
                chosen = chosen_classes(classifier, chances)
                writer.write(copied, chosen, rounded(chances, precision))
                rows += frame.n_rows
                done(rows)
            writer.finish()
    if to is not None:
        say(f"{rows:,} rows written to {to}")


_ALL_DIGITS = 17  # significant digits that tell every number apart
_EXACT_POWER = 22  # largest power of ten that is exact


@contextmanager
def _stream(to: Path | None) -> Iterator[IO[bytes]]:
    """Open the output; it is UTF-8 on every system."""
    from unnaive.io.store import replacing  # noqa: PLC0415 - see app.py

    if to is None:
        yield cast("IO[bytes]", Cleaned()) if sys.stdout.isatty() else sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with replacing(to) as stream:
            yield stream


class Cleaned:
    """Standard output that is a terminal: control characters of labels and cells are escaped."""

    def write(self, content: bytes) -> None:
        """Write some UTF-8."""
        sys.stdout.buffer.write(clean(content.decode(errors="replace")).encode(errors="replace"))

    def flush(self) -> None:
        """Write what is buffered."""
        sys.stdout.buffer.flush()


class CsvLines:
    """Predictions as CSV, written batch by batch."""

    def __init__(
        self, model: "Classifier", stream: IO[bytes], keep: "Sequence[str]", *, proba: bool
    ) -> None:
        labels, target = model.classes_.tolist(), model.schema_.target
        self._stream, self._proba = stream, proba
        self._cells = [_line([label]) for label in labels]
        predicted = f"predicted {target}" if target in keep else target
        shown = [f"P({label})" for label in labels] if proba else []
        stream.write(f"{_line([*keep, predicted, *shown])}\n".encode())

    def write(self, copied: "Frame", chosen: "IntArray", chances: "FloatArray") -> None:
        """Write kept cells, predicted classes, and probabilities if wanted, of some rows."""
        cells = [self._cells[index] for index in chosen.tolist()]
        columns = [map(_line, zip(texts(column))) for column in copied.columns]
        if columns:
            cells = [",".join(row) for row in zip(*columns, cells, strict=True)]
        if self._proba:
            self._stream.write(_lines(cells, chances))
        else:
            self._stream.write("\n".join([*cells, ""]).encode())

    def finish(self) -> None:
        """Flush the output."""
        self._stream.flush()


def texts(column: "Column") -> list[str]:
    """Return the cells of a column as text, as they would stand in a file.

    >>> import numpy as np
    >>> from unnaive.io.frames import Column
    >>> texts(Column("age", np.array([50.0, np.nan, 0.5])))
    ['50', '', '0.5']
    """
    values = column.values.tolist()
    if column.values.dtype.kind == "b":
        return [str(value) for value in values]
    if column.categories is not None:
        return [str(column.categories[code]) if code >= 0 else "" for code in values]
    shown = (int(value) if value == value // 1 else value for value in values)
    return ["" if value != value else str(value) for value in shown]  # noqa: PLR0124 - NaN


def rounded(chances: "FloatArray", digits: int) -> "FloatArray":
    """Round numbers from 0 to 1 to some significant digits.

    >>> import numpy as np
    >>> rounded(np.array([0.123456789, 1.0, 1.23456789e-20, 0.0]), 6).tolist()
    [0.123457, 1.0, 1.23457e-20, 0.0]
    """
    import numpy as np  # noqa: PLC0415 - see app.py

    if digits >= _ALL_DIGITS:
        return chances
    places = digits - 1 - np.floor(np.log10(np.where(chances > 0, chances, 1.0)))
    scale = 10.0 ** np.minimum(places, _EXACT_POWER)
    result: FloatArray = np.rint(chances * scale) / scale
    tiny = places > _EXACT_POWER
    result[tiny] = [float(f"{chance:.{digits}g}") for chance in chances[tiny].tolist()]
    return result


def _line(cells: "Sequence[object]") -> str:
    """Return one line of CSV, without its end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def _lines(cells: list[str], chances: "FloatArray") -> bytes:
    """Return lines of a cell and numbers, with the fewest digits that read back the same."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - optional, and several times as fast
        from pyarrow import compute  # noqa: PLC0415

        from unnaive.io.arrow import numbers, strings  # noqa: PLC0415 - see app.py
    except ImportError:
        rows = zip(cells, chances.tolist(), strict=True)
        return "".join(f"{cell},{','.join(map(repr, row))}\n" for cell, row in rows).encode()
    columns = [numbers(column.copy()).cast(pa.string()) for column in chances.T]
    comma, nothing, end = strings([",", "", "\n"])
    lines = compute.binary_join_element_wise(strings(cells), *columns, comma)
    ended = compute.binary_join_element_wise(lines, nothing, end)
    text: bytes = ended.buffers()[2].to_pybytes()
    return text


class JsonLines:
    """Predictions as one JSON object, written at the end."""

    def __init__(
        self, model: "Classifier", stream: IO[bytes], keep: "Sequence[str]", *, proba: bool
    ) -> None:
        self._model, self._stream, self._proba = model, stream, proba
        self._kept: dict[str, list[str]] = {name: [] for name in keep}
        self._predicted: list[Label] = []
        self._chances: list[list[float]] = []

    def write(self, copied: "Frame", chosen: "IntArray", chances: "FloatArray") -> None:
        """Collect the kept cells and the predictions of some rows."""
        for column in copied.columns:
            self._kept[column.name] += texts(column)
        self._predicted += self._model.classes_[chosen].tolist()
        if self._proba:
            self._chances += chances.tolist()

    def finish(self) -> None:
        """Write all predictions."""
        import json  # noqa: PLC0415 - the name of the option hides the module

        result = {
            "target": self._model.schema_.target,
            "classes": self._model.classes_,
            "predicted": self._predicted,
        }
        if self._kept:
            result["kept"] = self._kept
        if self._proba:
            result["probabilities"] = self._chances
        self._stream.write(json.dumps(plain(result), ensure_ascii=False).encode() + b"\n")
