"""Counts in the tables of another schema equal counts of the same rows by that schema."""

import itertools
import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from unnaive.counts import CodedRows, JointCounts, cells, merge
from unnaive.counts.rules import Rules, load_rules
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.io.frames import to_frame
from unnaive.schema import CategoricalColumn, NumericColumn, Schema

FAMILIES = ((0,), (1, 0), (2, 0, 1), (0, 2, 1))


def schema_of(values, classes, **others):
    columns = tuple(CategoricalColumn(name, tuple(labels)) for name, labels in values.items())
    return Schema(columns, tuple(classes), **others)


def everything(schema, X, y, weights=None):
    """Count values, pairs, families and triples."""
    codes = schema.encode(to_frame(X))
    classes = np.array([schema.classes.index(label) for label in y], dtype=np.int64)
    rows = CodedRows(schema, codes, classes, weights)
    counts = rows.count()
    families = rows.count_families([one for one in FAMILIES if max(one) < len(schema.columns)])
    return replace(counts, families=families, triples=rows.count_triples())


@st.composite
def rows_of_letters(draw):
    letters = st.sampled_from([*"abcdef", None])
    X = draw(st.lists(st.lists(letters, min_size=3, max_size=3), min_size=1, max_size=12))
    y = draw(st.lists(st.sampled_from("pqrs"), min_size=len(X), max_size=len(X)))
    return np.array(X, dtype=object), y


def learned(X, y):
    """Schema of what occurs, in natural order."""
    seen = [sorted({cell for cell in column if cell is not None}) for column in X.T]
    return schema_of({f"x{i}": labels for i, labels in enumerate(seen)}, sorted(set(y)))


@pytest.mark.parametrize("dense", [1 << 18, 6])
@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=60)
@given(rows=rows_of_letters(), more=rows_of_letters())
def test_extended_counts_are_those_of_the_extended_schema(dense, weighted, rows, more):
    """Also if pairs and families change to being held by cells as they grow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "DENSE_CELLS", dense)
        X, y = rows
        weights = np.linspace(0.5, 2, len(y)) if weighted else None
        small, other = learned(X, y), learned(*more)
        names = {column.name: column.categories for column in other.columns}
        large = small.extend(names, other.classes)
        assert everything(small, X, y, weights).extend(large) == everything(large, X, y, weights)
        both = np.concatenate([X, more[0]]), [*y, *more[1]]
        assert large == learned(*both)  # natural order: as if all rows had been known


@pytest.mark.parametrize("dense", [1 << 18, 6])
@settings(max_examples=60)
@given(rows=rows_of_letters(), data=st.data())
def test_rules_give_the_counts_of_renamed_rows(dense, rows, data):
    """Renamed and merged categories and classes, renamed and dropped columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "DENSE_CELLS", dense)
        X, y = rows
        new = data.draw(st.fixed_dictionaries(dict.fromkeys("abcdef", st.sampled_from("abxyz"))))
        classes = data.draw(st.fixed_dictionaries(dict.fromkeys("pqrs", st.sampled_from("pt"))))
        drop = data.draw(st.sampled_from([[], ["x0"], ["x1", "x2"]]))
        rules = Rules(columns={"x0": "first"}, categories={"x1": new}, classes=classes, drop=drop)
        result = rules.applied(everything(learned(X, y), X, y))
        renamed = X.copy()
        renamed[:, 1] = [new.get(cell) for cell in X[:, 1]]
        kept = [place for place in range(3) if f"x{place}" not in drop]
        renamed, labels = renamed[:, kept], [classes[label] for label in y]
        schema = learned(renamed, labels)
        names = ["first" if place == 0 else f"x{place}" for place in kept]
        columns = tuple(
            replace(one, name=name) for one, name in zip(schema.columns, names, strict=True)
        )
        expected = everything(replace(schema, columns=columns), renamed, labels)
        families = [one for one in expected.families if all(place in kept for place in one.columns)]
        assert replace(result, families=()) == replace(expected, families=())
        if not drop:
            assert list(result.families) == families


@pytest.mark.parametrize("dense", [1 << 18, 6])
@settings(max_examples=40)
@given(rows=rows_of_letters(), order=st.permutations(range(3)))
def test_columns_in_another_order_are_brought_together(dense, rows, order):
    """Also if pairs are held by the cells that occurred."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "DENSE_CELLS", dense)
        X, y = rows
        mine = everything(learned(X, y), X, y)
        schema = replace(mine.schema, columns=tuple(mine.schema.columns[i] for i in order))
        theirs = replace(everything(schema, X[:, order], y), families=())
        mine = replace(mine, families=())
        assert merge(mine, theirs, grow=True) == mine + mine


def test_sites_with_other_names_are_mapped_or_refused(tmp_path):
    """The message names column and values; the rules make one schema of both."""
    ages = NumericColumn("age", (18.0, 65.0))
    oslo_schema = Schema((ages, CategoricalColumn("smoker", ("ex", "no", "yes"))), ("ill", "well"))
    bern_schema = Schema(
        (CategoricalColumn("smoking", (0, 1, 2)), NumericColumn("age", (18.0, 40.0, 65.0))),
        ("krank", "well"),
    )
    oslo_rows = [{"age": 12.0, "smoker": "no"}, {"age": 70.0, "smoker": "yes"}]
    bern_rows = [
        {"smoking": 0, "age": 30.0},
        {"smoking": 2, "age": 50.0},
        {"smoking": 1, "age": 3.0},
    ]
    oslo = unnaive.count(oslo_rows, ["ill", "well"], schema=oslo_schema)
    bern = unnaive.count(bern_rows, ["krank", "well", "well"], schema=bern_schema)
    with pytest.raises(SchemaMismatch, match=r"counts 2 cannot .* classes \['ill', 'well'\] here"):
        merge(oslo, bern)
    text = {
        "columns": {"smoking": "smoker"},
        "categories": {"smoker": {"0": "no", "1": "yes", "2": "yes"}},
        "classes": {"krank": "ill"},
        "edges": {"age": [18, 65]},
    }
    (tmp_path / "rules.json").write_text(json.dumps(text))
    rules = load_rules(tmp_path / "rules.json")
    with pytest.raises(SchemaMismatch, match=r"column 'smoker': .*only here: 'ex'"):
        merge(oslo, bern, rules=rules)
    together = merge(oslo, bern, rules=rules, grow=True)
    as_oslo = [
        {"age": row["age"], "smoker": ["no", "yes", "yes"][row["smoking"]]} for row in bern_rows
    ]
    rows, labels = oslo_rows + as_oslo, ["ill", "well", "ill", "well", "well"]
    assert together == unnaive.count(rows, labels, schema=oslo_schema)


def test_what_cannot_grow_together_is_named():
    bins, labels = NumericColumn("x", (1.0,)), CategoricalColumn("x", ("a", "b"))
    mine, *others = [
        unnaive.count([[None]], [label], schema=Schema((column,), (label,)))
        for label, column in enumerate(
            [labels, bins, replace(labels, missing_category=True), replace(labels, others=("q",))]
        )
    ]
    for other in others:
        with pytest.raises(SchemaMismatch, match=r"column 'x': 2 categories \('a', 'b'\) here, "):
            merge(mine, other, grow=True)
    texts = unnaive.count([["a"]], ["0"], schema=Schema((labels,), ("0",)))
    with pytest.raises(SchemaMismatch, match=r"counts 2 .* has '0' now; convert it .*by rules"):
        merge(mine, texts, grow=True)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_category_of_missing_values_that_one_site_lacks_is_the_reason(swapped):
    """Growing adds categories, but a row without a value was not counted as one of them."""
    sites = [
        unnaive.count([["a"], [None]], ["x", "y"], missing_as_category=True),
        unnaive.count([["b"], ["c"]], ["x", "y"], missing_as_category=True),
    ][:: -1 if swapped else 1]
    where = "there" if swapped else "here"
    with pytest.raises(SchemaMismatch, match=f"missing values are a category {where} only"):
        merge(*sites, grow=True)


def test_values_that_join_the_rare_ones_leave_these_last():
    column = CategoricalColumn("x", ("a", "b", "other values"), others=("q", "r"))
    counts = unnaive.count([["a"], ["b"], ["q"], ["r"]], [0] * 4, schema=Schema((column,), (0,)))
    joined = Rules(categories={"x": {"a": "other values"}}).applied(counts)
    assert joined.schema.columns[0].categories == ("b", "other values")
    assert joined.marginal(0).tolist() == [[1, 3]]
    named = Rules(categories={"x": {"other values": "a"}}).applied(counts)
    assert named.schema.columns[0].categories == ("b", "a")
    assert named.marginal(0).tolist() == [[1, 3]]
    sorted_again = Rules(categories={"x": {"b": "Z"}}).applied(counts)
    assert sorted_again.schema.columns[0].categories == ("Z", "a", "other values")
    assert sorted_again.marginal(0).tolist() == [[1, 1, 2]]


def test_edges_may_be_in_any_order():
    schema = Schema((NumericColumn("x", (1.0, 5.0, 9.0)),), (0,))
    counts = unnaive.count([[0.0], [2.0], [6.0], [10.0]], [0] * 4, schema=schema)
    merged = Rules(edges={"x": [9, 1, 9]}).applied(counts)
    assert merged.schema.columns[0].edges == (1.0, 9.0)
    assert merged.marginal(0).tolist() == [[1, 2, 1]]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"columns": {"smoke": "smoker"}}, "rename column 'smoke', which none"),
        ({"categories": {"smoker": {"maybe": "yes"}}}, "'maybe' of column 'smoker', which none"),
        ({"classes": {"krank": "ill"}}, "rename class 'krank', which none"),
        ({"drop": ["id"]}, "drop column 'id', which none"),
        ({"edges": {"height": [1]}}, "edges of column 'height', which none"),
        ({"edges": {"age": [19]}}, "counts 1: the rules keep edge 19 of column 'age'"),
        ({"edges": {"smoker": [1]}}, "edges of column 'smoker', which has categories"),
        ({"categories": {"age": {"1": "x"}}}, "categories of column 'age', which is cut into bins"),
        ({"columns": {"age": "smoker"}}, "two columns of one file are called 'smoker'"),
    ],
)
def test_rules_that_cannot_be_right_are_refused(rules, message):
    schema = Schema((NumericColumn("age", (18.0,)), CategoricalColumn("smoker", ("no",))), ("ill",))
    counts = unnaive.count([{"age": 3.0, "smoker": "no"}], ["ill"], schema=schema)
    with pytest.raises(SchemaMismatch, match=message):
        merge(counts, counts, rules=Rules(**rules))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not an object of JSON"),
        ('{"column": {}}', "did you mean 'columns'"),
        ('{"wrong": {}}', "the keys are"),
        ('{"columns": {"a": 1}}', "the entry 'columns'"),
        ('{"edges": {"a": [2, 1]}}', "the entry 'edges'"),
        ('{"categories": {"a": ["b"]}}', "the entry 'categories'"),
        ('{"classes": {"a": null}}', "the entry 'classes'"),
        ('{"drop": "a"}', "the entry 'drop'"),
        ('{"classes": {"a": "b", "a": "c"}}', "it has 'a' twice in one object"),
    ],
)
def test_files_that_are_not_rules_are_refused(tmp_path, text, message):
    (tmp_path / "rules.json").write_text(text)
    with pytest.raises(SchemaMismatch, match=message):
        load_rules(tmp_path / "rules.json")


def test_an_extension_must_contain_what_was_counted():
    counts = unnaive.count([["a", 1.5], ["b", 2.5]], target=["p", "q"])
    first, second = counts.schema.columns
    for columns, classes, message in [
        ((replace(first, categories=("a",)), second), ("p", "q"), "lacks the category 'b'"),
        ((replace(first, missing_category=True), second), ("p", "q"), "otherwise"),
        ((first, replace(second, edges=(7.0,))), ("p", "q"), "other bins"),
        ((first, second), ("p",), "lacks the class 'q'"),
        ((first,), ("p", "q"), r"columns \['x0', 'x1'\] here"),
    ]:
        with pytest.raises(SchemaMismatch, match=message):
            counts.extend(Schema(columns, classes))
    assert counts.extend(counts.schema) is counts


def test_extensions_of_schemas():
    """Declared orders stay, rare values stay last, and what cannot be added is refused."""
    declared = CategoricalColumn("stage", ("low", "high"))
    grouped = CategoricalColumn("town", ("Bern", "Oslo", "other values"), ("Rom", "Ulm"), True)
    numbers = CategoricalColumn("children", (0, 2))
    schema = Schema((declared, grouped, numbers, NumericColumn("age", (18.0,))), (1, 3))
    larger = schema.extend(
        {"stage": ["none", "low"], "town": ["Paris", "Genf", "Rom"], "children": [1]}, [2, 3]
    )
    assert larger.columns[0].categories == ("low", "high", "none")
    assert larger.columns[1].categories == ("Bern", "Genf", "Oslo", "Paris", "other values")
    assert larger.columns[2].categories == (0, 1, 2)
    assert larger.classes == (1, 2, 3)
    assert schema.extend({"stage": ["low"]}) == schema
    with pytest.raises(SchemaMismatch, match="no column 'stages' to extend; did you mean 'stage'"):
        schema.extend({"stages": ["low"]})
    with pytest.raises(SchemaMismatch, match="column 'age' is cut into bins"):
        schema.extend({"age": [70]})
    with pytest.raises(UnnaiveError, match="column 'children' held numbers such as 0 in fit"):
        schema.extend({"children": ["many"]})
    with pytest.raises(UnnaiveError, match="the target 'y' held numbers such as 1 in fit"):
        schema.extend(classes=["ill"])


NO_LABELS = [float("nan"), float("inf"), None, date(2020, 1, 1), ("a",), ["a"]]


@pytest.mark.parametrize("label", NO_LABELS, ids=str)
def test_what_is_no_label_cannot_be_added(label):
    for known in [("a", "b"), (0, 2), ()]:
        schema = Schema((CategoricalColumn("children", known),), (1, 3))
        with pytest.raises(ValueError, match="column 'children' has "):
            schema.extend({"children": [label]})
        with pytest.raises(ValueError, match="classes= has "):
            schema.extend(classes=[label])


@pytest.mark.parametrize("labels", ["dead", 5, {"dead": 1}, None])
def test_one_label_is_not_a_list_of_its_letters(labels):
    schema = Schema((CategoricalColumn("smoker", ("no", "yes")),), ("ill", "well"))
    with pytest.raises(ValueError, match=f"column 'smoker' is {labels!r}; it must be a list of"):
        schema.extend({"smoker": labels})
    with pytest.raises(ValueError, match=f"classes= is {labels!r}; it must be a list of values"):
        schema.extend(classes=labels)
    with pytest.raises(ValueError, match="categories='smoker'; it must be a mapping"):
        schema.extend("smoker")


def test_a_large_extension_is_laid_out_in_blocks(monkeypatch):
    from unnaive.counts import laid_out  # noqa: PLC0415

    chance = np.random.default_rng(0)
    X = chance.integers(0, 4, (200, 6)).astype(str)
    y = chance.integers(0, 2, 200)
    counts = unnaive.count(X, y)
    schema = counts.schema.extend({f"x{i}": ["9", "30"] for i in range(0, 6, 2)}, [5])
    whole = counts.extend(schema)
    monkeypatch.setattr(laid_out, "_BLOCK_CELLS", 40)
    assert counts.extend(schema) == whole == unnaive.count(X, y, schema=schema)
    assert isinstance(whole, JointCounts)
    for low, high in itertools.combinations(range(6), 2):
        assert whole.pair(low, high).sum() == 200
