"""Missing values as a category of their own, in every place that codes, counts or explains."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from unnaive import AODE, TAN, AutoBayes, GaussianNaiveBayes, NaiveBayes
from unnaive.explain import ask_next, what_if
from unnaive.io.description import column as check_column
from unnaive.io.frames import to_column, to_frame
from unnaive.report.rows import engine_cells
from unnaive.schema import CategoricalColumn, NumericColumn, Schema, learn_schema
from unnaive.schema.document import load_schema, save_schema
from unnaive.schema.sketch import SchemaSketch

N = 240
rng = np.random.default_rng(3)
Y = np.where(rng.random(N) < 0.4, "ill", "well")
ILL = Y == "ill"
FRAME = pd.DataFrame(
    {
        "crp": np.where(rng.random(N) < np.where(ILL, 0.1, 0.6), np.nan, rng.normal(size=N) + ILL),
        "smoker": np.where(rng.random(N) < 0.3, None, rng.choice(["ex", "no", "yes"], N)),
        "grade": np.where(rng.random(N) < 0.2, np.nan, rng.integers(0, 4, N)),
        "age": rng.normal(60, 10, N).round() + 5 * ILL,
    }
)
EDGES = {"crp": [0.0, 1.0], "age": [50, 70]}


def columns(**settings):
    return NaiveBayes(**settings).fit(FRAME, Y).schema_.columns


# The same as a category that was made before


@pytest.mark.parametrize("kind", [NaiveBayes, TAN, AODE])
def test_it_is_the_same_as_values_made_before(kind):
    made = FRAME.assign(
        smoker=FRAME.smoker.fillna("zzz"), grade=FRAME.grade.fillna(9), crp=FRAME.crp.fillna(1e6)
    )
    before = kind(discretize={**EDGES, "crp": [0.0, 1.0, 1e5]}).fit(made, Y)
    model = kind(discretize=EDGES, missing_as_category=True).fit(FRAME, Y)
    assert model.schema_.sizes.tolist() == before.schema_.sizes.tolist() == [4, 4, 5, 3]
    np.testing.assert_array_equal(model.counts_.values, before.counts_.values)
    np.testing.assert_allclose(model.predict_proba(FRAME), before.predict_proba(made), rtol=1e-12)


def test_a_column_without_missing_values_is_as_before():
    full = FRAME.dropna()
    y = Y[full.index]
    plain, model = NaiveBayes().fit(full, y), NaiveBayes(missing_as_category=True).fit(full, y)
    assert model.schema_ == plain.schema_
    np.testing.assert_array_equal(model.predict_proba(FRAME), plain.predict_proba(FRAME))


def test_all_missing_is_not_a_category():
    frame = FRAME.assign(empty=np.nan)
    with pytest.warns(unnaive.exceptions.DataWarning, match="no value in any row"):
        model = NaiveBayes(missing_as_category=True).fit(frame, Y)
    assert model.schema_.columns[-1].size == 0


@pytest.mark.parametrize(
    "chosen", [["crp", "smoker"], [0, 1], [0, -3], np.array([True, True, False, False])]
)
def test_columns_are_chosen(chosen):
    found = columns(missing_as_category=chosen)
    assert [column.missing_category for column in found] == [True, True, False, False]
    assert found[2:] == columns()[2:]
    assert not any(c.missing_category for c in columns(missing_as_category=False))


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["cpr"], "missing_as_category names 'cpr', which is not a column"),
        ([7], "missing_as_category has 7; positions run from 0 to 3"),
        ("crp", "missing_as_category must be True, False, a list"),
        ([True], "a mask of 4 booleans"),
    ],
)
def test_wrong_columns(chosen, message):
    with pytest.raises(ValueError, match=message):
        columns(missing_as_category=chosen)


def test_rare_and_declared_categories_come_before_it():
    smoker = columns(missing_as_category=True, max_categories=2)[1]
    assert [smoker.label(code) for code in range(smoker.size)][1:] == ["other values", "missing"]
    assert smoker.code(smoker.others[0]) == 1
    assert (smoker.code(None), smoker.code("pipe")) == (2, 3)
    declared = columns(missing_as_category=True, categories={"smoker": ["no", "ex", "yes", "?"]})[1]
    assert (declared.size, declared.code(None), declared.code("?")) == (5, 4, 3)
    named = CategoricalColumn("a", ("missing", "there"), missing_category=True)
    assert [named.label(code) for code in range(3)] == ["missing", "there", "(missing)"]


# Codes: one cell and a column agree, and both agree with a plain look-up

CELLS = st.sampled_from([None, float("nan"), "a", "b", "c", 0, 1, 2, 2.5, True])


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([("a", "b"), (0, 1), (0.5, 2.5), (True, False), ("a", 1), ()]),
    st.booleans(),
    st.lists(CELLS, min_size=1, max_size=5),
)
def test_codes_of_categories(categories, missing, cells):
    column = CategoricalColumn("x", categories, (), missing_category=missing)

    def slow(cell):
        if cell is None or cell != cell:
            return len(categories)
        return categories.index(cell) if cell in categories else column.size

    text = [isinstance(cell, str) for cell in cells if cell is not None and cell == cell]
    same = all(text) if "a" in categories else not any(text)
    if 1 in categories and "a" in categories:
        same = len(set(text)) < 2
    if not same:
        return
    given_cells = pd.Series(cells, dtype=object)
    assert column.encode(to_column(given_cells)).tolist() == list(map(slow, cells))
    assert [column.code(cell) for cell in cells] == list(map(slow, cells))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([-1.0, 0.0, 3.5]), unique=True).map(sorted),
    st.booleans(),
    st.lists(st.sampled_from([float("nan"), -1.0, 0.0, 2.0, 9.0]), min_size=1, max_size=6),
)
def test_codes_of_bins(edges, missing, cells):
    column = NumericColumn("x", tuple(edges), missing_category=missing)
    slow = [
        len(edges) + 1 if cell != cell else sum(edge < cell for edge in edges) for cell in cells
    ]
    assert column.encode(to_column(np.array(cells))).tolist() == slow
    assert [column.code(cell) for cell in cells] == slow
    schema = Schema((column,), ("no",))
    assert schema.encode(to_frame(np.array(cells).reshape(-1, 1)))[0].tolist() == slow
    assert schema.encode_few([{"x": cell} for cell in cells])[0].tolist() == slow


def test_integers_in_an_array_after_a_fit_with_gaps():
    schema = Schema((CategoricalColumn("x0", (1, 2, 4), missing_category=True),), ("no",))
    assert schema.encode(to_frame(np.array([[1], [2], [3], [4], [9]])))[0].tolist() == [
        *(0, 1, 4, 2, 4)
    ]


def test_255_values_take_a_wider_code():
    labels = [f"v{place}" for place in range(255)]
    frame = pd.DataFrame({"a": [*labels, None] * 2})
    y = ["no", "yes"] * 256
    model = NaiveBayes(missing_as_category=True).fit(frame, y)
    assert (model.schema_.sizes[0], model.schema_.code_type) == (256, np.uint16)
    assert model.counts_.values.sum() == 512


# Counts, streams, sketches and files


def test_counts_and_streams():
    model = TAN(missing_as_category=True).fit(FRAME, Y)
    assert unnaive.count(FRAME, Y, missing_as_category=True) == model.counts_
    grouped = TAN(max_categories=2, min_frequency=3).fit(FRAME, Y)
    assert unnaive.count(FRAME, Y, max_categories=2, min_frequency=3) == grouped.counts_
    half = TAN(missing_as_category=True).fit(FRAME, Y)
    half.partial_fit(FRAME[:50], Y[:50]).forget(FRAME[:50], Y[:50])
    assert half.counts_ == model.counts_
    first = TAN(missing_as_category=True).partial_fit(FRAME[:120], Y[:120])
    first.partial_fit(FRAME[120:], Y[120:])
    assert first.counts_ == unnaive.count(FRAME, Y, schema=first.schema_)


def test_sketches_learn_the_same():
    settings = {"missing_as_category": ["crp", "smoker", "age"], "categories": {"grade": range(4)}}
    total = SchemaSketch(target="y", **settings)
    for start in (0, 100):
        part = SchemaSketch(target="y", **settings)
        part.add(to_frame(FRAME[start : start + 100]), to_column(Y[start : start + 100], "y"))
        total.merge(part)
    last = to_frame(FRAME[200:]), to_column(Y[200:], "y")
    total = SchemaSketch.from_state(total.state(), target="y", **settings)
    total.add(*last)
    expected, _, _ = learn_schema(
        to_frame(FRAME), to_column(Y, "y"), discretizer=unnaive.discretize.MDLP(), **settings
    )
    assert total.schema() == expected
    assert [column.missing_category for column in expected.columns] == [True, True, False, False]


def test_files(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    rows = FRAME.assign(y=Y)
    rows[:130].to_csv(paths[0], index=False)
    rows[130:].to_csv(paths[1], index=False)
    counts = unnaive.count(paths, "y", missing_as_category=True)
    assert counts.values.sum() == N * 4
    with pytest.raises(unnaive.exceptions.UnnaiveError, match="min_frequency= and max_categories="):
        unnaive.count(paths, "y", min_frequency=3)


def test_saved_models_and_schemas(tmp_path):
    model = TAN(missing_as_category=True).fit(FRAME, Y)
    model.save(tmp_path / "model.unb")
    again = unnaive.load(tmp_path / "model.unb")
    assert (again.schema_, again.missing_as_category) == (model.schema_, True)
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    save_schema(model.schema_, tmp_path / "schema.json")
    assert load_schema(tmp_path / "schema.json") == model.schema_
    state = json.loads((tmp_path / "schema.json").read_text())
    assert [column.get("missing_category") for column in state["columns"]] == [True] * 3 + [None]
    del state["sha256"]
    state["columns"][0]["missing_category"] = "yes"
    (tmp_path / "wrong.json").write_text(json.dumps(state))
    with pytest.raises(unnaive.exceptions.SchemaMismatch, match="neither true nor false"):
        load_schema(tmp_path / "wrong.json")
    with pytest.raises(unnaive.exceptions.UnnaiveError, match="missing_category"):
        check_column(state["columns"][0], "columns[0]", {})
    with pytest.raises(unnaive.exceptions.SchemaMismatch, match="and one of missing values here"):
        model.schema_.require_same(TAN().fit(FRAME, Y).schema_)


# Explanations


def test_explanations_name_it():
    model = NaiveBayes(missing_as_category=["crp"]).fit(FRAME, Y)
    row = FRAME[FRAME.crp.isna() & FRAME.smoker.isna()][:1]
    found = model.explain(row)
    assert found.observed[0].tolist()[:2] == [True, False]
    assert found.cell(0, 0) == "crp missing"
    text = found.text()
    assert "crp missing" in text.partition("missing:")[0]
    assert found.log_odds(positive="ill").contributions[0, 0] < -0.5


def test_a_dictionary_leaves_columns_unknown():
    model = NaiveBayes(missing_as_category=True).fit(FRAME, Y)
    start = ask_next(model, {})
    assert {question.column for question in start} == {"crp", "smoker", "grade", "age"}
    crp = next(question for question in start if question.column == "crp")
    assert [answer.value for answer in crp.answers][-1] == "missing"
    share = float(FRAME.crp.isna().mean())
    assert crp.answers[-1].probability == pytest.approx(share, abs=0.02)
    assert "crp" not in {question.column for question in ask_next(model, {"crp": None})}


def test_nobody_is_told_to_lose_a_value():
    model = NaiveBayes(missing_as_category=True).fit(FRAME, Y)
    rows = FRAME[FRAME.crp.notna() & FRAME.smoker.isna()]
    changes = [what_if(model, rows[place : place + 1]).changes for place in range(6)]
    assert all(changes)
    assert all(change.instead != "missing" for found in changes for change in found)
    assert "smoker" not in {change.column for found in changes for change in found}


# Gaussian models and blends


def test_gaussian_models_have_the_options_for_their_categories():
    numbers = ["crp", "grade", "age"]
    model = GaussianNaiveBayes(
        missing_as_category=True, max_categories=2, categories={"grade": [0, 1, 2, 3, 4]}
    ).fit(FRAME, Y)
    crp, smoker, grade, age = model.schema_.columns
    assert (smoker.size, smoker.categories[1], grade.size) == (3, "other values", 6)
    assert not crp.missing_category
    assert not age.missing_category
    labels = NaiveBayes(missing_as_category=True, max_categories=2).fit(FRAME[["smoker"]], Y)
    mixed = GaussianNaiveBayes(missing_as_category=["smoker"], max_categories=2).fit(FRAME, Y)
    alone = GaussianNaiveBayes().fit(FRAME[numbers], Y)
    smoothed = labels.predict_joint_log_proba(FRAME[["smoker"]]) - labels.fitted_.prior
    joint = alone.predict_joint_log_proba(FRAME[numbers]) + smoothed
    np.testing.assert_allclose(mixed.predict_joint_log_proba(FRAME), joint, rtol=1e-9)
    more = mixed.partial_fit(FRAME[:20], Y[:20])
    assert more.schema_.columns[1].missing_category
    by_position = GaussianNaiveBayes(categories=[None, None, [0, 1, 2, 3], None]).fit(FRAME, Y)
    assert by_position.schema_.columns[2].categories == (0, 1, 2, 3)


def test_numbers_of_gaussian_models_have_no_categories():
    with pytest.raises(ValueError, match="names column 'crp', which is numeric"):
        GaussianNaiveBayes(missing_as_category=["crp"]).fit(FRAME, Y)


def test_gaussian_models_with_options_are_saved(tmp_path):
    model = GaussianNaiveBayes(missing_as_category=True, min_frequency=5).fit(FRAME, Y)
    model.save(tmp_path / "model.unb")
    again = unnaive.load(tmp_path / "model.unb")
    assert again.schema_ == model.schema_
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))


def test_blends_share_the_options():
    model = AutoBayes(candidates=["nb", "tan"], missing_as_category=["crp"], max_categories=2)
    model.fit(FRAME, Y)
    assert [column.missing_category for column in model.schema_.columns] == [
        *(True, False, False, False)
    ]
    assert model.schema_.columns[1].size == 2
    gap = to_frame(FRAME[FRAME.crp.isna()][:1])
    assert engine_cells(model, gap)[0][0][0] == "missing"
    cells, numbers = engine_cells(model.members_[0].model, gap)
    assert (cells[0][0], numbers[0][0]) == (model.members_[0].model.schema_.sizes[0] - 1, None)
