"""Correction tables of weighted Bayes: splits and rounds against twins, and what users rely on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive_weighted as slow
import unnaive
from exports import assert_explained, assert_scored, clinic, started
from problems import problems
from tests.explain.test_explanation import add_up
from unnaive import WeightedBayes
from unnaive._core.corrections import advance, ask, fill_slopes
from unnaive.exceptions import ModelFileError, UnnaiveError
from unnaive.io import store
from unnaive.tables.corrections import Correcting, Corrections

HOSTILE = problems(max_rows=14, max_columns=4, sizes=(1, 2, 3, 18))
BINS = {"discretize": "quantile", "bins": 16}


def stairs(n=600, d=5, seed=0, gaps=0.0):
    """Numbers whose class is decided by thresholds of three columns at once."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = (X[:, 0] > 0.4) & (X[:, 1] < 0.5) & (X[:, 2] > -0.8) | (X[:, 1] > 1.2)
    X[random.random(X.shape) < gaps] = np.nan
    return X, np.where(y, "yes", "no")


def drawn(problem, seed):
    """Rows as `Correcting` has them, and as the twin has; joints drawn at random."""
    random = np.random.default_rng(seed)
    coded, k = problem.coded(), problem.k
    joint = random.normal(size=(len(problem.rows), k))
    importance = random.choice([0.0, 1.0, 2.5], len(joint))
    ordered = random.integers(0, 2, len(problem.values))
    sizes = np.array(problem.values, dtype=np.int64)
    rows = Correcting(coded.codes, sizes, ordered, coded.classes, importance)
    chances = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    twin = (coded.codes.T.tolist(), problem.classes, chances.tolist(), importance.tolist())
    return rows, joint, twin


@given(HOSTILE, st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_every_question_is_the_best_one(problem, seed):
    rows, joint, twin = drawn(problem, seed)
    columns = np.arange(len(rows.sizes))
    asked = rows.round(joint, rows.importance, columns).questions
    for number in range(len(asked) + (len(asked) < 6)):
        best, *_ = slow.best_question(
            twin, asked[:number], columns.tolist(), rows.sizes + 1, rows.ordered
        )
        if number < len(asked):
            gain = slow.split_gain(twin, asked[: number + 1], rows.ordered)
            assert gain == pytest.approx(best, rel=1e-9, abs=1e-9)  # ties of rounding apart
        elif number:  # where a round ends, nothing is left to gain
            reached = slow.split_gain(twin, asked, rows.ordered)
            assert best == pytest.approx(reached, rel=1e-9, abs=1e-9)


@given(HOSTILE, st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_a_round_equals_the_twin(problem, seed):
    rows, joint, twin = drawn(problem, seed)
    found = rows.round(joint, rows.importance, np.arange(len(rows.sizes)))
    assert len(found.questions) <= 6
    gains = [slow.split_gain(twin, found.questions[:m], rows.ordered) for m in range(7)]
    assert all(np.diff(gains[: len(found.questions) + 1])[1:] > 0)
    expected = slow.correction_steps(twin, found.questions, rows.ordered)
    np.testing.assert_allclose(found.steps[found.cells], expected, rtol=1e-9, atol=1e-12)


@given(HOSTILE, st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_tables_are_the_sum_of_all_rounds(problem, seed):
    assume(problem.k > 1)
    rows, joint, _ = drawn(problem, seed)
    columns = np.arange(len(rows.sizes))
    rounds = [rows.round(joint + turn, rows.importance, columns) for turn in (0.0, joint)]
    added, bias = rows._added(rounds, problem.k)
    expected = sum(one.steps[one.cells] for one in rounds)
    found = np.repeat(bias[None], len(joint), axis=0)
    if added is not None:
        added.require(rows.sizes, problem.k)
        start = 0
        for line in added.columns.tolist():
            own = [column for column in line if column >= 0]
            axes = [*own[1:], own[0]]
            shape = [int(rows.sizes[axis]) + 1 for axis in axes]
            cells = np.ravel_multi_index([rows.codes[axis].astype(int) for axis in axes], shape)
            found += added.tables[:, start + cells].T
            start += int(np.prod(shape))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::unnaive.exceptions.DataWarning")
@given(problems(max_rows=25, sizes=(1, 2, 3, 18)))
@settings(max_examples=25, deadline=None)
def test_rows_of_every_shape_are_learned(problem):
    model = WeightedBayes(discretize=None, corrections=5).fit(problem.X, problem.classes)
    assert np.isfinite(model.predict_proba(problem.X)).all()


def test_thresholds_of_several_columns_are_found():
    X, y = stairs(900)
    losses, alone = [], WeightedBayes(**BINS, dependences="none", pseudo_count=0.25)
    for most in (0, 80):
        model = alone.set_params(corrections=most).fit(X[:600], y[:600])
        chances = model.predict_proba(X[600:])
        losses.append(-np.mean(np.log(chances[np.arange(300), (y[600:] == "yes").astype(int)])))
    assert losses[1] < 0.75 * losses[0]


def test_nothing_is_corrected_where_nothing_helps():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (300, 5)), random.integers(0, 2, 300)
    plain, model = (WeightedBayes(discretize=None, corrections=m).fit(X, y) for m in (0, 50))
    assert "corrections" not in model.fitted_.learned.parameters
    assert np.array_equal(plain.predict_proba(X), model.predict_proba(X))


def test_held_out_joints_do_not_know_their_rows():
    random = np.random.default_rng(0)
    codes = random.integers(0, 5, (6, 200)).astype(np.uint8)
    classes = random.integers(0, 2, 200)
    classes = np.where(codes[0] > 2, 1, classes)
    sizes, ones = np.full(6, 5), np.ones(200)
    start, folds = np.zeros((200, 2)), np.arange(200) % 5
    first = Correcting(codes, sizes, ones[:6].astype(int), classes, ones).learn(start, folds, 3)
    assert first.corrections is not None
    turned = classes.copy()
    turned[0] = 1 - turned[0]
    other = Correcting(codes, sizes, ones[:6].astype(int), turned, ones).learn(start, folds, 3)
    assert np.array_equal(first.left_out[0], other.left_out[0])
    assert not np.array_equal(first.left_out, other.left_out)


@pytest.fixture(scope="module")
def corrected():
    """A model with corrections of several columns, and rows with gaps."""
    X, y = stairs(gaps=0.1)
    model = WeightedBayes(**BINS, corrections=30).fit(X, y)
    columns = model.fitted_.learned.parameters["corrected"]
    assert (columns[:, 1] >= 0).any()
    return model, X, y


def test_explanations_add_up(corrected):
    model, X, _ = corrected
    add_up(model, X[:30])


def test_intervals_are_around_the_prediction(corrected):
    model, X, _ = corrected
    found = model.predict_interval(X[:10], draws=50)
    chances = model.predict_proba(X[:10])
    assert np.mean((found.lower <= chances) & (chances <= found.upper)) > 0.9


def test_rows_come_and_go_and_files_keep_the_model(corrected, tmp_path):
    model, X, y = corrected
    model.save(tmp_path / "model.unb")
    other = unnaive.load(tmp_path / "model.unb")
    before = model.predict_proba(X)
    assert np.array_equal(other.predict_proba(X), before)
    other.partial_fit(X[:50], y[:50])
    assert not np.array_equal(other.predict_proba(X), before)
    other.forget(X[:50], y[:50])
    np.testing.assert_allclose(other.predict_proba(X), before, rtol=1e-10)


SPOILED = {
    "columns beyond the last": lambda state: {"corrected": state["corrected"] + 5},
    "columns that are not whole": lambda state: {"corrected": state["corrected"].astype(float)},
    "one column of places": lambda state: {"corrected": state["corrected"][:, :1]},
    "fewer tables": lambda state: {"corrected": state["corrected"][1:]},
    "a column twice": lambda state: {"corrected": np.zeros_like(state["corrected"])},
    "fewer cells": lambda state: {"corrections": state["corrections"][:, 1:]},
    "fewer classes": lambda state: {"corrections": state["corrections"][:1]},
    "not finite": lambda state: {"corrections": state["corrections"] * np.nan},
    "too large": lambda state: {"corrections": state["corrections"] + 1e300},
    "no numbers": lambda _: {"corrections": "none"},
    "no columns": lambda _: {"corrected": None},
}


@pytest.mark.parametrize("name", SPOILED)
def test_altered_files_are_refused(corrected, name, tmp_path):
    corrected[0].save(tmp_path / "model.unb")
    state = store.load(tmp_path / "model.unb")
    state["structure"].update(SPOILED[name](state["structure"]))
    store.save(tmp_path / "model.unb", state)
    with pytest.raises(ModelFileError):
        unnaive.load(tmp_path / "model.unb")


def test_tables_that_do_not_fit_are_refused():
    columns, sizes = np.array([[0, 1]]), np.array([2, 2])
    Corrections(columns, np.zeros((2, 9))).require(sizes, 2)
    with pytest.raises(UnnaiveError, match="do not fit the columns"):
        Corrections(columns, np.zeros((2, 9))).require(sizes, 3)
    with pytest.raises(UnnaiveError, match="do not fit the columns"):
        Corrections(columns, np.zeros((2, 9))).require(np.array([2**40, 2**40]), 2)


def test_threads_give_the_same_bits():
    X, y = stairs(14_000)
    one, two = (WeightedBayes(**BINS, corrections=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


LONG = [pytest.param(engine, 160, marks=pytest.mark.long) for engine in ("DuckDB", "PostgreSQL")]


@pytest.mark.parametrize(
    ("engine", "rows"), [*LONG, ("SQLite", 60), ("onnxruntime", 160), ("node", 160)]
)
def test_exports_answer_like_python(engine, rows):
    X, y = clinic(5, 3, rows=rows)
    model = WeightedBayes(**BINS, corrections=4).fit(X, y)
    assert "corrections" in model.fitted_.learned.parameters
    with started(engine) as running:
        assert_scored(running, model, X)
        if engine == "DuckDB":
            assert_explained(running, model, X)


def test_columns_that_would_make_a_table_too_large_are_not_asked_about():
    random = np.random.default_rng(0)
    codes = random.integers(0, 300, (3, 500)).astype(np.uint16)
    classes = (codes.sum(axis=0) > 450).astype(np.int64)
    sizes, ones = np.full(3, 300), np.ones(500)
    rows = Correcting(codes, sizes, np.ones(3, dtype=np.int64), classes, ones)
    asked = rows.round(np.zeros((500, 2)), ones, np.arange(3)).questions
    assert len(asked) > 1
    assert len({column for column, _ in asked}) == 1  # 301 times 301 are more than 4096


def test_rounds_that_ask_nothing_change_the_bias():
    classes, ones = np.repeat([0, 0, 1], 20), np.ones(60)
    sizes = np.array([5000])  # a table of so many values is too large
    rows = Correcting(np.zeros((1, 60), np.uint16), sizes, np.ones(1, np.int64), classes, ones)
    found = rows.learn(np.zeros((60, 2)), np.arange(60) % 5, 4)
    assert found.corrections is None
    assert found.bias[0] > 0.1 > -0.1 > found.bias[1]


def kernel_call(**changed):
    """Call the kernel that asks, with some arguments changed."""
    arguments = {
        "codes": np.zeros((1, 3), dtype=np.uint8),
        "slots": np.array([2]),
        "ordered": np.array([1]),
        "columns": np.array([0]),
        "slopes": np.ones((3, 2, 2)),
        "most_cells": 4096,
        "penalty": 1.0,
        "tolerance": 0.0,
        "questions": np.empty((2, 2), dtype=np.int64),
        "cells": np.empty(3, dtype=np.int64),
        "sums": np.empty((4, 2, 2)),
    }
    return ask(**{**arguments, **changed})


ARGUMENTS = [
    {"codes": np.full((1, 3), 2, dtype=np.uint8)},
    {"columns": np.array([1])},
    {"columns": np.array([-1])},
    {"cells": np.empty(2, dtype=np.int64)},
    {"slots": np.array([0])},
    {"slots": np.array([2, 2])},
    {"most_cells": 0},
    {"most_cells": 2**62},
    {"penalty": 0.0},
    {"slopes": np.ones((3, 2, 3))},
    {"slopes": np.ones((2, 2, 2))},
    {"slopes": np.ones((3, 3, 2))},
    {"questions": np.empty((3, 2), dtype=np.int64)},
    {"questions": np.empty((40, 2), dtype=np.int64)},
    {"sums": np.empty((2, 2, 2))},
]


@pytest.mark.parametrize("place", range(len(ARGUMENTS)))
def test_arguments_of_the_kernel_are_checked(place):
    assert kernel_call() >= 0
    with pytest.raises(IndexError, match="ask"):
        kernel_call(**ARGUMENTS[place])


def test_slopes_are_those_of_predictions():
    chances, out = np.array([[0.25, 0.75], [1.0, 0.0]]), np.empty((2, 2, 2))
    fill_slopes(chances, np.array([0, 1]), np.array([1.0, 2.0]), out)
    assert out[:, :, 0].tolist() == [[0.75, -0.75], [-2.0, 2.0]]
    assert out[:, :, 1].tolist() == [[0.1875, 0.1875], [0.0, 0.0]]
    for classes in ([0, 2], [0, -1], [0]):
        with pytest.raises(IndexError, match="fill_slopes"):
            fill_slopes(chances, np.array(classes), np.array([1.0, 2.0]), out)


@given(HOSTILE, st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_a_step_is_a_round_without_the_rows_that_are_held_out(problem, seed):
    rows, joint, _ = drawn(problem, seed)
    held = np.flatnonzero(np.random.default_rng(seed).random(len(joint)) < 0.3)
    weights = rows.importance.copy()
    weights[held] = 0.0
    columns = np.arange(len(rows.sizes))
    found = rows.round(joint, weights, columns)
    expected, now = joint + found.steps[found.cells], np.zeros_like(joint)
    step_call(rows, joint, weights, held, now, columns)
    assert np.array_equal(joint, expected)
    assert np.array_equal(now[held], expected[held])
    assert not np.delete(now, held, axis=0).any()


def step_call(rows, joint, weights, held, now, columns, manner=(6, 4096, 1.0, 1e-10, 0.15)):
    """Call the kernel that takes a step."""
    given = (rows.codes, rows.sizes + 1, rows.ordered, columns)
    advance(given, (rows.classes, weights), manner, joint, held, now)


def test_arguments_of_the_step_are_checked():
    codes, ones = np.zeros((1, 3), dtype=np.uint8), np.ones(3)
    two = np.array([2])
    rows = Correcting(codes, two, np.array([1]), np.zeros(3, dtype=np.int64), ones)
    usual = (np.zeros((3, 2)), ones, np.array([0]), np.zeros((3, 2)), np.array([0]))
    step_call(rows, *usual)
    for place, other in enumerate(
        [np.zeros((2, 2)), np.ones(2), np.array([3]), np.zeros((3, 1)), np.array([1])]
    ):
        with pytest.raises(IndexError, match="advance"):
            step_call(rows, *usual[:place], other, *usual[place + 1 :])
    for manner in ((17, 4096, 1.0, 0.0, 0.15), (6, 0, 1.0, 0.0, 0.15), (6, 4096, 0.0, 0.0, 0.15)):
        with pytest.raises(IndexError, match="advance"):
            step_call(rows, *usual, manner)
