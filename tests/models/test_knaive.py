"""k-naive Bayes: Mathematics 8.3, slow twins, Barrow's programs; promises of Gaussian models."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import naive_barrow
import naive_gaussian as slow
from tests.models.test_gaussian import (
    assert_close,
    every_model,
    joint,
    made,
    number_problems,
    rows_of,
    twin_of,
    with_gaps,
)
from unnaive import FullBayes, GaussianNaiveBayes, KNaiveBayes, load
from unnaive.datasets import load_wdbc
from unnaive.exceptions import UnnaiveError
from unnaive.models.gaussian_mixed import MixedClassifier
from unnaive.papers.barrow import BarrowFullBayes, BarrowKNaiveBayes, BarrowNaiveBayes, Quirks

naivetes, joints = st.sampled_from(["weak", "strong"]), st.sampled_from(["exact", "pseudo"])


def plain(**parameters):
    return KNaiveBayes(var_smoothing=0, **parameters)


def chosen(model):
    """Positions of the naive columns."""
    names = list(model.schema_.names)
    return [names.index(name) for name in model.naive_columns_]


@pytest.mark.long
@given(number_problems(), naivetes, joints)
@settings(max_examples=60)
def test_the_ends_are_naive_and_full_bayes(problem, naivete, kind):
    X, y, gapped = problem
    d = X.shape[1]
    apart = joint(GaussianNaiveBayes(var_smoothing=0), X, y, gapped)
    full = joint(FullBayes(var_smoothing=0), X, y, gapped)
    assert_close(joint(plain(k=d, naivete=naivete, joint=kind), X, y, gapped), apart)
    assert_close(joint(plain(k=0, naivete=naivete), X, y, gapped), full)
    assert_close(joint(plain(k=1), X, y, gapped), full)
    alone = plain(naivete=naivete, joint=kind).fit(X[:, :1], y)
    expected = joint(GaussianNaiveBayes(var_smoothing=0), X[:, :1], y)
    assert_close(alone.predict_joint_log_proba(X[:, :1]), expected)
    assert alone.naive_columns_ == ["x0"]


def test_between_the_ends_models_differ():
    X, y = made(80, 4)
    full = joint(FullBayes(var_smoothing=0), X, y)
    others = [plain(k=1, naivete="strong"), plain(k=1, joint="pseudo"), plain(k=2), plain(k=3)]
    others += [plain(k=2, naivete="strong"), plain(k=0, joint="pseudo")]
    found = [full, *(joint(model, X, y) for model in others)]
    assert all(np.abs(a - b).max() > 1e-3 for a, b in combinations(found, 2))


@pytest.mark.parametrize("k", [0, 1, 2, 3, "auto"])
@pytest.mark.parametrize("naivete", ["weak", "strong"])
@pytest.mark.parametrize("kind", ["exact", "pseudo"])
def test_without_dependences_all_are_naive_bayes(k, naivete, kind):
    corners = np.tile(list(product([-1.0, 1.0], repeat=3)), (2, 1))
    X = np.concatenate([corners * [1, 2, 4], corners * [3, 1, 0.5] + [1, 0, 2]])
    y = np.repeat([0, 1], 16)
    model = plain(naivete=naivete, joint=kind, k=k).fit(X, y)
    expected = joint(GaussianNaiveBayes(var_smoothing=0), X, y)
    assert_close(model.predict_joint_log_proba(X), expected)
    np.testing.assert_allclose(model.attribute_weights_, 0.0, atol=1e-12)


@pytest.mark.long
@given(number_problems(), naivetes, joints, st.integers(0, 5))
@settings(max_examples=120)
def test_joint_equals_the_twin(problem, naivete, kind, size):
    X, y, gapped = problem
    model = plain(k=min(size, X.shape[1]), naivete=naivete, joint=kind).fit(X, y)
    twin, naive = twin_of(X, y), chosen(model)
    expected = [slow.k_naive(twin, row, naive, naivete, kind) for row in rows_of(gapped)]
    assert_close(model.predict_joint_log_proba(gapped), expected)


@given(number_problems(), st.sampled_from(["log-mean", "mean"]))
@settings(max_examples=40)
def test_weights_equal_the_twin(problem, weighting):
    X, y, _ = problem
    pairs = slow.pair_weights(twin_of(X, y), rows_of(X), y.tolist(), weighting)
    expected = np.array(list(pairs.values())).reshape(len(pairs), X.shape[1])
    assert_close(plain(weighting=weighting).fit(X, y).attribute_weights_, expected)


def best(model, y, sizes, objective="balanced"):
    """The set that the twin would take, given the model's weights."""
    shares = [a * b for a, b in combinations(np.bincount(y) / len(y), 2)]
    return slow.balanced_subset(model.attribute_weights_.tolist(), sizes, objective, shares)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("k", "parameters", "objective"),
    [
        (2, {}, "balanced"),
        (2, {"weighting": "mean"}, "balanced"),
        (2, {"objective": "smallest"}, "smallest"),
        (2, {"norm": "weighted"}, "balanced"),
        (3, {}, "balanced"),
        (3, {"norm": "weighted"}, "mean"),
    ],
    ids=str,
)
def test_sets_equal_brute_force(k, parameters, objective, seed):
    X, y = made(30 * k, 6, k, seed=seed)
    y = np.where(np.arange(len(y)) % 4 == 0, 0, y)
    for size in range(1, 7):
        model = plain(k=size, **parameters).fit(X, y)
        assert chosen(model) == best(model, y, [size], objective)
        assert model.optimality_gap_ == 0
        model = plain(k=size, exact_k=False, **parameters).fit(X, y)
        assert chosen(model) == best(model, y, range(1, size + 1), objective)
    model = plain(**parameters).fit(X, y)
    assert chosen(model) == best(model, y, range(1, 7), objective)


@pytest.mark.long
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"naivete": "strong", "joint": "pseudo", "random_state": 3},
        {"exact_k": False, "weighting": "mean", "shrinkage": 0.2},
        {"quirks": None},
    ],
    ids=str,
)
def test_cross_validated_size(parameters):
    sizes, kind = set(), BarrowKNaiveBayes if "quirks" in parameters else KNaiveBayes
    for seed in range(4):
        X, y = made(60, 4, 2, seed=seed)
        X = X + 2 * np.random.default_rng(seed).normal(size=X.shape)
        folds = StratifiedKFold(5, shuffle=True, random_state=parameters.get("random_state", 0))
        right = np.zeros(5)
        for train, test in folds.split(X, y):
            for size in range(5):
                model = kind(k=size, **parameters).fit(X[train], y[train])
                right[size] += (model.predict(X[test]) == y[test]).sum()
        best_size = int(np.argmax(right))
        got = kind(k="cv", class_prior=[0.1, 0.9], **parameters).fit(X, y)
        assert chosen(got) == chosen(kind(k=best_size, **parameters).fit(X, y))
        sizes.add(best_size)
    assert len(sizes) > 1 or parameters


def test_structure_tells_who_depends_on_whom():
    X, y = made(80, 4)
    X = pd.DataFrame(X, columns=list("abcd"))
    for naivete in ("weak", "strong"):
        model = plain(k=2, naivete=naivete).fit(X, y)
        naive = set(model.naive_columns_)
        first, second = (name for name in "abcd" if name not in naive)
        edges = {(first, second)}
        if naivete == "weak":
            edges |= set(product(naive, (first, second)))
        assert set(model.structure_.edges) == edges


def test_degenerate_columns_and_classes():
    X, y = made(60, 3)
    model = KNaiveBayes().fit(X, np.zeros(60))
    assert (model.predict_proba(X) == 1).all()
    assert model.attribute_weights_.shape == (0, 3)
    assert KNaiveBayes(k="cv").fit(X, np.zeros(60)).naive_columns_ == []
    X[:, 1] = 7.0
    for smoothing in (0, 1e-9):
        model = KNaiveBayes(k=1, var_smoothing=smoothing).fit(X, y)
        assert model.attribute_weights_[0, 1] == pytest.approx(0, abs=1e-9)
        assert model.naive_columns_ == ["x1"]
        full = FullBayes(var_smoothing=smoothing).fit(X[:, [0, 2]], y)
        assert_close(model.predict_proba(X), full.predict_proba(X[:, [0, 2]]))
    labels = pd.Categorical(np.array(["a", "b"])[y], categories=["a", "b", "never"])
    model = KNaiveBayes(weighting="mean").fit(X, labels)
    assert model.attribute_weights_.shape == (1, 3)
    assert (model.predict_proba(X)[:, 2] == 0).all()


def test_what_needs_rows_says_so(tmp_path):
    X, y = made()
    gapped = with_gaps(X, 0.2)
    for model, said in (
        (KNaiveBayes(weighting="mean"), "needs rows; call fit with all of them"),
        (BarrowKNaiveBayes(), "rows can neither be added nor removed; call fit with all"),
    ):
        with pytest.raises(UnnaiveError, match=said):
            clone(model).fit(X, y).partial_fit(X, y)
        with pytest.raises(UnnaiveError, match="fill or drop them"):
            clone(model).fit(gapped, y)
    model = KNaiveBayes(k="cv").fit(X, y)
    with pytest.raises(UnnaiveError, match='k="cv" needs rows'):
        model.forget(X[:5], y[:5])
    model.save(tmp_path / "model")  # the failure left it whole
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(X), model.predict_proba(X))
    model = KNaiveBayes().fit(gapped, y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.attribute_weights_, model.attribute_weights_)
    assert (again.naive_columns_, again.optimality_gap_) == (model.naive_columns_, 0.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 4}, "k=4; it must be a whole number of at least 0 and at most 3, the number of"),
        ({"k": -1}, "k=-1; it must be 'auto', 'cv' or a whole number"),
        ({"k": 1.5}, "k=1.5"),
        ({"k": True}, "k=True"),
        ({"k": None}, "k=None"),
        ({"k": "best"}, "k='best'; it must be 'auto', 'cv' or a whole number"),
        ({"naivete": "some"}, "naivete='some'; it must be 'weak' or 'strong'"),
        ({"weighting": "sum"}, "weighting='sum'"),
        ({"objective": "largest"}, "objective='largest'"),
        ({"norm": 2}, "norm=2"),
        ({"joint": "full"}, "joint='full'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        KNaiveBayes(**parameters).fit(*made())


def test_smallest_sums_are_for_two_classes():
    with pytest.raises(ValueError, match='objective="smallest" is for two classes'):
        KNaiveBayes(objective="smallest").fit(*made(k=3))


# Barrow's programs


def program(kind, X, y, **options):
    return kind(np.unique(y).tolist(), np.column_stack([X, y]), **options)


def assert_answers(model, written, X):
    """The class of every row is the program's."""
    np.testing.assert_array_equal(model.predict(X), [written.logEvaluate(row) for row in X])


def wdbc():
    data = load_wdbc()
    return data.X[::3, :10], (data.y[::3] == "malignant").astype(int)


PROBLEMS = {"wdbc": wdbc(), "random": made(80, 5, seed=7), "unequal": made(61, 4, seed=8)}


@pytest.mark.parametrize("name", PROBLEMS)
def test_programs_of_the_thesis(name):
    X, y = PROBLEMS[name]
    for model, kind in [
        (BarrowNaiveBayes(), naive_barrow.NaiveBayes),
        (BarrowFullBayes(), naive_barrow.FullBayes),
    ]:
        assert_answers(model.fit(X, y), program(kind, X, y), X)
    for size, naivete, exact in [(0, "strong", True), (1, "weak", True), (3, "strong", False)]:
        model = BarrowKNaiveBayes(k=size, naivete=naivete, exact_k=exact).fit(X, y)
        strong = naivete == "strong"
        written = program(naive_barrow.StrongKNB, X, y, k=size, exactlyK=exact, strong=strong)
        assert chosen(model) == sorted(written.independents)
        # a density that all but underflows has few digits left, and a logarithm likewise
        np.testing.assert_allclose(model.attribute_weights_[0], written.weights, rtol=1e-5)
        assert_answers(model, written, X)


def test_programs_with_three_classes():
    X, y = made(90, 4, 3, seed=4)
    assert_answers(BarrowNaiveBayes().fit(X, y), program(naive_barrow.NaiveBayes, X, y), X)
    assert_answers(BarrowFullBayes().fit(X, y), program(naive_barrow.FullBayes, X, y), X)
    model = BarrowKNaiveBayes(k=2, naivete="strong").fit(X, y)
    written = program(naive_barrow.StrongKNB, X, y, k=2)
    np.testing.assert_allclose(model.attribute_weights_[0], written.weights, rtol=1e-9)
    written.independents = chosen(model)  # the thesis weighs two classes alone
    written.dependents = [i for i in range(4) if i not in chosen(model)]
    assert_answers(model, written, X)


def test_programs_with_all_columns_naive():
    X, y = PROBLEMS["wdbc"]
    model = BarrowKNaiveBayes(k=10, naivete="strong").fit(X, y)
    assert_answers(model, program(naive_barrow.StrongKNB, X, y, k=10), X)


def test_programs_with_a_constant_column():
    X, y = made(60, 4, seed=1)
    X[:, 1] = 3.0
    model = BarrowKNaiveBayes(k=2, naivete="strong").fit(X, y)
    assert_answers(model, program(naive_barrow.StrongKNB, X, y, k=2), X)


def test_programs_with_a_column_that_is_constant_in_a_class():
    X, y = made(60, 4, seed=1)
    X[:, 1] = np.where(np.arange(60) < 59, 3.0, 5.0)
    model = BarrowNaiveBayes().fit(X, y)
    assert_answers(model, program(naive_barrow.NaiveBayes, X, y), X)


def test_programs_far_from_the_data():
    X, y = PROBLEMS["random"]
    model = BarrowNaiveBayes().fit(X, y)
    assert_answers(model, program(naive_barrow.NaiveBayes, X, y), 30 * X)


def test_without_quirks_paper_is_a_product_of_conditionals():
    X, y = PROBLEMS["random"]
    for size, naivete in product(range(6), ("weak", "strong")):
        options = {"k": size, "naivete": naivete}
        got = BarrowKNaiveBayes(quirks=Quirks(), var_smoothing=0, **options).fit(X, y)
        expected = plain(joint="pseudo", **options).fit(X, y)
        # the programs divide by the later class
        assert_close(got.attribute_weights_, -expected.attribute_weights_)
        assert_close(got.predict_joint_log_proba(X), expected.predict_joint_log_proba(X))
    apart = joint(BarrowNaiveBayes(quirks=Quirks(), var_smoothing=0), X, y)
    assert_close(apart, joint(GaussianNaiveBayes(var_smoothing=0), X, y))
    full = joint(BarrowFullBayes(quirks=Quirks(), var_smoothing=0), X, y)
    assert_close(full, joint(plain(k=0, joint="pseudo"), X, y))


@pytest.mark.parametrize("name", [field.name for field in fields(Quirks)])
def test_every_quirk_changes_something(name):
    X, y = made(61, 4, seed=8)
    X = X * [0.02, 0.02, 1.0, 0.0]  # densities above 1 and below, and a constant
    far = np.vstack([X, 1e3 * X[:1]])
    base = Quirks(linear_model="code")
    changed = replace(base, **{name: "text" if name == "linear_model" else True})
    kind, options = BarrowKNaiveBayes, {"k": 1, "naivete": "strong"}
    if name == "least_log":  # of naive Bayes alone
        kind, options = BarrowNaiveBayes, {}
    found = [joint(kind(quirks=quirks, **options), X, y, far) for quirks in (base, changed)]
    assert np.isfinite(found[0]).all()
    assert np.abs(found[0] - found[1]).max() > 1e-3
    assert name in repr(changed)


def test_quirks_are_checked():
    with pytest.raises(ValueError, match="linear_model='both'; it must be 'code', 'text' or None"):
        Quirks(linear_model="both")
    assert Quirks.all_on() == eval(repr(Quirks.all_on()))


@pytest.mark.parametrize("quirks", [None, Quirks(no_prior=True, ddof=True)], ids=repr)
def test_paper_models_are_saved(quirks, tmp_path):
    X, y = made()
    for model in (
        BarrowNaiveBayes(quirks=quirks),
        BarrowFullBayes(quirks=quirks),
        BarrowKNaiveBayes(quirks=quirks),
    ):
        model.fit(X, y).save(tmp_path / "model")
        again = load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.quirks == clone(model).quirks == quirks


@pytest.mark.parametrize("quirks", [None, Quirks(no_prior=True)], ids=repr)
def test_paper_models_skip_gaps_or_refuse_them(quirks):
    X, y = made()
    gapped = X.copy()
    gapped[:, 2] = np.nan
    model = BarrowNaiveBayes(quirks=quirks).fit(X, y)
    expected = joint(BarrowNaiveBayes(quirks=quirks), X[:, :2], y)
    try:
        got = model.predict_joint_log_proba(gapped)
    except UnnaiveError:
        return
    assert_close(got, expected, 1e-6)


@pytest.mark.parametrize("model", [BarrowNaiveBayes(), BarrowFullBayes()], ids=repr)
def test_paper_models_refuse_batches_or_add_them(model):
    X, y = made()
    try:
        got = clone(model).fit(X[:30], y[:30]).partial_fit(X[30:], y[30:]).predict_proba(X)
    except UnnaiveError:
        return
    assert_close(got, clone(model).fit(X, y).predict_proba(X))


# What every Gaussian model promises


@every_model
def test_threshold_bias(model):
    X, y = made(200)
    X = X + 3 * np.random.default_rng(0).normal(size=X.shape)
    model = clone(model).fit(X, np.array(["no", "yes"])[y])
    chances, plain = model.predict_proba(X), model.predict(X)
    for bias, numbers in [({"yes": 0.6}, [0, 0.6]), ([0.7, -0.1], [0.7, -0.1]), ({}, [0, 0])]:
        model.set_params(threshold_bias=bias)
        expected = model.classes_[np.argmax(chances + numbers, axis=1)]
        np.testing.assert_array_equal(model.predict(X), expected)
        assert (expected == plain).all() == (bias == {})
        np.testing.assert_array_equal(model.predict_proba(X), chances)
    assert set(model.set_params(threshold_bias={"no": 1.1}).predict(X)) == {"no"}


@pytest.mark.parametrize(
    ("bias", "message"),
    [
        ({"maybe": 1}, r"names 'maybe', which is not a class; the classes are \[0, 1\]"),
        ([0.5], r"threshold_bias=\[0.5\]; it needs one number for each of the 2 classes \[0, 1\]"),
        ([0, np.nan], "it needs one number for each"),
        (0.5, "it needs one number for each"),
        ({0: "much"}, "it must be a list of numbers, one for each class"),
    ],
)
def test_bad_threshold_bias(bias, message):
    X, y = made()
    with pytest.raises(ValueError, match=message):
        FullBayes(threshold_bias=bias).fit(X, y).predict(X)


@every_model
def test_unusable_cells_and_degenerate_rows(model):
    X, y = made()
    model = clone(model).fit(X, y)
    before = model.predict_proba(X)
    infinite = np.where(np.arange(180).reshape(60, 3) == 4, np.inf, X)
    for learn in (model.fit, model.partial_fit, lambda rows, _: model.predict(rows)):
        with pytest.raises(UnnaiveError, match="column 'x1' has the infinite value inf in row 1"):
            learn(infinite, y)
    if not isinstance(model, MixedClassifier):
        frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(b="red")
        with pytest.raises(UnnaiveError, match="column 'b' holds labels such as 'red', and"):
            model.fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    shares = np.log(np.bincount(y) / 60)
    assert_close(model.predict_joint_log_proba(np.full((1, 3), np.nan))[0], shares, 1e-12)
    assert_close(clone(model).fit(X, np.ones(60)).predict_proba(X), 1.0)
    without = clone(model).fit(X[:, [0, 2]], y).predict_proba(X[:, [0, 2]])
    X[:, 1] = np.nan
    with pytest.warns(UserWarning, match="column 'x1' has no value in any row and is ignored"):
        assert_close(clone(model).fit(X, y).predict_proba(X), without, 1e-12)
    X[:, 1] = 7.0
    if not isinstance(model, KNaiveBayes):  # which takes another set then
        assert_close(clone(model).set_params(var_smoothing=0).fit(X, y).predict_proba(X), without)
