"""Sketches of schemas: exact while values are few, close beyond, the same however rows come."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unnaive.discretize import MDLP, discretizer
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.io import store
from unnaive.io.frames import to_column, to_frame
from unnaive.schema import NumericColumn, learn_schema
from unnaive.schema.sketch import SchemaSketch
from unnaive.schema.sketch.buckets import EXACT, Buckets
from unnaive.schema.sketch.columns import Values

HOWS = ["mdlp", "quantile", "frequency", "width", None]


def table(rows, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "perhaps", "yes"], rows)
    shift = (y == "yes").astype(float)
    columns = {
        "few": rng.integers(0, 4, rows),
        "gappy": pd.array(rng.integers(0, 4, rows), dtype="Int64"),
        "rounded": np.round(rng.normal(size=rows) + shift, 1),
        "label": rng.choice(["u", "v", "w"], rows),
        "truth": rng.random(rows) < 0.5,
        "graded": pd.Categorical(rng.choice(["lo", "hi"], rows), categories=["lo", "mid", "hi"]),
        "empty": np.full(rows, np.nan),
        "constant": np.full(rows, 7.5),
        "code": rng.choice([10**17 + 1, 10**17 + 2, -(10**17)], rows),
        "year": rng.integers(1900, 2020, rows) + shift.astype(int),
        "minus": rng.choice([-0.0, 0.0, 1.0], rows),
    }
    frame = pd.DataFrame(columns)
    frame.loc[rng.random(rows) < 0.1, "gappy"] = pd.NA
    frame.loc[rng.random(rows) < 0.1, ["rounded", "label"]] = None
    return frame, pd.Series(y, name="y")


def sketch_of(frame, y, cuts=(), **how):
    """Sketch parts by themselves and merge them."""
    bounds = [0, *sorted(cuts), len(frame)]
    total = SchemaSketch(target="y", **how)
    for start, stop in pairwise(bounds):
        if start < stop:
            part = SchemaSketch(target="y", **how)
            part.add(to_frame(frame.iloc[start:stop]), to_column(y.iloc[start:stop]))
            total.merge(part)
    return total


def learned(frame, y, discretize="mdlp", bins=5, **how):
    cut = None if discretize is None else discretizer(discretize, bins)
    return learn_schema(to_frame(frame), to_column(y), discretizer=cut, **how)[0]


@pytest.mark.filterwarnings("ignore:column 'empty'")
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("cuts", [(), (1,), (100, 101, 700)], ids=str)
def test_equals_the_schema_of_all_rows(how, cuts):
    frame, y = table(1500)
    assert sketch_of(frame, y, cuts, discretize=how).schema() == learned(frame, y, how)


@pytest.mark.filterwarnings("ignore:column 'empty'")
@pytest.mark.parametrize(
    "how",
    [
        {"categorical_features": ["few", "year"]},
        {"categorical_features": None},
        {"categories": {"few": [3, 2, 1, 0, 9]}},
        {"classes": ["yes", "no", "perhaps", "never"]},
        {"discretize": "quantile", "bins": 3},
        {"discretize": MDLP(better_encoding=True)},
    ],
    ids=str,
)
def test_settings_mean_what_they_mean_in_memory(how):
    frame, y = table(800)
    assert sketch_of(frame, y, (300, 400), **how).schema() == learned(frame, y, **how)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_few_values_however_they_are_parted(data):
    rows = data.draw(st.integers(2, 60))
    number = st.sampled_from([0.0, -1.5, 2.0, 3.0, 1e300, -1e-300, float("nan")])
    values = data.draw(st.lists(number, min_size=rows, max_size=rows))
    labels = data.draw(st.lists(st.sampled_from("ab"), min_size=rows, max_size=rows))
    frame = pd.DataFrame({"x": np.array(values), "z": np.arange(rows) % 3})
    y = pd.Series(labels, name="y")
    cuts = data.draw(st.lists(st.integers(0, rows), max_size=4))
    how = data.draw(st.sampled_from(HOWS))
    if not frame["x"].isna().all():
        assert sketch_of(frame, y, cuts, discretize=how).schema() == learned(frame, y, how)


def test_exact_up_to_the_last_value_that_fits():
    values = np.random.default_rng(0).permutation(EXACT).astype(float)
    y = pd.Series(np.where(values > 1000, "b", "a"), name="y")
    fits = pd.DataFrame({"x": values})
    assert sketch_of(fits, y, (10, 2000)).schema() == learned(fits, y)
    assert sketch_of(fits, y).rank_errors() == {"x": 0.0}
    more, of_more = pd.concat([fits, fits + 0.5]), pd.concat([y, y])
    assert sketch_of(more, of_more).rank_errors()["x"] > 0


def many(rows, seed=0):
    rng = np.random.default_rng(seed)
    y = pd.Series(rng.choice(["a", "b"], rows), name="y")
    shift = (y == "b").to_numpy()
    frame = pd.DataFrame(
        {
            "normal": rng.normal(size=rows) + shift,
            "uniform": rng.random(rows),
            "skewed": rng.lognormal(0, 4, rows),
            "time": 1.7e9 + rng.integers(0, 10**7, rows) * 1.0,
            "two": np.where(rng.random(rows) < 0.5, 1013 + rng.normal(size=rows) / 50, 0.0),
        }
    )
    return frame, y


@pytest.mark.long
@pytest.mark.parametrize("how", ["mdlp", "quantile"])
def test_many_values_however_they_are_parted(how):
    frame, y = many(20_000)
    rng = np.random.default_rng(1)
    whole = sketch_of(frame, y, discretize=how)
    order = rng.permutation(len(frame))
    for cuts in [(5,), tuple(rng.integers(0, 20_000, 50).tolist())]:
        parted = sketch_of(frame.iloc[order], y.iloc[order], cuts, discretize=how)
        assert parted.schema() == whole.schema()
        assert parted.rank_errors() == whole.rank_errors()


@pytest.mark.parametrize("how", ["quantile", "frequency"])
def test_ranks_are_within_the_stated_error(how):
    frame, y = many(60_000)
    sketch = sketch_of(frame, y, tuple(range(0, 60_000, 7_000)), discretize=how, bins=10)
    exact = learned(frame, y, how, bins=10)
    for name, error in sketch.rank_errors().items():
        assert error < 0.004
        index = list(frame).index(name)
        mine, best = (np.array(s.columns[index].edges) for s in (sketch.schema(), exact))
        assert len(mine) == len(best)
        ranks = [(frame[name].to_numpy()[:, None] <= edges).mean(axis=0) for edges in (mine, best)]
        assert np.abs(ranks[0] - ranks[1]).max() <= error


def test_width_is_exact_for_many_values():
    frame, y = many(20_000)
    assert sketch_of(frame, y, (9_000,), discretize="width").schema() == learned(frame, y, "width")


def test_supervised_cuts_lose_next_to_nothing():
    frame, y = many(60_000)
    schema, exact = sketch_of(frame, y).schema(), learned(frame, y)
    codes = y.cat.codes if hasattr(y, "cat") else (y == "b").astype(int)
    for mine, best in zip(schema.columns, exact.columns, strict=True):
        assert isinstance(mine, NumericColumn)
        kept = [information(frame[c.name].to_numpy(), c.edges, codes) for c in (mine, best)]
        assert kept[0] == pytest.approx(kept[1], rel=0.01, abs=1e-5)


def information(values, edges, classes):
    joint = np.zeros((len(edges) + 1, 2))
    np.add.at(joint, (np.searchsorted(edges, values), classes), 1 / len(values))
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    return float((joint[joint > 0] * np.log(joint[joint > 0] / product[joint > 0])).sum())


def test_a_cut_parts_two_neighbours():
    frame, y = many(20_000)
    for column in sketch_of(frame, y).schema().columns:
        values = np.unique(frame[column.name])
        at = np.searchsorted(values, column.edges)
        assert np.allclose(column.edges, (values[at - 1] + values[at]) / 2, rtol=1e-15)


def test_weights_count_as_rows():
    frame, y = table(400)
    frame = frame[["rounded", "few", "year"]]
    times = np.random.default_rng(0).integers(1, 4, 400)
    weighted = SchemaSketch(target="y")
    weighted.add(to_frame(frame), to_column(y), times.astype(float))
    rows = np.repeat(np.arange(400), times)
    assert weighted.schema() == learned(frame.iloc[rows], y.iloc[rows])


@pytest.mark.parametrize("rows", [500, 20_000])
def test_travels(tmp_path, rows):
    frame, y = many(rows)
    frame["label"] = np.where(frame["uniform"] < 0.5, "u", "v")
    sketch = sketch_of(frame, y)
    expected = sketch.schema()
    assert pickle.loads(pickle.dumps(sketch)).schema() == expected
    store.save(tmp_path / "sketch", sketch.state(), kind="sketch")
    again = SchemaSketch.from_state(store.load(tmp_path / "sketch", kind="sketch"), target="y")
    assert again.schema() == expected
    again.merge(sketch)
    twice = sketch_of(pd.concat([frame, frame]), pd.concat([y, y]))
    assert again.schema() == twice.schema()


def test_bytes_stay_bounded():
    rng = np.random.default_rng(0)
    buckets = Buckets(2)
    for _ in range(5):
        values = rng.lognormal(0, 5, 50_000)
        buckets.add(values, rng.integers(0, 2, 50_000), np.ones(50_000))
    assert len(pickle.dumps(buckets)) < 1_500_000


def test_numbers_and_labels_do_not_mix():
    y = to_column(["a", "b"])
    sketches = {}
    for kind, values in {"numbers": [1, 2], "labels": ["u", "v"]}.items():
        sketches[kind] = SchemaSketch(target="y")
        sketches[kind].add(to_frame(pd.DataFrame({"x": values})), y)
    with pytest.raises(SchemaMismatch, match="'x': numbers in some rows, labels such as 'u'"):
        sketches["numbers"].add(to_frame(pd.DataFrame({"x": ["u", "v"]})), y)
    with pytest.raises(SchemaMismatch, match="column 'x'") as error:
        sketches["labels"].merge(pickle.loads(pickle.dumps(sketches["numbers"])))
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_what_it_refuses():
    x, y = to_frame(pd.DataFrame({"x": [1.0, np.inf]})), to_column([0, 1])
    with pytest.raises(UnnaiveError, match="column 'x' has the infinite value"):
        SchemaSketch(target="y").add(x, y)
    sketch = SchemaSketch(target="price")
    rows = np.arange(20_000.0)
    with pytest.raises(UnnaiveError, match=r"'price' has more than 10,000 .* name another target"):
        sketch.add(to_frame(rows[:, None]), to_column(rows))
    with pytest.raises(UnnaiveError, match="no rows"):
        SchemaSketch(target="y").schema()
    sketch = SchemaSketch(target="y", categories={"x": [1, 2]})
    with pytest.raises(UnnaiveError, match="column 'x' has value 3"):
        sketch.add(to_frame(pd.DataFrame({"x": [1, 3]})), to_column([0, 1]))
    sketch = SchemaSketch(target="y", classes=[0, 1])
    with pytest.raises(UnnaiveError, match="label 2 in row 1"):
        sketch.add(to_frame(pd.DataFrame({"x": [1, 3]})), to_column([0, 2]))
    sketch = SchemaSketch(target="y")
    sketch.add(to_frame(pd.DataFrame({"x": [1, 3]})), to_column([0, 1]))
    with pytest.raises(SchemaMismatch, match="same columns"):
        sketch.add(to_frame(pd.DataFrame({"z": [1, 3]})), to_column([0, 1]))


def test_too_many_categories_are_named():
    values = Values("x", most=100)
    values.add(to_column([f"patient {i}" for i in range(100)]))
    with pytest.raises(UnnaiveError, match=r"column 'x' has more than 100 .* leave it out"):
        values.add(to_column(["one more"]))
    more = Values("x", most=100)
    more.add(to_column(np.arange(100)))
    with pytest.raises(UnnaiveError, match="column 'x' has more than 100"):
        more.add(to_column(np.arange(200)))
