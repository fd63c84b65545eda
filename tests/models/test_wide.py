"""Models of columns with very many values: the same answers, from the cells that occurred."""

import numpy as np
import pandas as pd
import pytest

import unnaive
from unnaive.counts import cells as cells_module
from unnaive.exceptions import DataWarning, TableTooLarge
from unnaive.tables.families import FamilyTables

KEYS = [
    "spode",
    "tan",
    "atan",
    "tan-multinet",
    "odanb",
    "kdb",
    "gnb-a",
    "cherry",
    "bsej",
    "bayesnet",
]
KEYS += ["aode", "hnb", "weighted-tan"]  # which need all cells
CASES = [(key, None) for key in KEYS]
CASES += [(key, how) for key in ("tan", "kdb") for how in ("backoff", "ml", "hierarchical", "bdeu")]


def problem() -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Return rows, classes and new rows, both with missing cells."""
    random = np.random.default_rng(1)
    y = random.integers(3, size=80)
    cells = {
        f"x{i}": [f"v{v}" for v in (random.integers(size, size=80) + y * (i % 2)) % size]
        for i, size in enumerate([3, 12, 2, 30])
    }
    X = pd.DataFrame(cells).mask(random.random((80, 4)) < 0.1)
    return X, y, X[:40].mask(random.random((40, 4)) < 0.2)


def answers(model, X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame) -> list[np.ndarray]:
    """Return predictions, leave-one-out, contributions and importances."""
    fitted = model.fit(X, y)
    terms = fitted.terms_of(fitted.known_frame(new[:6]))
    found = [fitted.predict_proba(new), terms.joint, fitted.feature_importances_]
    if not isinstance(fitted, unnaive.BayesNet):
        found.append(fitted.loo_predict_proba(X, y))
    return found


@pytest.mark.parametrize(("key", "smoothing"), CASES)
def test_cells_and_tables_give_the_same_answers(monkeypatch, tmp_path, key, smoothing) -> None:
    X, y, new = problem()
    full = answers(unnaive.make(key, smoothing=smoothing), X, y, new)
    monkeypatch.setattr(cells_module, "DENSE_CELLS", 0)
    model = unnaive.make(key, smoothing=smoothing)
    for expected, found in zip(full, answers(model, X, y, new), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    model.save(tmp_path / "model")
    loaded = unnaive.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(new), model.predict_proba(new))


def test_number_of_columns_by_leave_one_out_is_the_same(monkeypatch) -> None:
    X, y, _ = problem()
    full = unnaive.TAN(n_features="loo").fit(X, y)
    monkeypatch.setattr(cells_module, "DENSE_CELLS", 0)
    cells = unnaive.TAN(n_features="loo").fit(X, y)
    for name, path in full.path_.items():
        np.testing.assert_allclose(cells.path_[name], path, rtol=1e-10)


def test_partial_fit_and_forget_of_cells_are_exact(monkeypatch) -> None:
    monkeypatch.setattr(cells_module, "DENSE_CELLS", 0)
    X, y, new = problem()
    X = X.fillna("v0")
    values = {name: sorted(X[name].unique()) for name in X}
    whole = unnaive.TAN(categories=values).fit(X, y)
    model = unnaive.TAN(categories=values).partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    first = model.predict_proba(new)
    model.partial_fit(X[50:], y[50:])
    assert np.array_equal(model.predict_proba(new), whole.predict_proba(new))
    model.forget(X[50:], y[50:])
    assert np.array_equal(model.predict_proba(new), first)


@pytest.mark.parametrize("key", ["kdb", "decomposable", "wanbia", "bayesnet"])
def test_batches_need_no_pairs_where_the_structure_stays(key) -> None:
    random = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = (random.integers(0, 9, (200, 10)) + y[:, None] * random.integers(0, 2, (200, 10))).astype(
        str
    )
    values = [sorted(set(column)) for column in X.T]
    answers = []
    for memory in (2**31, 48_000):  # all pairs take 72,000 bytes
        model = unnaive.make(key, categories=values, max_memory=memory)
        model.partial_fit(X[:150], y[:150], classes=[0, 1]).partial_fit(X[150:], y[150:])
        answers.append(model.forget(X[:50], y[:50]).predict_proba(X))
        assert model.counts_.has_all_pairs == (memory > 72_000)
    assert np.array_equal(*answers)
    with pytest.raises(TableTooLarge, match=r"take 72,000 bytes, more than .* \(48,000 bytes\)"):
        unnaive.make("tan", categories=values, max_memory=48_000).partial_fit(X, y)


@pytest.mark.parametrize("key", ["tan", "spode", "kdb", "gnb-a"])
def test_an_identifier_costs_what_its_rows_cost(key, tmp_path) -> None:
    random = np.random.default_rng(0)
    y = random.integers(2, size=3000)
    X = pd.DataFrame({f"x{i}": (random.integers(3, size=3000) + y) % 3 for i in range(3)}).astype(
        str
    )
    X["id"], X["place"] = [f"i{n}" for n in range(3000)], [f"p{n % 1500}" for n in range(3000)]
    with pytest.warns(DataWarning, match="identifier"):
        model = unnaive.make(key, max_memory=2**25).fit(X, y)
    assert isinstance(model.fitted_.tables, FamilyTables)
    assert model.counts_.nbytes < 2**23  # all cells of two columns alone would take 72 MB
    assert np.isfinite(model.predict_proba(X[:50])).all()
    unknown = X[:5].assign(id="never seen")
    assert np.isfinite(model.predict_proba(unknown)).all()
    model.save(tmp_path / "model")
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    sizes = [(tmp_path / name).stat().st_size for name in ("model", "rows.csv")]
    assert sizes[0] < 5 * sizes[1]


@pytest.mark.filterwarnings("ignore:column")
@pytest.mark.parametrize("key", ["aode", "a2de", "hnb", "phnb", "weighted-pairs"])
def test_models_of_all_cells_refuse_and_name_the_column(key) -> None:
    rows = [[f"i{n}", f"j{n}", "a"] for n in range(4000)]
    X = pd.DataFrame(rows, columns=["id", "other", "x"])
    with pytest.raises(TableTooLarge, match="with 4,000 values: drop it, group its rare"):
        unnaive.make(key, max_memory=2**24).fit(X, [0, 1] * 2000)
