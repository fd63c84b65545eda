"""What log joints are the sums of: terms of columns, for explanations."""

from unnaive.tables.terms import mixtures, products  # noqa: F401 - they register with terms_of
from unnaive.tables.terms.split import Key, Terms, terms_of

__all__ = ["Key", "Terms", "terms_of"]
