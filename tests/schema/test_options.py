"""Options of the schema: edges by column, rare categories, and the order of categories."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unnaive
from unnaive import TAN, NaiveBayes
from unnaive.checks import CONTINUOUS_TARGET
from unnaive.discretize import FixedEdges, Quantile, discretizer
from unnaive.schema import CategoricalColumn, Schema
from unnaive.schema.columns import natural_order
from unnaive.schema.document import load_schema, save_schema

N = 200
rng = np.random.default_rng(0)
TOWNS = ["Bern"] * 80 + ["Oslo"] * 60 + ["Rome"] * 50 + ["Lyon"] * 4 + ["Kyiv"] * 3 + ["Riga"] * 3
FRAME = pd.DataFrame(
    {
        "age": rng.integers(10, 90, N).astype(float),
        "crp": rng.lognormal(size=N),
        "grade": rng.integers(0, 4, N),
        "town": TOWNS,
    }
)
Y = np.where(rng.random(N) < 0.4, "ill", "well")


def columns(**settings):
    return NaiveBayes(**settings).fit(FRAME, Y).schema_.columns


# Edges by column


def test_edges_and_methods_by_column():
    age, crp, grade, town = columns(discretize={"age": [18, 65], "crp": "quantile"}, bins=3)
    assert age.edges == (18.0, 65.0)
    assert crp.edges == tuple(Quantile(3).column_edges(FRAME.crp.to_numpy()).tolist())
    assert grade.categories == (0, 1, 2, 3)
    assert town == columns()[3]
    grade = columns(discretize={"grade": [1.5]})[2]
    assert grade.edges == (1.5,)
    assert columns(discretize={"age": None})[0].categories == tuple(sorted(set(FRAME.age)))
    assert columns(discretize={"crp": Quantile(2)})[1].size == 2
    assert columns(discretize={"crp": []})[1].size == 1


def test_other_columns_are_cut_by_mdlp():
    assert columns(discretize={"grade": [1.5]})[:2] == columns()[:2]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"ages": [18]}, "names 'ages', which is not a column of X; did you mean 'age'"),
        ({"age": [65, 18]}, r"column 'age': edges=\[65, 18\]; .* increasing order, such as"),
        ({"age": [18, 18]}, "increasing order"),
        ({"age": [18, np.inf]}, "finite numbers"),
        ({"age": [True]}, "finite numbers"),
        ({"age": 18}, "edges=18; edges must be a list"),
        ({"age": "magic"}, "column 'age': discretize='magic' is not known"),
        ({"town": [3]}, "names column 'town', which holds labels such as 'Bern'"),
    ],
)
def test_wrong_edges(setting, message):
    with pytest.raises(ValueError, match=message):
        columns(discretize=setting)


def test_fixed_edges_is_a_discretizer():
    assert FixedEdges([1]).fit([[0.0], [1.0]]).edges_[0].tolist() == [1.0]
    with pytest.raises(ValueError, match=r"edges=\[2, 1\]"):
        FixedEdges([2, 1]).fit([[0.0]])
    assert isinstance(discretizer({"a": [1]}).of("a"), FixedEdges)


def test_models_with_edges_can_be_saved(tmp_path):
    model = TAN(discretize={"age": [18, 65], "crp": Quantile(4)}).fit(FRAME, Y)
    model.save(tmp_path / "model.unb")
    again = unnaive.load(tmp_path / "model.unb")
    assert again.schema_ == model.schema_
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))


# Rare categories


@pytest.mark.parametrize("setting", [{"min_frequency": 10}, {"min_frequency": 0.05}])
def test_rare_categories_are_grouped(setting):
    town = columns(**setting)[3]
    assert town.categories == ("Bern", "Oslo", "Rome", "other values")
    assert set(town.others) == {"Lyon", "Kyiv", "Riga"}
    assert [town.code(x) for x in ("Bern", "Riga", "Lyon", "other values")] == [0, 3, 3, 3]
    assert town.code("Paris") == town.code(None) == 4


def test_the_largest_number_of_categories():
    assert columns(max_categories=3)[3].categories == ("Bern", "Oslo", "other values")
    assert columns(max_categories=6)[3] == columns()[3]
    both = columns(max_categories=2, min_frequency=10)[3]
    assert both.categories == ("Bern", "other values")


def test_a_single_rare_category_keeps_its_name():
    frame = pd.DataFrame({"a": ["u"] * 9 + ["v"] * 9 + ["w"] * 2})
    model = NaiveBayes(min_frequency=5).fit(frame, ["no", "yes"] * 10)
    assert model.schema_.columns[0].categories == ("u", "v", "w")


def test_weights_are_numbers_of_rows():
    weights = np.where(FRAME.town == "Riga", 10.0, 1.0)
    town = NaiveBayes(min_frequency=10).fit(FRAME, Y, weights).schema_.columns[3]
    assert set(town.others) == {"Lyon", "Kyiv"}


def test_grouping_is_the_same_as_grouping_before():
    grouped = FRAME.town.where(FRAME.town.isin(["Bern", "Oslo", "Rome"]), "other values")
    before = TAN().fit(FRAME.assign(town=grouped), Y)
    model = TAN(min_frequency=10).fit(FRAME, Y)
    expected = before.predict_proba(FRAME.assign(town=grouped))
    np.testing.assert_allclose(model.predict_proba(FRAME), expected, rtol=1e-12)
    few = FRAME[-3:]
    np.testing.assert_array_equal(
        model.predict_proba(few), model.predict_proba(few.to_dict("records"))
    )


def test_grouped_schemas_are_saved_and_compared(tmp_path):
    model = NaiveBayes(min_frequency=10).fit(FRAME, Y)
    model.save(tmp_path / "model.unb")
    assert unnaive.load(tmp_path / "model.unb").schema_ == model.schema_
    save_schema(model.schema_, tmp_path / "schema.json")
    assert load_schema(tmp_path / "schema.json") == model.schema_
    state = json.loads((tmp_path / "schema.json").read_text())
    assert sorted(state["columns"][3]["others"]) == ["Kyiv", "Lyon", "Riga"]
    assert "others" not in Schema((CategoricalColumn("a", ("u",)),), ("no",)).state()["columns"][0]
    more = model.partial_fit(FRAME[-3:], Y[-3:]).counts_
    assert more.total == N + 3
    assert unnaive.count(FRAME, Y, schema=model.schema_).schema == model.schema_


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "5"])
def test_wrong_limits(value):
    with pytest.raises(ValueError, match=r"min_frequency=.* a whole number of at least 1, a share"):
        columns(min_frequency=value)
    with pytest.raises(ValueError, match=r"max_categories=.* at least 2"):
        columns(max_categories=value)


# Order


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["b", "a"], ("a", "b")),
        (["stage 10", "stage 9", "stage 1"], ("stage 1", "stage 9", "stage 10")),
        (["10-20", "5-10", ">20", "<5"], ("<5", "5-10", "10-20", ">20")),
        (["≥65", "18-64", "0-17"], ("0-17", "18-64", "≥65")),
        (["10", "9", "-3"], ("-3", "9", "10")),
        (["a1", "a", "1", "a01"], ("1", "a", "a01", "a1")),
        ([2, "b", 1], (1, 2, "b")),
    ],
)
def test_natural_order(labels, expected):
    assert natural_order(labels) == expected


def test_ordered_types_keep_their_order():
    order = ["low", "medium", "high"]
    values = rng.choice(order, N)
    frame = pd.DataFrame({"risk": pd.Categorical(values, order, ordered=True)})
    assert NaiveBayes().fit(frame, Y).schema_.columns[0].categories == tuple(order)
    frame = pl.DataFrame({"risk": pl.Series(values, dtype=pl.Enum(order))})
    assert NaiveBayes().fit(frame, Y).schema_.columns[0].categories == tuple(order)


def test_classes_are_in_the_order_of_scikit_learn():
    y = rng.choice(["c10", "c9"], N)
    assert NaiveBayes().fit(FRAME, y).classes_.tolist() == ["c10", "c9"]


# A continuous target


def test_a_continuous_target_has_an_error_with_a_cure():
    with pytest.raises(ValueError, match=r"Unknown label type: continuous. The target 'crp' has"):
        NaiveBayes().fit(FRAME[["age"]], FRAME.crp)
    with pytest.raises(ValueError, match="a classifier needs classes: cut it into classes"):
        NaiveBayes().fit(FRAME[["age"]], FRAME.crp)
    (finding,) = unnaive.check_data(FRAME[["age"]], FRAME.crp).findings
    assert finding.kind == CONTINUOUS_TARGET
