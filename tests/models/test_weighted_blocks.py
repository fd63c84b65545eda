"""Derivatives of all blocks of rows in one call: the same as block by block."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.test_weighted import SMALL, weighing_of
from unnaive._core.weighting import curve_blocks, fit_weights, held_out_joints
from unnaive.tables import weighing as weighing_module


@given(SMALL, st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_blocks_in_one_call_are_those_one_by_one(problem, seed):
    _, weighing, _, _ = weighing_of(problem)
    random = np.random.default_rng(seed)
    point = random.normal(size=len(weighing.penalty) + problem.k)
    for chosen in (None, random.random(len(point)) < 0.5):
        together = weighing._parts(point, chosen)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(weighing_module, "_TOGETHER", -1)
            apart = weighing._parts(point, chosen)
        for one, other in zip(together, apart, strict=True):
            assert all(map(np.array_equal, one, other))


BLOCKS = [
    {"bounds": np.array([0, 2, 9])},
    {"bounds": np.array([2, 0, 3])},
    {"bounds": np.array([0, 3])},
    {"places": np.array([0, 1, 4])},
    {"places": np.array([0, -1, 2])},
    {"places": np.array([0, 1])},
    {"gradients": np.empty((1, 3))},
    {"gradients": np.empty((2, 2))},
    {"rows": (np.array([0, 1, 2]), np.ones(3))},
    {"rows": (np.array([0, 1, 0]), np.ones(2))},
    {"spread": np.empty(11, dtype=np.float32)},
    {"prior": np.zeros(0)},
]


@pytest.mark.parametrize("place", [None, *range(len(BLOCKS))])
def test_arguments_of_the_blocks_are_checked(place):
    arguments = {
        "entries": np.zeros((1, 2, 3), dtype=np.float32),
        "weights": np.ones(1),
        "prior": np.zeros(2),
        "rows": (np.array([0, 1, 0]), np.ones(3)),
        "bounds": np.array([0, 2, 3]),
        "places": np.array([0, 1, 3]),
        "losses": np.empty(2),
        "gradients": np.empty((2, 3)),
        "spread": np.empty(12, dtype=np.float32),
    }
    if place is None:
        curve_blocks(**arguments)
        assert arguments["losses"] == pytest.approx([2 * math.log(2), math.log(2)])
        return
    with pytest.raises(IndexError, match="curve_blocks"):
        curve_blocks(**{**arguments, **BLOCKS[place]})


@given(SMALL, st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_all_steps_in_one_call_end_where_single_steps_do(problem, seed):
    _, weighing, _, _ = weighing_of(problem)
    start = np.random.default_rng(seed).exponential(size=len(weighing.penalty) + problem.k)
    together = weighing.fit(start), weighing.cross_validated(start)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighing_module, "_MOST_PRODUCTS", -1)
        apart = replace(weighing)  # which has not decided yet
        found, held_out = apart.fit(start), apart.cross_validated(start)
    assert together[0] == pytest.approx(found, abs=1e-5)
    assert (together[0][: len(weighing.penalty)] >= 0).all()
    loss = weighing.loss(found)
    assert weighing.loss(together[0]) == pytest.approx(loss, rel=2e-9, abs=1e-12)
    assert together[1] == pytest.approx(held_out, rel=1e-4, abs=1e-4)


PROBLEMS = [
    {"bounds": np.array([0, 4])},
    {"bounds": np.array([2, 0])},
    {"bounds": np.empty(0, dtype=np.int64)},
    {"rows": (np.array([0, 1, 2]), np.ones(3))},
    {"rows": (np.array([0, -1, 0]), np.ones(3))},
    {"rows": (np.array([0, 1, 0]), np.ones(2))},
    {"penalties": np.ones(2)},
    {"prior": np.zeros(3)},
    {"prior": np.zeros(0)},
    {"point": np.ones(2)},
]


@pytest.mark.parametrize("place", [None, *range(len(PROBLEMS))])
def test_arguments_of_all_steps_are_checked(place):
    arguments = {
        "entries": np.zeros((1, 2, 3), dtype=np.float32),
        "prior": np.zeros(2),
        "rows": (np.array([0, 1, 0]), np.ones(3)),
        "bounds": np.array([0, 2, 3]),
        "penalties": np.ones(3),
        "limits": (1e-9, 50, 20, 200),
        "point": np.ones(3),
    }
    further = {"n_folds": 2, "out": np.empty((3, 2))}
    if place is None:
        held_out_joints(**arguments, **further)
        fit_weights(**arguments, enough=1e-9)
        assert arguments["point"][0] == pytest.approx(0, abs=1e-9)  # entries say nothing
        assert arguments["point"][1] > 0 > arguments["point"][2]  # two rows of three
        with pytest.raises(IndexError, match="held_out_joints"):
            held_out_joints(**arguments, **{**further, "out": np.empty((3, 1))})
        with pytest.raises(IndexError, match="held_out_joints"):
            held_out_joints(**arguments, **{**further, "n_folds": 0})
        return
    with pytest.raises(IndexError, match="fit_weights"):
        fit_weights(**{**arguments, **PROBLEMS[place]}, enough=1e-9)
    with pytest.raises(IndexError, match="held_out_joints"):
        held_out_joints(**{**arguments, **PROBLEMS[place]}, **further)
