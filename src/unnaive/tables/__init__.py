"""From counts to log-probabilities, and from rows to posteriors."""

from unnaive.tables.smoothing import ML, Backoff, BDeu, Laplace, MEstimate, Smoothing

__all__ = ["ML", "BDeu", "Backoff", "Laplace", "MEstimate", "Smoothing"]
