"""Errors that a caller may want to tell from the rest; all are ``ValueError``."""


class UnnaiveError(ValueError):
    """Base of this library's own errors."""


class SchemaMismatch(UnnaiveError):
    """Two counts, or a frame and a model, do not speak of the same columns."""


class ModelFileError(UnnaiveError):
    """A model or counts file is truncated, altered, or not one of ours."""


class DataFileError(UnnaiveError):
    """A data file is not what its ending says, or cannot be read as a table."""


class TableTooLarge(UnnaiveError):
    """The tables asked for would not fit into ``max_memory``."""
