"""WEKA's folds, so that results can be compared with WEKA fold by fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import check_consistent_length

from unnaive.io.frames import to_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import IntArray


class JavaRandom:
    """``java.util.Random``: a linear congruential generator of 48 bits.

    Parameters
    ----------
    seed : int
        Any Java ``long``, negative ones included.

    References
    ----------
    Knuth, "The Art of Computer Programming", volume 2, section 3.2.1.

    Examples
    --------
    >>> random = JavaRandom(42)
    >>> [random.next_int(10) for _ in range(5)]
    [0, 3, 8, 4, 0]
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & (1 << 48) - 1

    def _next(self) -> int:
        """Return the upper 31 bits of the next state."""
        self._state = (self._state * 0x5DEECE66D + 0xB) & (1 << 48) - 1
        return self._state >> 17

    def next_int(self, bound: int) -> int:
        """Return a random number from 0 to ``bound`` − 1, like ``nextInt(bound)``."""
        if bound & -bound == bound:  # a power of two: the upper bits are more random
            return bound * self._next() >> 31
        while True:
            bits = self._next()
            value = bits % bound
            if bits - value + bound <= 1 << 31:  # this overflows in Java, which then draws again
                return value


class WekaStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """Stratified folds identical to WEKA's, for the ``cv`` of scikit-learn functions.

    The folds are those of ``Instances.randomize(new Random(seed))``, then ``stratify(n_splits)``,
    then ``testCV``, as in the Explorer, with ``-x`` on the command line, and in the Experimenter
    (whose run i has seed i). Samples must be in the order of the file. Training and test samples
    are returned in WEKA's order. WEKA's classifiers shuffle the training samples once more, which
    has no effect on classifiers that count.

    WEKA groups samples by class in the order in which classes appear among the shuffled samples,
    so the declared order of the classes has no effect. Samples without a label form a class of
    their own. A class may have fewer samples than there are folds.

    Parameters
    ----------
    n_splits : int, default=10
        Number of folds, from 2 to the number of samples.
    seed : int, default=1
        Random seed, WEKA's option ``-s``.
    n_repeats : int, default=1
        Number of repeats, with seeds ``seed``, ``seed`` + 1, …; the Experimenter's ten runs are
        ``n_repeats=10``.

    See Also
    --------
    compare : Accepts this as ``folds``.
    sklearn.model_selection.StratifiedKFold : Folds of scikit-learn.

    References
    ----------
    Witten, Frank, Hall & Pal, "Data Mining: Practical Machine Learning Tools and Techniques",
    4th edition, 2016; ``weka.core.Instances`` of WEKA 3.6.14.

    Examples
    --------
    >>> y = ["no", "no", "yes", "yes", "yes", "no", "yes"]
    >>> for train, test in WekaStratifiedKFold(n_splits=3).split(y, y):
    ...     print(train, test)
    [2 0 6 5] [3 4 1]
    [3 4 1 6 5] [2 0]
    [3 4 1 2 0] [6 5]
    """

    def __init__(self, n_splits: int = 10, *, seed: int = 1, n_repeats: int = 1) -> None:
        self.n_splits = n_splits
        self.seed = seed
        self.n_repeats = n_repeats

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:  # noqa: ARG002
        """Return the number of splits that :meth:`split` yields.

        Parameters
        ----------
        X, y, groups : object, default=None
            Not used.

        Returns
        -------
        int
            ``n_splits`` × ``n_repeats``.
        """
        return self.n_splits * self.n_repeats

    def split(
        self,
        X: object,
        y: object,
        groups: object = None,  # noqa: ARG002 - scikit-learn passes it
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the indices of training and test samples for each fold.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            Features; only their number of samples is used.
        y : array of shape (n,)
            Class labels.
        groups : object
            Not used.

        Yields
        ------
        train, test : array of int
            Indices of the samples.
        """
        column = to_column(y)
        check_consistent_length(X, column.values)
        _, codes = np.unique(column.values, return_inverse=True)
        n, k = len(codes), self.n_splits
        if not 2 <= k <= n or self.n_repeats < 1:
            raise ValueError(
                f"n_splits={k}, n_repeats={self.n_repeats}: with {n} rows there can be 2 to {n} "
                "folds, and at least 1 repeat"
            )
        ends = np.cumsum([n // k + (fold < n % k) for fold in range(k)])[:-1]
        for seed in range(self.seed, self.seed + self.n_repeats):
            rows = np.array(_stratified(codes.tolist(), k, _shuffled(n, seed)), dtype=np.int64)
            parts = np.split(rows, ends)
            for fold, test in enumerate(parts):
                yield np.concatenate(parts[:fold] + parts[fold + 1 :]), test


def _shuffled(n: int, seed: int) -> list[int]:
    """Return row numbers in the order of ``Instances.randomize(new Random(seed))``."""
    rows, random = list(range(n)), JavaRandom(seed)
    for last in range(n - 1, 0, -1):
        other = random.next_int(last + 1)
        rows[last], rows[other] = rows[other], rows[last]
    return rows


def _stratified(codes: list[int], n_splits: int, rows: list[int]) -> list[int]:
    """Order rows like ``Instances.stratify``: by class, then every k-th.

    Rows of a class are gathered by swaps, so the order differs from that of a stable sort.
    """
    n, place = len(rows), 1
    while place < n:
        first = codes[rows[place - 1]]
        for row in range(place, n):
            if codes[rows[row]] == first:
                rows[place], rows[row] = rows[row], rows[place]
                place += 1
        place += 1
    return [row for start in range(n_splits) for row in rows[start::n_splits]]
