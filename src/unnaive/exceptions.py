"""Errors and warnings of this library that a caller may want to tell apart.

All errors are ``ValueError``. A program should react to the type and to the fields of an error
or warning. The messages are written for people and may change between versions.
"""

from typing import Literal

Kind = Literal[
    "identifier", "empty", "weights", "rough", "files",
    "encoding", "numbers", "words", "rows", "sheet", "",
]  # fmt: skip


class UnnaiveError(ValueError):
    """Base class of all errors of this library.

    Catch it to handle every error that names a cause and a cure, without catching the
    ``ValueError`` of other packages.

    See Also
    --------
    DataFileError : A data file cannot be read.
    ModelFileError : A saved model or counts file cannot be read.
    SchemaMismatch : Columns differ between counts, data and model.
    SignatureError : A signed file was changed.

    Examples
    --------
    >>> from unnaive.datasets import load
    >>> from unnaive.exceptions import UnnaiveError
    >>> try:
    ...     _ = load("irsi")
    ... except UnnaiveError as error:
    ...     print(error)
    there is no data set 'irsi'; did you mean 'iris' or 'sick'?
    """


class SchemaMismatch(UnnaiveError):
    """Two counts, or a data frame and a model, have different columns or categories."""


class ModelFileError(UnnaiveError):
    """A model or counts file is truncated or altered, or another program wrote it."""


class WrongKindError(ModelFileError):
    """A file was saved by this library, but holds another kind of object than expected.

    Parameters
    ----------
    message : str
        The sentence for the user.
    found : str
        Kind of object in the file, for example "model" or "counts".
    wanted : str
        Kind of object that the caller expected.

    Attributes
    ----------
    found, wanted : str
        As given.
    """

    def __init__(self, message: str, *, found: str = "", wanted: str = "") -> None:
        super().__init__(message)
        self.found, self.wanted = found, wanted


class SignatureError(UnnaiveError):
    """A file was changed after it was signed, or a key or a signature cannot be used.

    Parameters
    ----------
    message : str
        The sentence for the user.
    needs_password : bool
        Whether the key has a password that was not given.

    Attributes
    ----------
    needs_password : bool
        As given.
    """

    def __init__(self, message: str, *, needs_password: bool = False) -> None:
        super().__init__(message)
        self.needs_password = needs_password


class DataFileError(UnnaiveError):
    """A data file does not match its file name extension or is not a table; it is named."""


class TableTooLarge(UnnaiveError):
    """The requested tables do not fit into ``max_memory``."""


class DataWarning(UserWarning):
    """Data was used, but some rows or columns cannot be used as they are.

    Parameters
    ----------
    message : str
        The sentence for the user.
    kind : str
        What the warning is about. "identifier": a column has a different value in nearly every
        row. "empty": columns without any value. "weights": the weights of all rows sum to almost
        zero. "rough": columns whose bin edges are approximate. "files": damaged files that were
        skipped. Of data files: "encoding": a file that is not UTF-8. "numbers": columns whose
        numbers have a decimal comma or marks between thousands. "words": numeric columns with
        words that are read as missing values. "rows": empty rows that were skipped. "sheet": a
        workbook with several sheets, of which the first is read.
    names : tuple of str
        The columns, the files, the encoding or the sheet that the warning is about.

    Attributes
    ----------
    kind, names : str and tuple of str
        As given. Programs should test these and not the message.

    See Also
    --------
    UnnaiveError : Base class of the errors.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from unnaive import NaiveBayes
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     _ = NaiveBayes().fit(np.array([[1.0, np.nan], [2.0, np.nan]]), ["no", "yes"])
    >>> [(entry.message.kind, entry.message.names) for entry in caught]
    [('empty', ('x1',))]
    """

    def __init__(self, message: str, *, kind: Kind = "", names: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.kind, self.names = kind, names
