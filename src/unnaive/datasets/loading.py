"""Load the data sets of the papers by name and check them against the catalogue."""

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
    """Load a data set of the catalogue.

    The values are the same for every source. The sources are tried in this order:

    1. the file ``<name>.csv.gz`` or ``<name>.csv`` in the folder ``$UNNAIVE_DATA``;
    2. the same file in the cache folder;
    3. scikit-learn ("wdbc", "iris") or a generator ("corral");
    4. OpenML, if it has the same samples; the result is written to the cache.

    Categorical features have declared categories, also where these look like numbers. An empty
    cell is a missing value.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    cache : str or path, default=None
        Folder for downloaded data. By default ``$UNNAIVE_CACHE``, or the folder ``unnaive`` in
        the cache folder of the platform.
    check : bool, default=True
        Whether values that differ from the catalogue are an error. The columns must always
        agree. Data that was not checked is not written to the cache.

    Returns
    -------
    Dataset
        The samples. "waveform-21" and "mofn-3-7-10" have test samples in ``test``, which can
        also be loaded by the name with ``-test`` at the end.

    Raises
    ------
    UnnaiveError
        If the catalogue has no data set of that name.
    DataFileError
        If the file or the server has other values than the catalogue.
    FileNotFoundError
        If no source has the data set.

    See Also
    --------
    names : The names of all data sets.
    catalogue : The descriptions of all data sets.
    load_wdbc : A data set that comes with scikit-learn.

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
        where = f"this version of scikit-learn for {name!r}"
        frame = settle(entry, sources.BUILT_IN[name](), where)
        _check(entry, frame, where, f"take the file by ${sources.DATA}", check=check)
    elif entry.openml is not None:
        frame = _fetched(entry, kept, check=check)
    else:
        raise _not_found(entry, kept)
    return to_dataset(entry, frame, test)


def load_wdbc() -> Dataset:
    """Load the Wisconsin diagnostic breast cancer data: 569 tumours, 30 measurements.

    It comes with scikit-learn, so no file and no network are needed.

    Returns
    -------
    Dataset
        The classes are "benign" (357 samples) and "malignant" (212). ``load("wdbc")`` has the
        same samples with the classes "M" and "B" of the original file.

    See Also
    --------
    load : Load any data set of the catalogue.

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
    """Download a data set from OpenML and write it to the cache."""
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
                f"{entry.name!r} was downloaded but cannot be kept ({error}); set {sources.CACHE} "
                "to a folder that can be written, or it will be downloaded again",
                UserWarning,
                stacklevel=3,
            )
    return frame


def _check(entry: Entry, frame: Frame, where: str, cure: str, *, check: bool) -> None:
    if check and (what := difference(entry, frame)):
        raise DataFileError(
            f"{where} has {what}: it differs from {entry.name!r} in the catalogue; {cure}, or "
            "pass check=False to use it as it is"
        )


def _not_found(entry: Entry, kept: Path, trouble: str = "") -> FileNotFoundError:
    """Make the error that names the places searched, and the cures."""
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
