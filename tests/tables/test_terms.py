"""Terms of blends: the mean of posteriors or joints, and the probability of the row."""

import numpy as np
import pytest
from scipy.special import logsumexp

from unnaive.tables.terms import Terms
from unnaive.tables.terms.blend import blended


def members(random):
    """Terms of three members over two of three columns each; shape (4, 3, 2)."""
    keys = [((column,), ()) for column in range(3)]
    return [
        Terms(
            tuple(key for key in keys if key != left),
            random.normal(size=(4, 3)),
            2 * random.normal(size=(4, 3, 2)),
        )
        for left in keys
    ]


@pytest.mark.parametrize("seed", range(3))
def test_blends_are_means_whose_parts_add_up(seed):
    random = np.random.default_rng(seed)
    parts, weights = members(random), np.array([0.5, 0.2, 0.3])
    joints = np.stack([terms.joint for terms in parts])
    rows, share = logsumexp(joints, axis=2), np.log(weights)[:, None]
    of_posteriors = blended(parts, weights)
    expected = logsumexp(joints - rows[..., None] + share[..., None], axis=0)
    np.testing.assert_allclose(of_posteriors.joint, expected, atol=1e-12)
    np.testing.assert_allclose(of_posteriors.log_evidence, logsumexp(rows + share, axis=0))
    of_joints = blended(parts, weights, posteriors=False)
    expected = logsumexp(joints + share[..., None], axis=0)
    np.testing.assert_allclose(of_joints.joint, expected, atol=1e-12)
    told = of_joints.log_evidence
    np.testing.assert_allclose(
        logsumexp(of_joints.joint, axis=1) if told is None else told,
        logsumexp(rows + share, axis=0),
    )
    assert set(of_posteriors.keys) == set(of_joints.keys) == {((c,), ()) for c in range(3)}


def test_of_one_member_nothing_is_changed_but_the_scale():
    (terms, *_) = members(np.random.default_rng(0))
    same = blended([terms], np.ones(1), posteriors=False)
    np.testing.assert_allclose(same.parts, terms.parts, atol=1e-12)
    np.testing.assert_allclose(same.base, terms.base, atol=1e-12)


def test_impossible_rows_are_answered_and_have_no_probability():
    (terms, *_) = members(np.random.default_rng(0))
    terms.parts[1, :, 0] = -np.inf
    found = blended([terms, terms], np.array([0.4, 0.6]))
    assert np.isneginf(found.log_evidence).tolist() == [False, True, False, False]
    np.testing.assert_allclose(found.joint[1], terms.base[1] - logsumexp(terms.base[1]), atol=1e-12)
