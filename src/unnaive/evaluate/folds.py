"""WEKA's folds, row for row, so that results can be compared fold by fold."""

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
        """Return a number from 0 to ``bound`` − 1, as ``nextInt(bound)`` does."""
        if bound & -bound == bound:  # a power of two: the upper bits are the better ones
            return bound * self._next() >> 31
        while True:
            bits = self._next()
            value = bits % bound
            if bits - value + bound <= 1 << 31:  # Java lets this overflow, and draws again
                return value


class WekaStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """Deal rows into folds exactly as WEKA does, for any scikit-learn function's ``cv``.

    ``Instances.randomize(new Random(seed))``, then ``stratify(n_splits)``, then ``testCV``:
    what the Explorer, ``-x`` on the command line and the Experimenter (whose run i has seed i)
    do. Rows must come in the order of the file. Train and test rows come in WEKA's order, too;
    its classifiers see the training rows shuffled once more, which those that count ignore.

    WEKA puts rows of a class together in the order in which classes appear among the shuffled
    rows, so the declared order of the classes plays no part. Rows without a label are a class
    of their own; a class may have fewer rows than there are folds.

    Parameters
    ----------
    n_splits : int, default=10
        Folds, at least 2 and at most as many as rows.
    seed : int, default=1
        WEKA's ``-s``, which is 1 there unless told otherwise.
    n_repeats : int, default=1
        Runs, with ``seed``, ``seed`` + 1, …; the Experimenter's ten runs are ``n_repeats=10``.

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
        """Return how many pairs of training and test rows :meth:`split` yields."""
        return self.n_splits * self.n_repeats

    def split(
        self,
        X: object,
        y: object,
        groups: object = None,  # noqa: ARG002 - scikit-learn passes it
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the numbers of the rows to train on and to test on, fold after fold.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            Only its length is looked at.
        y : array of shape (n,)
            Class labels.
        groups : object
            Not used.
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
    """Row numbers in the order of ``Instances.randomize(new Random(seed))``."""
    rows, random = list(range(n)), JavaRandom(seed)
    for last in range(n - 1, 0, -1):
        other = random.next_int(last + 1)
        rows[last], rows[other] = rows[other], rows[last]
    return rows


def _stratified(codes: list[int], n_splits: int, rows: list[int]) -> list[int]:
    """Put rows into the order of ``Instances.stratify``: by class, then every k-th.

    Rows of a class are gathered by swaps, which mix up the rest: the order of a stable sort
    would be another.
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
