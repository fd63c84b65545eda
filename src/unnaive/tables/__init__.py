"""From counts to log-probabilities, and from rows to posteriors."""

from unnaive.tables.smoothing import ML, Backoff, BDeu, Hierarchical, Laplace, MEstimate, Smoothing

__all__ = ["ML", "BDeu", "Backoff", "Hierarchical", "Laplace", "MEstimate", "Smoothing"]
