"""The function that counts rows, wherever they are."""

from __future__ import annotations

from glob import has_magic
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._scikit import check_sample_weight
from unnaive.counts.engines import engine_of
from unnaive.counts.engines.memory import CodedRows, count_codes
from unnaive.counts.sizes import require_pairs_fit
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
    from unnaive.schema.categories import Limits
    from unnaive.schema.settings import Categories, Features, Missing

READ_WHOLE = 1 << 28  # bytes up to which a single file is read as a whole


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
    min_frequency: float | None = None,
    max_categories: int | None = None,
    missing_as_category: Missing = False,
    max_memory: int = 2**31,
    n_jobs: int | None = None,
    **files: Unpack[FileOptions],
) -> JointCounts:
    """Count classes, values and pairs of values in a table, in files, or on a cluster.

    Counts are all that naive Bayes, TAN, AODE, HNB and others need: count once, then fit any number
    of models with ``fit_counts``. Counts of disjoint sets of samples that share a schema add up,
    so sites can send counts instead of samples.

    Parameters
    ----------
    source : array, data frame, path, pattern, list of paths, dataset, or stream
        The samples. A folder, a pattern such as ``"visits/*.parquet"``, a list of files and a
        ``pyarrow.dataset`` are counted in batches, in memory that does not grow with the number
        of samples. The same holds for a single file of more than 256 MB, and for streams of arrow
        batches: DuckDB relations, lazy frames of polars, readers of pyarrow, cursors of ADBC,
        lists and iterators of record batches, and whatever has ``__arrow_c_stream__``. Dask and
        Spark frames are counted on their workers.
    target : str or array
        Name of the target column in ``source``, or the class labels.
    schema : Schema, default=None
        Categories and bins of the features, and the classes. Counts can be added only if they
        share it. None: it is learned from the samples by the parameters from ``discretize`` to
        ``missing_as_category``.
    pairs : "all" or None, default="all"
        Whether pairs of features are counted; naive Bayes does not need them.
    sample_weight : array, str or None, default=None
        Weights of the samples. For files, the name of the column with the weights.
    discretize : str, Discretizer or None, default="mdlp"
        How numbers are binned; None: every distinct number is a category.
    bins : int, default=5
        Number of bins, where the discretizer takes one.
    categorical_features : "auto", list or mask, default="auto"
        Features that are categorical although they are numbers.
    categories : list or dict, default=None
        Categories of the features, where they are known beforehand.
    min_frequency, max_categories : float or int, default=None
        Rare categories that are grouped, as in the models; not for rows in several files or on a
        cluster.
    missing_as_category : bool, list or mask, default=False
        Features in which missing values are a category of their own, as in the models.
    max_memory : int, default=2**31
        Maximum size of the counts in bytes; larger ones raise an error before any are made.
    n_jobs : int or None, default=None
        Number of threads; None: one, -1: all cores.
    **files : Any
        How files are counted: ``checkpoint``, ``skip_bad_files``, ``watch``, ``batch_rows``;
        see :func:`~unnaive.counts.engines.files.count_files`.

    Returns
    -------
    JointCounts
        The counts.

    See Also
    --------
    merge : Adds counts, also saved ones.
    JointCounts : The counts, which can be added, subtracted and saved.

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
    options: dict[str, Any] = {"schema": schema, "pairs": pairs, "sample_weight": sample_weight}
    options |= {"discretize": discretize, "bins": bins, "max_memory": max_memory}
    options |= {"categorical_features": categorical_features, "categories": categories}
    options["missing_as_category"] = missing_as_category
    limits = (min_frequency, max_categories)
    if _in_batches(source, schema, files):
        from unnaive.counts.engines.files import count_files  # noqa: PLC0415 - costs import time

        refuse_limits(limits)
        return count_files(source, target, n_jobs=n_jobs, **options, **files)
    if files:
        raise TypeError(f"{next(iter(files))}= is for rows in files, and these are not")
    engine = None if isinstance(source, str | PathLike) else engine_of(source)
    if engine is not None:
        from unnaive.counts.engines.dispatch import count_partitions  # noqa: PLC0415 - loads when asked

        refuse_limits(limits)
        return count_partitions(engine, target, **options)
    return _count_table(source, target, n_jobs, options, limits)


def refuse_limits(limits: Limits) -> None:
    """Raise an error if rare categories are to be grouped, which needs all rows at once."""
    if any(limit is not None for limit in limits):
        raise UnnaiveError(
            "min_frequency= and max_categories= need all rows in memory; for partitions, group "
            "rare values before, or fit with the schema of a sample by unnaive.count(schema=)"
        )


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
    source: object, target: object, n_jobs: int | None, options: dict[str, Any], limits: Limits
) -> JointCounts:
    """Count rows that are in memory, or in a file that fits into memory."""
    if isinstance(source, str | PathLike):
        from unnaive.io.files import read  # noqa: PLC0415 - costs import time

        source = read(source)
    frame = to_frame(source)
    split = frame.split(target) if isinstance(target, str) else (frame, to_column(target))
    frame, labels, weights = weighted_rows(*split, options["sample_weight"])
    schema, pairs, how = options["schema"], options["pairs"], options["discretize"]
    if schema is None:
        schema, codes, classes = learn_schema(
            frame,
            labels,
            discretizer=None if how is None else discretizer(how, options["bins"]),
            categorical_features=options["categorical_features"],
            categories=options["categories"],
            min_frequency=limits[0],
            max_categories=limits[1],
            missing_as_category=options["missing_as_category"],
            weights=weights,
            n_jobs=n_jobs,
        )
    else:
        codes, classes = schema.encode(frame, n_jobs=n_jobs), schema.encode_target(labels)
    require_pairs_fit(schema, pairs, options["max_memory"], len(classes))
    return count_codes(CodedRows(schema, codes, classes, weights, n_jobs), pairs)


def weighted_rows(
    frame: Frame, target: Column, sample_weight: object, *, keep_all: bool = False
) -> tuple[Frame, Column, FloatArray | None]:
    """Check lengths and weights; rows of weight 0 are dropped unless ``keep_all``."""
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
