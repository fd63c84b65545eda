"""SQL: one query a model, run by DuckDB and SQLite, parsed for databases that are not here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from benchmarks.engines import KEY
from exports import assert_predictions, assert_scored, clinic, fitted, started
from unnaive.exceptions import UnnaiveError

sqlglot = pytest.importorskip("sqlglot")
BLEND = pytest.param("auto", marks=pytest.mark.long)  # test_four_columns has a smaller one
KEYS = ["nb", "tan", "aode", "hnb", "gaussian-nb", "gaussian-tan", BLEND]


@pytest.fixture(scope="module")
def databases():
    with started("DuckDB") as duckdb, started("SQLite") as sqlite:
        yield [duckdb, sqlite]


@pytest.mark.parametrize("key", KEYS)
def test_predictions_are_those_of_python(databases, key):
    model, X = fitted(key)
    for database in databases:
        assert_scored(database, model, X)


@pytest.mark.long
@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_every_model(databases, key):
    model, X = fitted(key, seed=1, k=2)
    for database in databases:
        assert_scored(database, model, X)


VARIANTS = [
    unnaive.TAN(missing="drop", smoothing="ml"),
    unnaive.KDB(k=2, smoothing="backoff"),
    unnaive.AODE(subsumption=True, critical=20),
    unnaive.NaiveBayes(smoothing="ml", calibrate="loo"),
    unnaive.KNaiveBayes(k=2, naivete="strong", joint="pseudo"),
]


@pytest.mark.parametrize("model", VARIANTS, ids=repr)
def test_settings_that_change_the_kind_of_tables(databases, model):
    X, y = clinic(3, 3, numbers_only=isinstance(model, unnaive.KNaiveBayes))
    assert_scored(databases[0], model.fit(X, y), X)


DIALECTS = ["bigquery", "snowflake", "spark", "postgres"]
PARSED = [(dialect, key) for dialect in DIALECTS for key in ("tan", "aode", "full-bayes")]
QUICK = {("bigquery", "full-bayes"), *((dialect, "tan") for dialect in DIALECTS)}


@pytest.mark.parametrize(
    ("dialect", "key"),
    [pytest.param(*one, marks=[pytest.mark.long] * (one not in QUICK)) for one in PARSED],
)
def test_other_databases_parse(dialect, key):
    model, _ = fitted(key)
    query = model.to_sql("a.b.c", key="id", dialect=dialect)
    (tree,) = sqlglot.parse(query, dialect=dialect)
    assert isinstance(tree, sqlglot.exp.Select)
    tables = {table.sql(dialect) for table in tree.find_all(sqlglot.exp.Table) if table.db}
    assert len(tables) == 1


def test_columns_are_in_the_order_of_their_steps():
    """However names are hashed, the query of a model is the same in every process."""
    query = fitted("aode")[0].to_sql("rows")
    for stage in sqlglot.parse_one(query, dialect="duckdb").find_all(sqlglot.exp.CTE):
        names = [column.alias_or_name for column in stage.this.expressions]
        steps = [int(name[1:]) for name in names if name.startswith("v")]
        assert steps == sorted(steps)


@pytest.mark.parametrize("key", ["tan", "hnb", "full-bayes", "gaussian-tan"])
def test_numbers_are_doubles_in_postgres(key):
    """A number like 0.5e0 is a decimal there, whose roots and logarithms have fewer digits."""
    query = sqlglot.parse_one(fitted(key)[0].to_sql("rows", dialect="postgres"), dialect="postgres")
    results = [own.args["true"] for own in query.find_all(sqlglot.exp.If)]
    results += [own.args["default"] for own in query.find_all(sqlglot.exp.Case)]
    results += [own.this for own in query.find_all(sqlglot.exp.Alias)]
    numbers = [own for own in results if isinstance(own, sqlglot.exp.Literal) and not own.is_string]
    assert numbers  # whole ones
    assert not any("e" in own.this for own in numbers)


@pytest.mark.long
def test_many_categories_are_joined(databases):
    values = np.array([f"code {place}" for place in range(2000)])
    X = pd.DataFrame({"code": values[np.arange(4000) % 2000]})
    model = unnaive.NaiveBayes().fit(X, np.arange(4000) % 3)
    some = X.iloc[::19].reset_index(drop=True)
    some.loc[3] = "never seen"
    for database in databases:
        assert "LEFT JOIN" in model.to_sql("my rows", key="id", dialect=database.dialect)
        assert_scored(database, model, some)


@pytest.mark.parametrize("key", ["tan", "aode", "hnb"])
def test_large_tables_are_made_in_the_database(databases, key):
    model, X = fitted(key, k=2)
    assert not model.to_sql("my rows").tables
    for database in databases:
        how = {"key": KEY, "dialect": database.dialect}
        query = model.to_sql("my rows", **how, inline=3)
        assert query == ";\n".join([*query.tables, query.select])
        for _ in range(2):  # tables of an earlier run are replaced
            answer = database.answer(model, query, X)
            assert_predictions(model, X, answer.labels, answer.probabilities)


@pytest.mark.long
def test_ten_thousand_categories(databases):
    values = np.array([f"code {place}" for place in range(10_000)])
    X = pd.DataFrame({"code": values[np.arange(20_000) % 10_000], "other": np.arange(20_000) % 2})
    model = unnaive.TAN(root=1, categorical_features=[0, 1]).fit(X, np.arange(20_000) // 3 % 2)
    some = X.iloc[::97].astype(object).reset_index(drop=True)
    some.loc[3, "code"], some.loc[5, "other"], some.loc[7] = "never seen", None, None
    some["other"] = some["other"].astype(float)
    for database in databases:
        query = model.to_sql("my rows", dialect=database.dialect)
        assert any(statement.startswith("CREATE TABLE unnaive_") for statement in query.tables)
        assert len(query.select) < 20_000
        assert_scored(database, model, some)


def test_more_joins_than_sqlite_allows(databases):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.integers(45, size=(300, 70)).astype(str)).rename(columns=str)
    model = unnaive.NaiveBayes().fit(X, random.integers(2, size=300))
    answer = databases[1].score(model, X, inline=10)
    assert_predictions(model, X, answer.labels, answer.probabilities)


def test_more_numbers_than_a_function_of_sqlite_takes(databases):
    """MAX of SQLite takes at most 127 numbers, and A2DE averages over all pairs of columns."""
    from unnaive.export.sql_stages import Stages  # noqa: PLC0415 - needs sqlglot
    from unnaive.export.sql_tables import RealTables  # noqa: PLC0415 - needs sqlglot

    stages = Stages("sqlite", RealTables("t", 10))
    names = [f"v{place}" for place in range(250)]
    numbers = np.random.default_rng(0).permutation(250)
    given = ", ".join(f"{n} AS {name}" for name, n in zip(names, numbers, strict=True))
    largest = stages.largest(names).sql("sqlite")
    ((found,),) = databases[1].run(f"SELECT {largest} FROM (SELECT {given})")
    assert found == 249


@pytest.mark.parametrize("labels", [[True, False], [3, 1], [2.0, -1.0], ["a'b", 'A"B']])
def test_labels_of_every_type(databases, labels):
    X, y = clinic(2, 2)
    y = np.array(labels)[(y == "class 1").astype(int)]
    model = unnaive.NaiveBayes(threshold_bias=[0.3, 0.0]).fit(X, y)
    for database in databases:
        assert_scored(database, model, X)


NAMES = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).filter(
        lambda name: name.casefold() != "id"
    ),
    min_size=2,
    max_size=3,
    unique_by=str.casefold,
)
ATTACKS = st.sampled_from(
    ['\'; DROP TABLE "my rows"; --', "\\'", '"', "`", "a\nb", "$$", "' OR 1=1 --", "/*", "%s", "?"]
)


@pytest.mark.long  # test_hostile has others in every run
@given(NAMES, st.lists(NAMES.map("".join) | ATTACKS, min_size=2, max_size=4, unique=True))
@settings(max_examples=15)
def test_hostile_names_and_values(databases, names, values):
    random = np.random.default_rng(0)
    X = pd.DataFrame({name: random.choice(values, size=40).astype(object) for name in names})
    y = random.choice(values, size=40).astype(object)
    model = unnaive.TAN().fit(X, y)
    for database in databases:
        assert_scored(database, model, X)
    for dialect in ("postgres", "spark", "bigquery", "snowflake"):
        (tree,) = sqlglot.parse(model.to_sql("my rows", dialect=dialect), dialect=dialect)
        texts = {text.this for text in tree.find_all(sqlglot.exp.Literal) if text.is_string}
        assert texts <= set(values)


def test_numbers_that_are_not_finite_and_text_in_numbers(databases):
    X, y = clinic(5, 2, numbers_only=True)
    model = unnaive.NaiveBayes().fit(X, y)
    strange = pd.DataFrame(
        {"number 0": [np.inf, -np.inf, np.nan], "number 1": 0.5, "number 2": 1.0}
    )
    absent = strange.assign(**{"number 0": np.nan})
    answer = databases[0].score(model, strange)
    assert_predictions(model, absent, answer.labels, answer.probabilities)
    text = strange.astype(object).assign(**{"number 0": "1.5"})
    answer = databases[1].score(model, text)
    assert_predictions(model, absent, answer.labels, answer.probabilities)


def test_what_cannot_be_exact_is_refused():
    model, _ = fitted("nb")
    with pytest.raises(ValueError, match="dialect='oracle'; it must be one of duckdb"):
        model.to_sql("rows", dialect="oracle")
    X = pd.DataFrame({"mixed": [1, "a"] * 5}, dtype=object)
    with pytest.raises(UnnaiveError, match="column 'mixed' has values of different types"):
        unnaive.NaiveBayes().fit(X, [0, 1] * 5).to_sql("rows")
    with pytest.raises(UnnaiveError, match=r"column 'x0' has the text 'a.x00', which SQL"):
        unnaive.NaiveBayes().fit([["a\0"], ["b"]], [0, 1]).to_sql("rows")
    random = np.random.default_rng(0)
    wide = pd.DataFrame({f"x{i}": random.integers(60, size=90).astype(str) for i in range(5)})
    model = unnaive.KDB(k=4).fit(wide, random.integers(2, size=90))
    with pytest.raises(UnnaiveError, match=r"table of the columns 'x|sums over all joint values"):
        model.to_sql("rows")
