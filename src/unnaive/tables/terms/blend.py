"""Weighted means of joints or posteriors, split into the terms of their members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.tables.terms import Terms, joined
from unnaive.tables.terms.divisia import log_sum, shares_of_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray


def blended(members: Sequence[Terms], weights: FloatArray, *, posteriors: bool = True) -> Terms:
    r"""Split the log of a weighted mean of the members' posteriors (or joints).

    .. math:: \log \sum_m w_m P_m(c \mid x)

    Parameters
    ----------
    members : sequence of Terms
        The log joints of the members.
    weights : ndarray of shape (m,)
        Weights that sum to 1.
    posteriors : bool, default=True
        Average posteriors; False averages joints.

    Returns
    -------
    Terms
        With the keys of all members. Members that have the same key add to the same term.
    """
    log_weights = np.log(weights)
    of_rows = np.stack([log_sum(terms.joint) for terms in members], axis=-1)
    evidence = log_sum(of_rows + log_weights) if posteriors else None
    members = [posterior_terms(terms) for terms in members] if posteriors else members
    before = np.stack([terms.base for terms in members], axis=-1) + log_weights
    after = np.stack([terms.joint for terms in members], axis=-1) + log_weights
    keys, places = joined(members)
    stacked = np.zeros((*before.shape, len(keys)))
    for index, (terms, place) in enumerate(zip(members, places, strict=True)):
        stacked[:, :, index, place] = terms.parts
    shares = shares_of_sum(after, before, stacked).sum(axis=2)
    return Terms(keys, log_sum(before), shares, evidence)


def posterior_terms(terms: Terms) -> Terms:
    """Split the log posterior: the log joint less the log of its sum over classes."""
    terms = terms.answered(terms.base)
    shares = shares_of_sum(terms.joint, terms.base, terms.parts).sum(axis=1, keepdims=True)
    base = terms.base - log_sum(terms.base)[:, None]
    return Terms(terms.keys, base, terms.parts - shares)
