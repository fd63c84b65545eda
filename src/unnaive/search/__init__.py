"""Estimation-of-distribution algorithms: searches that learn where good solutions are.

They maximize any function of genomes and are independent of classifiers. A genome is a row of
categories (:class:`Categories`) or of numbers within bounds (:class:`Box`). An algorithm learns
a distribution of the best genomes, draws new genomes from it, and repeats this. The algorithms
differ in the dependences that the distribution can express:

================  ==================  =================================================
categories        numbers             genes are
================  ==================  =================================================
:class:`UMDA`     :class:`UMDAc`      independent
:class:`MIMIC`    :class:`MIMICc`     a chain
:class:`EBNA`     :class:`EGNA`       a Bayesian network, learned in each generation
                  :class:`EMNA`       all dependent: one covariance matrix
:class:`Genetic`  :class:`Genetic`    crossed and mutated; nothing is learned about them
================  ==================  =================================================

>>> from unnaive.search import MIMIC, Categories
>>> pairs = lambda genomes: (genomes[:, ::2] != genomes[:, 1::2]).sum(axis=1)
>>> found = MIMIC(bound=5).maximise(Categories([2] * 10), pairs, random_state=0)
>>> found.fitness, found.complete
(5.0, True)
"""

from unnaive.search.continuous import EGNA, EMNA, GaussianNetwork, MIMICc, UMDAc
from unnaive.search.discrete import EBNA, MIMIC, UMDA, DiscreteNetwork
from unnaive.search.genetic import GenePool, Genetic
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
    "GenePool",
    "Generation",
    "Genetic",
    "MIMICc",
    "Result",
    "Space",
    "UMDAc",
    "require_algorithm",
]
