"""What log joints are the sums of: terms of columns, for explanations."""

from unnaive.tables.terms.split import Key, Terms

__all__ = ["Key", "Terms"]
