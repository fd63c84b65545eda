"""Load the papers' data sets by name, each checked against the catalogue, and WDBC."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from sklearn.datasets import load_breast_cancer

from unnaive.datasets import sources
from unnaive.datasets.content import difference, settle, to_dataset
from unnaive.datasets.dataset import Dataset
from unnaive.datasets.entries import find
from unnaive.exceptions import DataFileError

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from unnaive.datasets.entries import Entry
    from unnaive.io.frames import Frame


def load(name: str, *, cache: str | PathLike[str] | None = None, check: bool = True) -> Dataset:
    """Load a data set of the catalogue, the same values wherever they come from.

    Looked for, in this order: ``<name>.csv.gz`` or ``<name>.csv`` in the folder named by
    ``$UNNAIVE_DATA``; the same in the cache; what scikit-learn carries (wdbc, iris) or a rule
    makes (corral); OpenML, for those that are there as they are here, and then it is kept in
    the cache. Columns of labels have declared values, and stay labels if these look like
    numbers; an empty cell is missing.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    cache : str or path, optional
        Folder for what was fetched. Default: ``$UNNAIVE_CACHE``, or else the folder ``unnaive``
        where the platform has caches.
    check : bool, default=True
        Whether other values than the catalogue's are an error; the columns must be the same
        in any case. What was not checked is not put into the cache.

    Returns
    -------
    Dataset
        Its ``test`` holds the rows for validation, where there are any ("waveform-21" and
        "mofn-3-7-10"; also to be had by the name of their own, with ``-test`` behind).

    Raises
    ------
    UnnaiveError
        If there is no data set of that name.
    DataFileError
        If a file or the server has other values than the catalogue.
    FileNotFoundError
        If it is in none of these places.

    Examples
    --------
    >>> from unnaive.datasets import load
    >>> data = load("iris")
    >>> data.X.shape, data.classes
    ((150, 4), ('Iris-setosa', 'Iris-versicolor', 'Iris-virginica'))
    """
    entry = find(name)
    test = None if entry.test is None else load(entry.test, cache=cache, check=check)
    folder, kept = sources.data_folder(), sources.cache_folder(cache)
    path = sources.find_file(name, [kept] if folder is None else [folder, kept])
    if path is not None:
        cure = f"fetch it again (sha256 of the .csv.gz: {entry.sha256})"
        frame = settle(entry, sources.read_file(entry, path), str(path))
        _check(entry, frame, str(path), cure, check=check)
    elif name in sources.BUILT_IN:
        where = f"what this version of scikit-learn carries for {name!r}"
        frame = settle(entry, sources.BUILT_IN[name](), where)
        _check(entry, frame, where, f"take the file by ${sources.DATA}", check=check)
    elif entry.openml is not None:
        frame = _fetched(entry, kept, check=check)
    else:
        raise _not_found(entry, kept)
    return to_dataset(entry, frame, test)


def load_wdbc() -> Dataset:
    """Load the Wisconsin diagnostic breast cancer data: 569 tumours, 30 measurements.

    Returns
    -------
    Dataset
        Its classes are "benign" (357 rows) and "malignant" (212). ``load("wdbc")`` has the
        same rows, with the classes "M" and "B" of the original file.

    References
    ----------
    Street, Wolberg & Mangasarian, "Nuclear feature extraction for breast tumor diagnosis",
    SPIE 1905, 1993.

    Examples
    --------
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> data.X.shape, str(data.y[0]), data.names[0]
    ((569, 30), 'malignant', 'mean radius')
    """
    bunch = load_breast_cancer()
    return Dataset(
        X=bunch.data,
        y=bunch.target_names[bunch.target],
        names=tuple(str(name) for name in bunch.feature_names),
        target="diagnosis",
        title="Wisconsin diagnostic breast cancer",
        classes=("benign", "malignant"),
        licence="CC BY 4.0",
    )


def _fetched(entry: Entry, kept: Path, *, check: bool) -> Frame:
    """Fetch a data set from OpenML and keep it in the cache."""
    where = f"OpenML (data {entry.openml})"
    try:
        frame = settle(entry, sources.fetch(entry), where)
    except sources.Unreachable as error:
        raise _not_found(entry, kept, str(error)) from error
    _check(entry, frame, where, f"take the file by ${sources.DATA}", check=check)
    if check:
        try:
            sources.write_file(frame, kept / f"{entry.name}.csv.gz")
        except OSError as error:
            warnings.warn(
                f"{entry.name!r} was fetched but cannot be kept ({error}); set {sources.CACHE} "
                "to a folder that can be written, or it will be fetched again",
                UserWarning,
                stacklevel=3,
            )
    return frame


def _check(entry: Entry, frame: Frame, where: str, cure: str, *, check: bool) -> None:
    if check and (what := difference(entry, frame)):
        raise DataFileError(
            f"{where} has {what}: it is not {entry.name!r} as the catalogue has it; {cure}, or "
            "go on with what is there by check=False"
        )


def _not_found(entry: Entry, kept: Path, trouble: str = "") -> FileNotFoundError:
    """Name the places that were looked in, and the cures."""
    folder = sources.data_folder()
    first = f"{sources.DATA} is not set"
    if folder is not None:
        first = f"not in {folder} ({sources.DATA}{'' if folder.is_dir() else ', no such folder'})"
    places = f"{first}, not in {kept} (cache)"
    cures = f"set {sources.DATA} to a folder that has {entry.name}.csv.gz"
    if entry.openml is not None:
        places += f", and OpenML gave no data {entry.openml} ({trouble})"
        cures += ", or connect to the network"
    if entry.maker:
        cures += f"; {entry.maker} makes rows of this kind"
    return FileNotFoundError(f"data set {entry.name!r} was not found: {places}; {cures}")
