"""``unnaive predict``: classes and probabilities for the rows of a file, in batches."""

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, compress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

import unnaive
from unnaive._json import plain
from unnaive.cli import options, output
from unnaive.cli.options import flag, option
from unnaive.cli.rows import matched_batches
from unnaive.cli.terminal import clean, note, progress, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import BoolArray, FloatArray, IntArray
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
    interval: Annotated[
        float | None,
        option(
            "--interval",
            "LEVEL",
            "Also write the credible interval of every probability, such as 0.9.",
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        option(
            "--prediction-set",
            "COVERAGE",
            "Also write the set of classes that has this coverage, such as 0.95.",
        ),
    ] = None,
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

    Sets are calibrated if the model was fitted with --prediction-sets; otherwise they are the most
    probable classes that have the coverage by the model itself. Their classes are separated by |.

    Examples
    --------
    unnaive predict patients.unb new.csv
    unnaive predict patients.unb new.csv --keep id --proba -o predicted.csv
    unnaive predict patients.unb new.csv --interval 0.9 --prediction-set 0.95
    """
    from unnaive.models.classifier import chosen_classes  # noqa: PLC0415

    _require_share("--interval", interval)
    _require_share("--prediction-set", coverage)
    if to is not None:
        output.require_writable(to, model, data)
    with progress(f"predicting {data.name}") as done:
        loaded: Any = unnaive.load(model)  # a model, or one with the scores of prediction sets
        classifier: Classifier = getattr(loaded, "estimator_", loaded)
        if coverage is not None and loaded is classifier:
            note(f"sets of {model.name} are not calibrated; fit it with --prediction-sets")
        classifier.set_params(n_jobs=n_jobs)
        kept = options.words(keep)
        batches = matched_batches(data, classifier, n_jobs, cells.reading(), kept)
        first = next(batches)  # errors in the file are reported before anything is written
        with _stream(to) as stream:
            told = Told(proba, interval is not None, coverage is not None)
            writer = (JsonLines if json else CsvLines)(classifier, stream, kept, told)
            rows = 0
            for frame, copied in chain([first], batches):
                chances = classifier.predict_proba(frame)
                chosen = chosen_classes(classifier, chances)
                numbers = [rounded(chances, precision)] if proba else []
                if interval is not None:
                    bounds = classifier.predict_interval(frame, interval)
                    numbers += [rounded(bound, precision) for bound in (bounds.lower, bounds.upper)]
                sets = None if coverage is None else loaded.predict_set(frame, coverage).included
                writer.write(Predicted(copied, chosen, numbers, sets))
                rows += frame.n_rows
                done(rows)
            writer.finish()
    if to is not None:
        say(f"{rows:,} rows written to {to}")


def _require_share(name: str, share: float | None) -> None:
    """Raise for a level or coverage that is no share, before anything is read or written."""
    if share is not None and not 0 < share < 1:
        text = f"{share:g} is not between 0 and 1; 90 % is {name} 0.9"
        raise typer.BadParameter(text, param_hint=name)


_ALL_DIGITS = 17  # significant digits that tell every number apart
_EXACT_POWER = 22  # largest power of ten that is exact


class Predicted(NamedTuple):
    """Kept cells, predicted classes, numbers and sets of some rows."""

    copied: "Frame"
    chosen: "IntArray"
    numbers: "list[FloatArray]"
    sets: "BoolArray | None"


class Told(NamedTuple):
    """What is written beside the predicted class."""

    proba: bool = False
    interval: bool = False
    sets: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of numbers that every class has."""
        return (*(["P"] if self.proba else []), *(["lower", "upper"] if self.interval else []))


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
        self, model: "Classifier", stream: IO[bytes], keep: "Sequence[str]", told: Told
    ) -> None:
        labels, target = model.classes_.tolist(), model.schema_.target
        self._stream, self._labels = stream, [str(label) for label in labels]
        self._cells = [_line([label]) for label in labels]
        predicted = f"predicted {target}" if target in keep else target
        shown = [f"{kind}({label})" for kind in told.kinds for label in labels]
        sets = ["set"] if told.sets else []
        stream.write(f"{_line([*keep, predicted, *sets, *shown])}\n".encode())

    def write(self, predicted: Predicted) -> None:
        """Write kept cells, predicted classes, sets and numbers of some rows."""
        import numpy as np  # noqa: PLC0415 - see app.py

        copied, chosen, numbers, sets = predicted
        cells = [self._cells[index] for index in chosen.tolist()]
        if sets is not None:
            texts_of_sets = [_line(["|".join(one)]) for one in named_sets(self._labels, sets)]
            cells = [",".join(both) for both in zip(cells, texts_of_sets, strict=True)]
        columns = [map(_line, zip(texts(column))) for column in copied.columns]
        if columns:
            cells = [",".join(row) for row in zip(*columns, cells, strict=True)]
        if numbers:
            self._stream.write(_lines(cells, np.hstack(numbers)))
        else:
            self._stream.write("\n".join([*cells, ""]).encode())

    def finish(self) -> None:
        """Flush the output."""
        self._stream.flush()


def named_sets(labels: list[str], sets: "BoolArray") -> list[list[str]]:
    """Return the labels in every set.

    >>> import numpy as np
    >>> named_sets(["a", "b"], np.array([[True, True], [False, False]]))
    [['a', 'b'], []]
    """
    return [list(compress(labels, one)) for one in sets.tolist()]


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
        self, model: "Classifier", stream: IO[bytes], keep: "Sequence[str]", told: Told
    ) -> None:
        self._model, self._stream, self._told = model, stream, told
        self._kept: dict[str, list[str]] = {name: [] for name in keep}
        self._predicted: list[Label] = []
        self._numbers: list[list[list[float]]] = [[] for _ in told.kinds]
        self._sets: list[list[Label]] = []

    def write(self, predicted: Predicted) -> None:
        """Collect the kept cells and the predictions of some rows."""
        copied, chosen, numbers, sets = predicted
        for column in copied.columns:
            self._kept[column.name] += texts(column)
        self._predicted += self._model.classes_[chosen].tolist()
        for kept, found in zip(self._numbers, numbers, strict=True):
            kept.extend(found.tolist())
        if sets is not None:
            self._sets += [self._model.classes_[one].tolist() for one in sets]

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
        names = {"P": "probabilities"}
        for kind, numbers in zip(self._told.kinds, self._numbers, strict=True):
            result[names.get(kind, kind)] = numbers
        if self._told.sets:
            result["sets"] = self._sets
        self._stream.write(json.dumps(plain(result), ensure_ascii=False).encode() + b"\n")
