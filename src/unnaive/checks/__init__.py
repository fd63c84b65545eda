"""The data check: identifiers, leakage, mixed spellings and other problems, with their cures.

:func:`check_data` returns a :class:`DataCheck` with findings. Each :class:`Finding` has a severity,
``ERROR``, ``WARNING`` or ``NOTE``, and a kind, which is one of these constants:

- ``IDENTIFIER``, ``FREE_TEXT``: columns that cannot help to classify new rows.
- ``LEAKAGE``: a column that decides the class by itself.
- ``CONSTANT``, ``ALL_MISSING``, ``MOSTLY_MISSING``, ``DUPLICATE_COLUMNS``: columns of no or little
  information.
- ``NUMBERS_AND_WORDS``, ``NUMBERS_AS_TEXT``, ``SEPARATORS``, ``DATES``, ``SPELLINGS``: columns that
  are not read as they should be.
- ``CONTINUOUS_TARGET``, ``MISSING_TARGET``, ``ONE_CLASS``, ``MANY_CLASSES``, ``RARE_CLASS``:
  problems of the target.
- ``DUPLICATE_ROWS``: rows that occur several times.
"""

from unnaive.checks.check import check_data
from unnaive.checks.finding import (
    ALL_MISSING,
    CONSTANT,
    CONTINUOUS_TARGET,
    DATES,
    DUPLICATE_COLUMNS,
    DUPLICATE_ROWS,
    ERROR,
    FREE_TEXT,
    IDENTIFIER,
    LEAKAGE,
    MANY_CLASSES,
    MISSING_TARGET,
    MOSTLY_MISSING,
    NOTE,
    NUMBERS_AND_WORDS,
    NUMBERS_AS_TEXT,
    ONE_CLASS,
    RARE_CLASS,
    SEPARATORS,
    SPELLINGS,
    WARNING,
    DataCheck,
    Finding,
)

__all__ = [
    "ALL_MISSING",
    "CONSTANT",
    "CONTINUOUS_TARGET",
    "DATES",
    "DUPLICATE_COLUMNS",
    "DUPLICATE_ROWS",
    "ERROR",
    "FREE_TEXT",
    "IDENTIFIER",
    "LEAKAGE",
    "MANY_CLASSES",
    "MISSING_TARGET",
    "MOSTLY_MISSING",
    "NOTE",
    "NUMBERS_AND_WORDS",
    "NUMBERS_AS_TEXT",
    "ONE_CLASS",
    "RARE_CLASS",
    "SEPARATORS",
    "SPELLINGS",
    "WARNING",
    "DataCheck",
    "Finding",
    "check_data",
]
