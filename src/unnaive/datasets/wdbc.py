"""The Wisconsin diagnostic breast cancer data, as scikit-learn carries it."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer

from unnaive.datasets.dataset import Dataset


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
