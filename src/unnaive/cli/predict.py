"""``unnaive predict``: classes and probabilities for the rows of a file, in batches."""

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import unnaive
from unnaive._json import plain
from unnaive.cli import options, output
from unnaive.cli.options import flag, option
from unnaive.cli.rows import matched_batches
from unnaive.cli.terminal import progress, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray
    from unnaive.models import Classifier
    from unnaive.schema.columns import Label


def predict(
    model: options.ModelFile,
    data: options.Data,
    *,
    to: Annotated[
        Path | None, option("--output -o", "FILE", "File to write. Default: standard output.")
    ] = None,
    proba: Annotated[bool, flag("--proba", "Also write the probability of every class.")] = False,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Predict the class of every row of a file.

    The output is CSV, one line for each row, in the same order. Columns are matched by name;
    columns that the model does not have (an identifier, the target) are not used. Rows are read,
    predicted and written in batches, so a file may be larger than memory.

    Examples
    --------
    unnaive predict patients.unb new.csv
    unnaive predict patients.unb new.csv --proba -o predicted.csv
    """
    from unnaive.models.classifier import chosen_classes  # noqa: PLC0415

    if to is not None:
        output.require_writable(to, model, data)
    with progress(f"predicting {data.name}") as done:
        classifier = unnaive.load(model).set_params(n_jobs=n_jobs)
        batches = matched_batches(data, classifier, n_jobs)
        first = next(batches)  # errors in the file are reported before anything is written
        with _stream(to) as stream:
            writer = (JsonLines if json else CsvLines)(classifier, stream, proba=proba)
            rows = 0
            for frame in chain([first], batches):
                chances = classifier.predict_proba(frame)
                writer.write(chosen_classes(classifier, chances), chances)
                rows += frame.n_rows
                done(rows)
            writer.finish()
    if to is not None:
        say(f"{rows:,} rows written to {to}")


@contextmanager
def _stream(to: Path | None) -> Iterator[IO[bytes]]:
    """Open the output; it is UTF-8 on every system."""
    from unnaive.io.store import replacing  # noqa: PLC0415 - see app.py

    if to is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with replacing(to) as stream:
            yield stream


class CsvLines:
    """Predictions as CSV, written batch by batch."""

    def __init__(self, model: "Classifier", stream: IO[bytes], *, proba: bool) -> None:
        labels = model.classes_.tolist()
        self._stream, self._proba = stream, proba
        self._cells = [_line([label]) for label in labels]
        header = ["class", *(f"P({label})" for label in labels)] if proba else ["class"]
        stream.write(f"{_line(header)}\n".encode())

    def write(self, chosen: "IntArray", chances: "FloatArray") -> None:
        """Write the predicted class of some rows, and the probabilities if wanted."""
        cells = [self._cells[index] for index in chosen.tolist()]
        if self._proba:
            self._stream.write(_lines(cells, chances))
        else:
            self._stream.write("\n".join([*cells, ""]).encode())

    def finish(self) -> None:
        """Flush the output."""
        self._stream.flush()


def _line(cells: "Sequence[object]") -> str:
    """Return one line of CSV, without its end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def _lines(cells: list[str], chances: "FloatArray") -> bytes:
    """Return lines of a cell and numbers, with all digits."""
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

    def __init__(self, model: "Classifier", stream: IO[bytes], *, proba: bool) -> None:
        self._model, self._stream, self._proba = model, stream, proba
        self._predicted: list[Label] = []
        self._chances: list[list[float]] = []

    def write(self, chosen: "IntArray", chances: "FloatArray") -> None:
        """Keep the predictions for some rows."""
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
        if self._proba:
            result["probabilities"] = self._chances
        self._stream.write(json.dumps(plain(result), ensure_ascii=False).encode() + b"\n")
