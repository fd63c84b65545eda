"""Weighted means of posteriors, split into the terms of their members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.tables.terms.divisia import log_sum, shares_of_sum
from unnaive.tables.terms.split import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray


def blended(found: Sequence[Terms], weights: FloatArray) -> Terms:
    """Split the log of Σ w·P(c | x), the posteriors of members of weights w that sum to one."""
    members = [posterior_terms(terms) for terms in found]
    log_weights = np.log(weights)
    before = np.stack([terms.base for terms in members], axis=-1) + log_weights
    after = np.stack([terms.joint for terms in members], axis=-1) + log_weights
    keys = tuple(dict.fromkeys(key for terms in members for key in terms.keys))
    place = {key: index for index, key in enumerate(keys)}
    stacked = np.zeros((*before.shape, len(keys)))
    for index, terms in enumerate(members):
        stacked[:, :, index, [place[key] for key in terms.keys]] = terms.parts
    shares = shares_of_sum(after, before, stacked).sum(axis=2)
    evidence = log_sum(np.stack([log_sum(t.joint) for t in found], axis=-1) + log_weights)
    return Terms(keys, log_sum(before), shares, evidence)


def posterior_terms(terms: Terms) -> Terms:
    """Split the log posterior: the log joint less the log of its sum over classes."""
    terms = terms.answered(terms.base)
    shares = shares_of_sum(terms.joint, terms.base, terms.parts).sum(axis=1, keepdims=True)
    base = terms.base - log_sum(terms.base)[:, None]
    return Terms(terms.keys, base, terms.parts - shares)
