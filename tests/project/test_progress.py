"""Progress of long calls: who is told, what, by which thread, and errors of the callback."""

from __future__ import annotations

import threading
import time

import pytest

import unnaive
from problems import made
from unnaive.evaluate import compare, cross_validate

ROWS = made(60, [2, 3, 2, 2], 2, seed=3)
X, Y = ROWS.X.copy(), ROWS.classes
X[:, 3] = X[:, 0]  # so that a search finds something


class StopError(ValueError):
    """Raised by a callback; a kind that models raise, too."""


def told_by(call):
    told = []
    with unnaive.progress(told.append):
        call()
    return told


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_folds_are_counted(n_jobs):
    told = told_by(lambda: cross_validate(unnaive.NaiveBayes(), X, Y, folds=4, n_jobs=n_jobs))
    assert [str(step) for step in told] == [f"cross-validation: {n + 1} of 4" for n in range(4)]
    told = told_by(lambda: compare(["nb", "tan"], X, Y, folds=2, n_jobs=n_jobs))
    assert [(step.done, step.total) for step in told] == [(n + 1, 4) for n in range(4)]
    assert {(step.step.model, step.step.fold) for step in told} == {
        (model, fold) for model in ("nb", "tan") for fold in (0, 1)
    }


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (unnaive.AutoBayes(candidates=["nb", "tan"]), "candidates"),
        (unnaive.PazzaniNB(search="eda"), "search"),
        (unnaive.BayesNet(augmented=False), "search"),
    ],
    ids=str,
)
def test_fits_tell_and_stop(model, task):
    told = told_by(lambda: model.fit(X, Y))
    assert {step.task for step in told} == {task}
    if task == "candidates":
        assert [step.done for step in told] == [0, 1, 2]
        assert {step.total for step in told} == {2}
    before = model.predict_proba(X)

    def stop(step):
        raise StopError("enough")

    with unnaive.progress(stop), pytest.raises(StopError, match="enough"):
        model.fit(X, Y)
    assert (model.predict_proba(X) == before).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_of_the_callback_is_no_failed_model(n_jobs):
    def stop(step):
        if step.task == "search":
            raise StopError("enough")

    models = {"nb": unnaive.NaiveBayes(), "eda": unnaive.PazzaniNB(search="eda")}
    with unnaive.progress(stop), pytest.raises(StopError, match="enough"):
        compare(models, X, Y, folds=2, n_jobs=n_jobs)


def test_threads_of_the_library_tell_one_at_a_time():
    inside, most, threads = 0, 0, set()

    def watch(step):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.002)  # meanwhile the other threads begin
        threads.add(threading.get_ident())
        inside -= 1

    with unnaive.progress(watch):
        compare({"eda": unnaive.PazzaniNB(search="eda")}, X, Y, folds=4, n_jobs=4)
    assert most == 1
    assert len(threads) > 1


def test_each_thread_and_block_has_its_own_callback():
    outer, inner, other = [], [], []

    def fit():
        with unnaive.progress(other.append):
            unnaive.AutoBayes(candidates=["nb"]).fit(X, Y)

    with unnaive.progress(outer.append):
        with unnaive.progress(inner.append):
            cross_validate(unnaive.NaiveBayes(), X, Y, folds=2)
        thread = threading.Thread(target=fit)
        thread.start()
        thread.join()
        cross_validate(unnaive.NaiveBayes(), X, Y, folds=3)
    cross_validate(unnaive.NaiveBayes(), X, Y, folds=2)
    assert [len(told) for told in (outer, inner, other)] == [3, 2, 2]
