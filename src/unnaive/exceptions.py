"""Errors and warnings that a caller may want to tell from the rest; the errors are ``ValueError``.

What a program needs to know of them are their fields; the words are for people, and may change.
"""

from typing import Literal


class UnnaiveError(ValueError):
    """Base of this library's own errors."""


class SchemaMismatch(UnnaiveError):
    """Two counts, or a frame and a model, do not speak of the same columns."""


class ModelFileError(UnnaiveError):
    """A model or counts file is truncated, altered, or not one of ours."""


class WrongKindError(ModelFileError):
    """A file is one of ours, but holds something else than what it was opened as.

    Attributes
    ----------
    found : str
        What it holds: "model" or "counts", for two.
    wanted : str
        What it was opened as.
    """

    def __init__(self, message: str, *, found: str = "", wanted: str = "") -> None:
        super().__init__(message)
        self.found, self.wanted = found, wanted


class DataFileError(UnnaiveError):
    """A data file is not what its ending says, or cannot be read as a table; it is named."""


class TableTooLarge(UnnaiveError):
    """The tables asked for would not fit into ``max_memory``."""


class DataWarning(UserWarning):
    """Rows were learned from, but some of them, or some columns, cannot serve as they are.

    Attributes
    ----------
    kind : str
        "identifier": a column has a label for nearly every row. "empty": columns without any
        value. "weights": all rows together weigh next to nothing. "rough": columns whose bins are
        cut roughly. "files": bad files that were left out.
    names : tuple of str
        The columns, or the files, that it is about.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from unnaive import NaiveBayes
    >>> with warnings.catch_warnings(record=True, action="always") as told:
    ...     _ = NaiveBayes().fit(np.array([[1.0, np.nan], [2.0, np.nan]]), ["no", "yes"])
    >>> [(entry.message.kind, entry.message.names) for entry in told]
    [('empty', ('x1',))]
    """

    def __init__(
        self,
        message: str,
        *,
        kind: Literal["identifier", "empty", "weights", "rough", "files", ""] = "",
        names: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind, self.names = kind, names
