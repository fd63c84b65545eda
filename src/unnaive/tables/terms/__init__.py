"""What log joints are the sums of: terms of columns, for explanations."""

from unnaive.tables.terms import mixtures, products
from unnaive.tables.terms.divisia import log_sum, shares_of_sum
from unnaive.tables.terms.numbers import number_parts
from unnaive.tables.terms.split import Key, Terms, split, topological

__all__ = [
    "Key",
    "Terms",
    "log_sum",
    "mixtures",
    "number_parts",
    "products",
    "shares_of_sum",
    "split",
    "topological",
]
