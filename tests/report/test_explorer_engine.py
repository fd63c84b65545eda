"""The explorer's engine in Chromium: for every model what Python says, from the model's tables."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from browser import chromium_page, watch
from problems import COUNTING, HOSTILE, problems
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.explain import ask_next
from unnaive.explain.cells import one_row
from unnaive.export import engine_module, model_document
from unnaive.io.frames import to_frame
from unnaive.models.trial import Member
from unnaive.papers.barrow import BarrowFullBayes
from unnaive.report.rows import engine_cells
from unnaive.tables.calibration import Calibration
from unnaive.tables.smoothing import POLICIES

pytestmark = pytest.mark.long  # in a browser

CLOSE = {"rtol": 0.0, "atol": 1e-9}
POLICY = "default-src 'none'; script-src 'unsafe-inline'"  # neither eval nor any address
SCRIPT = engine_module() + "\nglobalThis.unnaiveEngine = unnaiveEngine;"
RUN = """(given) => {
  const [document, rows, explained, asked] = JSON.parse(given);
  const engine = unnaiveEngine(document);
  const plain = (numbers) => Array.from(numbers);
  const some = rows.slice(0, explained);
  const infinite = (key, x) => (x === -Infinity ? "-Infinity" : x === Infinity ? "Infinity" : x);
  return JSON.stringify({
    joint: rows.map((row) => plain(engine.joint(row))),
    posterior: rows.map((row) => plain(engine.posterior(row))),
    explained: some.map((row) => {
      const { base, terms } = engine.explain(row);
      return [plain(base), terms.map((t) => [t.columns, t.through, plain(t.contributions)])];
    }),
    odds: engine.classes.map((_, c) => some.map((row) => {
      const { base, terms } = engine.logOdds(row, c);
      return [base, terms.map((t) => [t.columns, t.through, t.contribution])];
    })),
    next: rows.slice(0, asked).map((row) => engine.askNext(row).map((n) => [n.column, n.bits])),
  }, infinite).replace(/"(-?Infinity)"/g, "$1");
}"""


@pytest.fixture(scope="module")
def page():
    with chromium_page() as opened:
        watched = watch(opened)
        head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        opened.set_content(f'<!doctype html>{head}<script type="module">{SCRIPT}</script>')
        yield opened
        assert watched.errors == []
        assert watched.requests == []


def frame(seed, k, *, numbers_only=False, rows=160):
    """Numbers and labels that tell of each other and of the class, with gaps."""
    random = np.random.default_rng(seed)
    classes = np.append(np.arange(k), random.integers(k, size=rows - k))
    hidden = random.normal(size=rows) + classes
    data = {}
    for place in range(6):
        gaps = random.random(rows) < 0.1
        if numbers_only or place % 2:
            noise = random.normal(size=rows)
            column = hidden * random.normal() + noise + classes * random.normal()
            data[f"number {place}"] = np.where(gaps, np.nan, column)
        else:
            size = int(random.integers(2, 5))
            codes = (classes + (hidden > 1) * random.integers(2, size=rows)) % size
            mixed = np.where(random.random(rows) < 0.3, random.integers(size, size=rows), codes)
            data[f"label {place}"] = np.where(gaps, None, np.array(list("abcde"))[mixed])
    return pd.DataFrame(data), np.array([f"class {label}" for label in classes])


def rows_of(document, n, seed):
    """Random settings as cells, everything known, some of it, or nothing."""
    random = np.random.default_rng(seed)

    def cell(column, unknown):
        if random.random() < unknown or not column.get("labels", True):
            return None
        if column["kind"] == "number":
            return float(random.uniform(column["low"], column["high"]))
        return int(random.integers(len(column["labels"])))

    shares = random.choice([0.0, 0.15, 0.5, 0.85, 1.0], size=n)
    return [[cell(column, unknown) for column in document["columns"]] for unknown in shares]


def cells_of(model, document, rows):
    """The same settings as a frame of values, for Python."""
    data = {}
    for place, (told, column) in enumerate(
        zip(document["columns"], model.schema_.columns, strict=True)
    ):
        cells = [row[place] for row in rows]
        if told["kind"] == "bins":
            edges = np.array(told["edges"])
            inside = [*edges, edges[-1] + 1.0] if len(edges) else [0.0]  # a bin has its upper edge
            cells = [None if cell is None else inside[cell] for cell in cells]
        elif told["kind"] == "category":
            cells = [None if cell is None else column.categories[cell] for cell in cells]
            if not all(isinstance(value, int | float) for value in told["values"] or [""]):
                data[told["name"]] = pd.Series(cells, dtype=object)
                continue
        data[told["name"]] = np.array([np.nan if cell is None else cell for cell in cells], float)
    found = pd.DataFrame(data)
    return found if hasattr(model, "feature_names_in_") else found.to_numpy()


def fitted(model, problem):
    """Fit a counting model to coded rows, with declared values and classes."""
    return model._fit_rows(problem.coded())


def written(model):
    return json.loads(json.dumps(model_document(model), allow_nan=False))


def run(page, *given):
    """Run the engine. Text travels: playwright looks at every number of lists several times."""
    return json.loads(page.evaluate(RUN, json.dumps(given, allow_nan=False)))


def assert_same(page, model, n=200, seed=0, explained=40, asked=6):
    """The engine's posteriors, terms, log-odds and questions are Python's."""
    document = written(model)
    rows = rows_of(document, n, seed)
    X = cells_of(model, document, rows)
    found = run(page, document, rows, explained, asked)
    posterior = np.array(found["posterior"]).reshape(n, -1)
    np.testing.assert_allclose(posterior, model.predict_proba(X), **CLOSE)
    joint = np.array(found["joint"]).reshape(n, -1)
    expected = model.predict_joint_log_proba(X)
    hopeless = np.isneginf(expected).all(axis=1)
    np.testing.assert_allclose(joint[~hopeless], expected[~hopeless], **CLOSE)
    explanation = model.explain(X[:explained])
    assert_terms(found["explained"], joint[:explained], explanation)
    assert_odds(found["odds"], joint[:explained], explanation)
    used = {place for place, column in enumerate(document["columns"]) if column["used"]}
    names = [column["name"] for column in document["columns"]]
    for row, answered in enumerate(found["next"]):
        assert_questions(answered, ask_next(model, X[row : row + 1]), used, names)
    return document


def by_term(explained, explanation, shape):
    """Bases and contributions as arrays, terms in Python's order."""
    keys = {(tuple(t.columns), tuple(t.through)): i for i, t in enumerate(explanation.terms)}
    bases = np.empty(shape)
    parts = np.zeros((*bases.shape, len(keys)))
    for row, (base, terms) in enumerate(explained):
        bases[row] = base
        for columns, through, contribution in terms:
            parts[row, ..., keys[tuple(columns), tuple(through)]] = contribution
    return bases, parts


def assert_terms(explained, joint, explanation):
    """Terms add up to the log joint, and each is Python's for the classes that have a chance."""
    base, parts = by_term(explained, explanation, joint.shape)
    np.testing.assert_allclose(base + parts.sum(axis=2), joint, **CLOSE)
    np.testing.assert_allclose(base, explanation.base, **CLOSE)
    chance = np.isfinite(joint)
    np.testing.assert_allclose(parts[chance], explanation.contributions[chance], **CLOSE)


def assert_odds(odds, joint, explanation):
    """Log-odds are a base and terms, Python's, that lead from the prior to the posterior."""
    possible = np.isfinite(joint).all(axis=1)
    for label, name in enumerate(explanation.classes):
        base, parts = by_term(odds[label], explanation, len(joint))
        told = explanation.log_odds(positive=name, by="term")
        others = np.delete(joint, label, axis=1)
        if others.shape[1]:
            total = joint[:, label] - np.logaddexp.reduce(others, axis=1)
            rows = np.isfinite(total)
            np.testing.assert_allclose((base + parts.sum(axis=1))[rows], total[rows], **CLOSE)
        np.testing.assert_allclose(base, told.base, **CLOSE)
        np.testing.assert_allclose(parts[possible], told.contributions[possible], **CLOSE)


def assert_questions(answered, expected, used, names):
    assert [bits for _, bits in answered] == sorted((b for _, b in answered), reverse=True)
    bits = {names.index(question.column): question.information for question in expected}
    assert {column for column, _ in answered} == set(bits) & used
    for column, told in answered:
        assert told == pytest.approx(bits[column], abs=1e-9)


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
@pytest.mark.parametrize(("seed", "k"), [(0, 2), (1, 3), (2, 5)])
def test_every_model_is_computed_in_the_page(page, key, seed, k):
    known = unnaive.make(key).get_params()
    options = {"random_state": 0} if "random_state" in known else {}
    if seed == 1 and key != "ienb":
        options["class_prior"] = [0.2, 0.5, 0.3]
    if seed == 2 and "smoothing" in known:
        options["smoothing"] = "ml"  # impossible rows
    X, y = frame(seed, k, numbers_only=key in {"full-bayes", "k-naive"})
    assert_same(page, unnaive.make(key, **options).fit(X, y), seed=seed)


VARIANTS = [
    unnaive.TAN(missing="drop", smoothing="ml"),
    unnaive.TAN(forest=True),
    unnaive.ATAN(average="joint"),
    unnaive.KDB(k=3, missing="drop"),
    unnaive.SPODE(joint_prior=False),
    unnaive.GeneralizedNB(parametrization="junction"),
    unnaive.GeneralizedNB(n_features=3),
    unnaive.GeneralizedNB(paper=True),
    unnaive.CherryTreeNB(order=5, smoothing="ml"),
    unnaive.AODE(min_count=30),
    unnaive.AODE(min_count=1000),
    unnaive.AODE(weights="discriminative"),
    unnaive.A2DE(min_count=12, weighted=True),
    unnaive.PHNB(threshold=math.inf),
    unnaive.PazzaniNB(search="forward", criterion="log_loss"),
    unnaive.BayesNet(augmented=False),
    unnaive.GaussianNaiveBayes(smoothing="ml"),
    unnaive.GaussianKDB(k=4, cell_weight=2.0),
    unnaive.NaiveBayes(discretize="quantile", threshold_bias=[0.0, 1.0, 0.0]),
]


@pytest.mark.parametrize("model", VARIANTS, ids=repr)
def test_settings_that_change_the_kind_of_tables(page, model):
    X, y = frame(3, 3)
    assert_same(page, model.fit(X, y), seed=3)


@pytest.mark.parametrize("naivete", ["weak", "strong"])
@pytest.mark.parametrize("joint", ["exact", "pseudo"])
def test_products_of_full_conditionals(page, naivete, joint):
    X, y = frame(4, 3, numbers_only=True)
    model = unnaive.KNaiveBayes(k=3, naivete=naivete, joint=joint, shrinkage=0.1)
    assert_same(page, model.fit(X, y), seed=4)


@pytest.mark.parametrize("tune", [None, unnaive.IENB(random_state=0)], ids=["plain", "tuned"])
def test_groups_with_gaps(page, tune):
    random = np.random.default_rng(0)
    X = random.integers(3, size=(400, 4))
    y = (X[:, 0] + X[:, 1]) % 3 + 3 * ((X[:, 2] + X[:, 3]) % 2)
    model = unnaive.PazzaniNB(criterion="log_loss", tune=tune).fit(X, y)
    assert max(map(len, model.structure_.groups)) > 1
    assert_same(page, model)


def test_values_that_imply_others(page):
    random = np.random.default_rng(0)
    sex = random.choice(["female", "male"], size=300)
    pregnant = np.where((sex == "female") & (random.random(300) < 0.5), "pregnant", "no")
    X = pd.DataFrame({"sex": sex, "pregnant": pregnant, "other": random.choice(list("ab"), 300)})
    y = (pregnant == "pregnant") ^ (random.random(300) < 0.2)
    model = unnaive.AODE(subsumption=True, critical=20).fit(X, y)
    plain = unnaive.AODE().fit(X, y)
    row = pd.DataFrame([["female", "pregnant", "a"]], columns=X.columns)
    assert not np.allclose(model.predict_proba(row), plain.predict_proba(row))
    assert_same(page, model)


@pytest.mark.parametrize("key", ["nb", "tan", "atan", "tan-multinet", "kdb", "aode", "a2de", "hnb"])
def test_a_class_that_cannot_be(page, key):
    X, y = frame(11, 3)
    assert_same(page, unnaive.make(key, class_prior=[0.0, 0.4, 0.6]).fit(X, y), n=40)


@pytest.mark.parametrize("key", ["nb", "atan", "aode", "kdb"])
def test_calibrated_models(page, key):
    X, y = frame(12, 3)
    document = assert_same(page, unnaive.make(key, calibrate="loo").fit(X, y), n=60)
    assert document["calibration"]["temperature"] != 1


@pytest.mark.parametrize(("heaviest", "kind"), [(0, "category"), (1, "category"), (2, "number")])
def test_blends_whose_members_cut_numbers_differently(page, heaviest, kind):
    X, y = frame(13, 3, numbers_only=True)
    X["whole"] = np.random.default_rng(0).integers(4, size=len(X)) + (y == "class 1")
    kinds = {
        "thin": unnaive.TAN(discretize="quantile", bins=7, calibrate="loo"),
        "thick": unnaive.NaiveBayes(discretize="width", bins=3),
        "numbers": unnaive.GaussianTAN(),
    }
    model = unnaive.AutoBayes(candidates=kinds).fit(X, y)
    members = tuple(
        Member(name, own.fit(X, y), Calibration(0.7 + 0.1 * i, np.array([0.1, 0.0, -0.2])), weight)
        for i, (name, own) in enumerate(kinds.items())
        for weight in [0.6 if i == heaviest else 0.2]
    )
    model._fitted = replace(model.fitted_, members=members)
    document = assert_same(page, model, asked=0)
    assert [column["kind"] for column in document["columns"]] == ["number"] * 6 + [kind]
    ask = "([document, row]) => unnaiveEngine(document).askNext(row).map((n) => n.bits)"
    bits = page.evaluate(ask, [document, [None] * 7])
    assert len(bits) == 7
    assert 0 < bits[0] < math.log2(3)


@pytest.mark.parametrize(
    "key", ["nb", "tan", "aode", "weighted-pairs", "gaussian-nb", "gaussian-kdb", "blend"]
)
def test_missing_values_as_a_category(page, key):
    X, y = frame(14, 3)
    kinds = {
        "thin": unnaive.TAN(discretize="quantile", bins=7),
        "thick": unnaive.NaiveBayes(discretize="width", bins=3),
    }
    blend = unnaive.AutoBayes(candidates=kinds, missing_as_category=True)
    model = blend if key == "blend" else unnaive.make(key, missing_as_category=True)
    model.fit(X, y)
    document = written(model)
    rows, _ = engine_cells(model, to_frame(X))
    known = one_row(model, {"label 0": "a"})
    some, _ = engine_cells(model, known)
    assert some[0][1:] == [None] * 5
    found = run(page, document, [*some, *rows], 5, 2)
    expected = np.concatenate([model.predict_proba(known), model.predict_proba(X)])
    np.testing.assert_allclose(np.array(found["posterior"]), expected, **CLOSE)
    column = document["columns"][2]
    gap = int(np.flatnonzero(X["label 2"].isna())[0])
    assert rows[gap][2] == column["missing"]
    assert column["labels"][column["missing"]] == "missing"
    names = [column["name"] for column in document["columns"]]
    bits = {question.column: question.information for question in ask_next(model, known)}
    page_bits = {names[place]: value for place, value in found["next"][0]}
    assert page_bits == pytest.approx(bits, abs=1e-9)


def test_a_class_that_has_parents(page):
    X, y = frame(3, 3)
    arcs = [("label 0", "y"), ("label 2", "y"), ("number 1", "label 0"), ("y", "label 4")]
    model = unnaive.BayesNet(augmented=False, required=arcs).fit(X, y)
    document = assert_same(page, model, seed=3)
    assert [] in [factor["children"] for factor in document["tables"]["factors"]]


def test_a_column_without_any_value_is_not_used(page):
    X, y = frame(5, 2)
    X.insert(1, "empty", np.nan)
    X["empty label"] = pd.Series([None] * len(X), dtype=object)
    for key in sorted(set(COUNTING) - {"pazzani-eda", "apnbc-eda", "ienb"}):
        with pytest.warns(UserWarning, match="'empty', 'empty label' has no value in any row"):
            model = unnaive.make(key).fit(X, y)
        document = assert_same(page, model, n=30, asked=0)
        assert not document["columns"][1]["used"], key


@pytest.mark.parametrize("name", sorted(set(HOSTILE) - {"more rows than a block"}))
def test_hostile_problems(page, name):
    problem = HOSTILE[name]
    keys = ["nb", "tan", "kdb", "aode", "hnb", "bsej"]
    for key in keys[:1] if max(problem.values) > 1000 else keys:
        assert_same(page, fitted(unnaive.make(key), problem), n=20, asked=1)


@pytest.mark.parametrize("smoothing", sorted(POLICIES))
def test_every_smoothing(page, smoothing):
    X, y = frame(10, 3)
    for model in (
        unnaive.TAN(),
        unnaive.KDB(k=3),
        unnaive.KDB(k=3, missing="drop"),
        unnaive.A2DE(),
    ):
        assert_same(page, model.set_params(smoothing=smoothing).fit(X, y), n=60, asked=2)


@given(
    problems(max_rows=12, max_columns=4, sizes=(1, 2, 3, 6), weighted=True),
    st.sampled_from(sorted(set(COUNTING) - {"pazzani-eda", "apnbc-eda", "ienb"})),
    st.sampled_from([None, "ml", "backoff", "bdeu"]),
)
@settings(max_examples=60)
def test_random_problems(page, problem, key, smoothing):
    assert_same(page, fitted(unnaive.make(key, smoothing=smoothing), problem), n=12, asked=1)


def test_numbers_are_found_in_their_bins_and_categories(page):
    random = np.random.default_rng(0)
    numbers = random.normal(size=200)
    X = pd.DataFrame({"bins": numbers, "whole": random.integers(3, size=200) * 2, "flat": 1.5})
    y = (numbers > 0.3).astype(int) + (numbers > 1)
    model = unnaive.NaiveBayes().fit(X, y)
    edges = model.schema_.columns[0].edges
    assert edges
    typed = [*edges, *np.nextafter(edges, np.inf), *np.nextafter(edges, -np.inf), -1e300, 1e300]
    find = (
        "([document, column, typed]) => typed.map((x) => unnaiveEngine(document).codeOf(column, x))"
    )
    document = written(model)
    expected = model.schema_.columns[0].encode(unnaive_column(typed)).tolist()
    assert page.evaluate(find, [document, 0, typed]) == expected
    assert page.evaluate(find, [document, 1, [4, 0, 3, float("nan")]]) == [2, 0, None, None]
    gaussian = written(unnaive.GaussianNaiveBayes().fit(X, y))
    assert page.evaluate(find, [gaussian, 0, [0.25]]) == [0.25]


def unnaive_column(numbers):
    return unnaive.io.frames.to_column(np.array(numbers, dtype=float))


def test_what_is_no_value_is_unknown(page):
    X, y = frame(6, 2)
    document = written(unnaive.TAN().fit(X, y))
    ask = "([document, rows]) => rows.map((r) => Array.from(unnaiveEngine(document).posterior(r)))"
    strange = [[None] * 6, [99, -1, float("nan"), None, "a", float("inf")]]
    nothing, odd = page.evaluate(ask, [document, strange])
    assert odd == nothing
    with pytest.raises(Exception, match="a row has 1 cells; it needs 6"):
        page.evaluate(ask, [document, [[0]]])


def test_too_much_unknown_is_said_and_not_tried(page):
    random = np.random.default_rng(0)
    X = pd.DataFrame({f"x{i}": random.integers(60, size=90).astype(str) for i in range(5)})
    model = unnaive.KDB(k=4).fit(X, random.integers(2, size=90))
    last = next(family[0] for family in model.structure_.families if len(family) == 5)
    row = [0 if column == last else None for column in range(5)]
    ask = "([document, row]) => Array.from(unnaiveEngine(document).posterior(row))"
    with pytest.raises(Exception, match="too much is unknown"):
        page.evaluate(ask, [written(model), row])


def test_tables_beyond_the_limit_are_refused():
    X, y = frame(7, 2)
    model = unnaive.A2DE().fit(X, y)
    size = sum(len(entry["values"]) for entry in model_document(model)["arrays"])
    with pytest.raises(TableTooLarge, match="tables of this model take more than"):
        model_document(model, max_bytes=size // 2)


def test_programs_without_probabilities_are_refused():
    X, y = frame(8, 2, numbers_only=True)
    model = BarrowFullBayes().fit(X.fillna(0.0), y)
    with pytest.raises(UnnaiveError, match="such as KNaiveBayes"):
        model_document(model)


def test_equal_tables_are_written_once():
    X, y = frame(9, 2)
    one, many = (model_document(model.fit(X, y)) for model in (unnaive.TAN(), unnaive.ATAN()))
    assert len(many["tables"]["parts"]) == 6
    assert len(json.dumps(many["arrays"])) < 3 * len(json.dumps(one["arrays"]))
