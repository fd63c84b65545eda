"""The examples run, and their numbers say what the documentation says."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from unnaive import KNaiveBayes

ROOT = Path(__file__).parents[2]
FIGURES = ("balance", "derivatives", "path", "rows", "weight_rank")


@pytest.fixture(name="between")
def _between(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    with threadpool_limits(1):
        yield importlib.import_module("between_naive_and_full")


@pytest.mark.long
def test_the_script_prints_tables_and_makes_figures(between, tmp_path, capsys):
    between.main(["--seeds", "2", "--folds", "2", "--out", str(tmp_path / "figures")])
    printed = capsys.readouterr().out
    assert [path.stem for path in sorted((tmp_path / "figures").iterdir())] == sorted(FIGURES)
    assert all(path.stat().st_size > 10_000 for path in (tmp_path / "figures").iterdir())
    for title in ("against balance", "by rank", "on fresh rows", "Log ddr", "WDBC: accuracy"):
        assert title in printed


@pytest.mark.long
def test_naive_bayes_suffers_from_imbalance(between):
    found = between.over_balance(seeds=2, folds=3, balances=(-1, 0, 1), rows=600)
    lost = found.mean("full") - found.mean("naive")
    assert lost[0] > 0.01
    assert lost[2] > 0.01
    assert abs(lost[1]) < 0.01
    np.testing.assert_allclose(found.scores["1-naive"], found.scores["full"])
    assert (found.spread("naive") > 0).all()


@pytest.mark.parametrize("naivete", ["weak", "strong"])
def test_forced_sets_are_those_of_the_model(between, naivete):
    X, y = between.make_unlike(200, random_state=1)
    for k in range(5):
        model = KNaiveBayes(k=k, naivete=naivete, var_smoothing=0).fit(X, y)
        naive = [int(name.removeprefix("x")) for name in model.naive_columns_]
        codes = between.forced(model, naive, X, strong=naivete == "strong")
        np.testing.assert_array_equal(codes, model.predict(X))


def test_balance_is_not_all(between):
    X, y = between.make_opposed(600, random_state=0)
    found = between.rank_scores(X, y, folds=3, seed=0)
    assert {name: len(scores) for name, scores in found.items()} == {
        "full": 1,
        "naive": 1,
        "strong 1-naive": 4,
        "strong 2-naive": 6,
        "weak 2-naive": 6,
    }
    strong, weak = found["strong 2-naive"], found["weak 2-naive"]
    assert strong[:4].max() < strong[4:].min() - 0.02
    assert weak[:4].min() > weak[4:].max() + 0.01


@pytest.mark.long
def test_few_rows_are_enough_for_naive_bayes_alone(between):
    found = between.over_rows(seeds=8, sizes=(10, 200), test_rows=1000)
    for name in ("full", "2-naive", "3-naive"):
        few, many = found.mean("naive") - found.mean(name)
        assert few > 0.05
        assert abs(many) < 0.02
        assert found.spread(name)[0] > found.spread(name)[1]


def test_only_parents_make_up_the_posterior(between):
    odds = between.show_derivatives(None)["odds"]
    assert odds["naive Bayes"] < 0 < odds["full Bayes"]
    assert odds["naive + log gdf, parents"] == pytest.approx(odds["full Bayes"], abs=1e-8)
    assert abs(odds["naive + log gdf, full-conditional"] - odds["full Bayes"]) > 1


@pytest.mark.long
def test_the_path_begins_at_full_and_ends_at_naive_bayes(between):
    found = between.path_scores(folds=2, repeats=1, sizes=(0, 1, 10))
    assert found["weak"][0] == found["strong"][0] == found["weak"][1]
    assert found["weak"][10] == found["strong"][10] < found["weak"][0]
    assert all(score > 0.9 for of_size in found.values() for score in of_size.values())
    assert len(set(between.sets_of_folds(folds=4, repeats=1))) > 1
