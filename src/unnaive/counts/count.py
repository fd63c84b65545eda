"""Counting, in one call: rows in, sufficient statistics out."""

from __future__ import annotations

from glob import has_magic
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unnaive._scikit import check_sample_weight
from unnaive.counts.engines.dispatch import Learning, count_partitions, engine_of
from unnaive.counts.engines.memory import CodedRows, count_codes
from unnaive.counts.sizes import pair_bytes, require_memory
from unnaive.discretize import discretizer
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import to_column, to_frame
from unnaive.schema import Schema, learn_schema

if TYPE_CHECKING:
    from typing import Unpack

    from unnaive._typing import FloatArray
    from unnaive.counts.engines.files import FileOptions
    from unnaive.counts.joint import JointCounts
    from unnaive.discretize import Discretizer
    from unnaive.io.frames import Column, Frame
    from unnaive.schema.learn import Categories, Features

READ_WHOLE = 1 << 28  # bytes of a single file that is read as a whole


class Options(Learning, total=False):
    """What is said to a count, wherever rows are."""

    schema: Schema | None
    pairs: str | None
    sample_weight: object
    max_memory: int


def count(
    source: object,
    target: object,
    *,
    schema: Schema | None = None,
    pairs: str | None = "all",
    sample_weight: object = None,
    discretize: str | Discretizer | None = "mdlp",
    bins: int = 5,
    categorical_features: Features = "auto",
    categories: Categories = None,
    max_memory: int = 2**31,
    n_jobs: int | None = None,
    **files: Unpack[FileOptions],
) -> JointCounts:
    """Count the rows of a table, of files, or of partitions on a cluster.

    Parameters
    ----------
    source : array, data frame, path, pattern, list of paths, or dataset
        The rows. A folder, a pattern such as ``"visits/*.parquet"``, a list of files and a
        ``pyarrow.dataset`` are counted in batches, in memory that does not grow with the rows;
        so is one file of more than 256 MB. Dask and Spark frames are counted where they are.
    target : str or array
        Name of the class column in ``source``, or the class labels themselves.
    schema : Schema, default=None
        What the columns are; counts add up only if they share it. None: learned from these
        rows by ``discretize``, ``bins``, ``categorical_features`` and ``categories``, which
        are those of the models.
    pairs : "all" or None, default="all"
        Whether pairs of columns are counted (naive Bayes needs none).
    sample_weight, max_memory, n_jobs
        As in the models; weights of rows in files are a column, given by its name.
    **files
        How files are counted: ``checkpoint``, ``skip_bad_files``, ``watch``, ``batch_rows``,
        see :func:`~unnaive.counts.engines.files.count_files`.

    Examples
    --------
    >>> import unnaive
    >>> counts = unnaive.count([["a", "u"], ["b", "u"], ["b", "w"]], target=[0, 1, 1])
    >>> counts
    JointCounts(3 rows, 2 columns, 2 classes, 1 pairs, 144 bytes)
    >>> counts.pair(0, 1)[1].tolist()
    [[0, 0], [1, 1]]
    """
    if pairs not in {"all", None}:
        raise ValueError(f"pairs={pairs!r}; it must be 'all' or None")
    options: Options = {"schema": schema, "pairs": pairs, "sample_weight": sample_weight}
    options |= {"discretize": discretize, "bins": bins, "max_memory": max_memory}
    options |= {"categorical_features": categorical_features, "categories": categories}
    if _in_batches(source, schema, files):
        from unnaive.counts.engines.files import count_files  # noqa: PLC0415 - costs import time

        return count_files(source, target, n_jobs=n_jobs, **options, **files)
    if files:
        raise TypeError(f"{next(iter(files))}= is for rows in files, and these are not")
    engine = engine_of(source)
    if engine is not None:
        return count_partitions(engine, target, **options)
    return _count_table(source, target, n_jobs, options)


def _in_batches(source: object, schema: Schema | None, files: FileOptions) -> bool:
    """Whether rows come from files that are not read as a whole."""
    from unnaive.io.parts import is_files  # noqa: PLC0415 - costs import time

    if not is_files(source):
        return False
    if not isinstance(source, str | PathLike) or schema is not None or files:
        return True
    path = Path(source)
    if path.is_file():
        return path.stat().st_size > READ_WHOLE
    return path.is_dir() or has_magic(str(path))


def _count_table(
    source: object, target: object, n_jobs: int | None, options: Options
) -> JointCounts:
    """Count rows that are in memory, or in a file that fits."""
    frame, labels, weights = weighted_rows(*_split(source, target), options["sample_weight"])
    schema, pairs, how = options["schema"], options["pairs"], options["discretize"]
    if schema is None:
        schema, codes, classes = learn_schema(
            frame,
            labels,
            discretizer=None if how is None else discretizer(how, options["bins"]),
            categorical_features=options["categorical_features"],
            categories=options["categories"],
            weights=weights,
            n_jobs=n_jobs,
        )
    else:
        codes, classes = schema.encode(frame, n_jobs=n_jobs), schema.encode_target(labels)
    if pairs == "all":
        what = "counting all pairs of columns"
        require_memory(schema, pair_bytes(schema), options["max_memory"], what)
    return count_codes(CodedRows(schema, codes, classes, weights, n_jobs), pairs)


def weighted_rows(
    frame: Frame, target: Column, sample_weight: object, *, keep_all: bool = False
) -> tuple[Frame, Column, FloatArray | None]:
    """Check lengths and weights; rows of no weight are left out unless ``keep_all``."""
    if len(target.values) != frame.n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{frame.n_rows} rows, but {len(target.values)} labels"
        )
    if sample_weight is None:
        return frame, target, None
    weights = check_sample_weight(sample_weight, target.values, dtype=np.float64, copy=True)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise UnnaiveError(
            f"sample_weight is {weights[row]} in row {row}; weights must not be negative"
        )
    if not weights.any():
        raise UnnaiveError("sample_weight is zero in every row; no row is left to learn from")
    used = weights > 0
    if used.all() or keep_all:
        return frame, target, weights
    return frame.take(used), target.take(used), weights[used]


def _split(source: object, target: object) -> tuple[Frame, Column]:
    """Tell the rows from their labels."""
    if isinstance(source, str | PathLike):
        from unnaive.io.files import read  # noqa: PLC0415 - costs import time

        frame = read(source)
    else:
        frame = to_frame(source)
    if isinstance(target, str):
        return frame.split(target)
    return frame, to_column(target)
