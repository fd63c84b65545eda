"""Estimation-of-distribution algorithms: search that learns where the good solutions are.

They maximise any function of genomes and know nothing of classifiers. A genome is a row of
categories (:class:`Categories`) or of numbers within bounds (:class:`Box`); an algorithm learns
a distribution of the best genomes, draws new ones from it, and so on. They differ in what the
distribution can tell:

================  ==================  =================================================
categories        numbers             genes are
================  ==================  =================================================
:class:`UMDA`     :class:`UMDAc`      independent
:class:`MIMIC`    :class:`MIMICc`     a chain
:class:`EBNA`     :class:`EGNA`       a Bayesian network, learnt anew in each generation
                  :class:`EMNA`       all dependent: one covariance matrix
================  ==================  =================================================

>>> from unnaive.search import MIMIC, Categories
>>> pairs = lambda genomes: (genomes[:, ::2] != genomes[:, 1::2]).sum(axis=1)
>>> found = MIMIC(bound=5).maximise(Categories([2] * 10), pairs, random_state=0)
>>> found.fitness, found.complete
(5.0, True)
"""

from unnaive.search.continuous import EGNA, EMNA, GaussianNetwork, MIMICc, UMDAc
from unnaive.search.discrete import EBNA, MIMIC, UMDA, DiscreteNetwork
from unnaive.search.loop import EstimationOfDistribution, Generation, Result, require_algorithm
from unnaive.search.spaces import Box, Categories, Space

__all__ = [
    "EBNA",
    "EGNA",
    "EMNA",
    "MIMIC",
    "UMDA",
    "Box",
    "Categories",
    "DiscreteNetwork",
    "EstimationOfDistribution",
    "GaussianNetwork",
    "Generation",
    "MIMICc",
    "Result",
    "Space",
    "UMDAc",
    "require_algorithm",
]
