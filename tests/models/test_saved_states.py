"""Saved models whose content was changed and whose checksums are right: refused, or they answer."""

import numpy as np
import pytest

import unnaive
from fuzz import states
from fuzz.run import attempt
from unnaive.exceptions import ModelFileError, UnnaiveError
from unnaive.io import store
from unnaive.models.saved import check_state

SAVED = sorted(path.stem for path in states.GOLDEN.glob("*.unb"))
SAVED += [f"counts-{name}" for name in states.COUNTED]


@pytest.mark.parametrize("name", SAVED)
def test_altered_states_are_refused_or_answer(name, tmp_path):
    subject = states.Altered(name, tmp_path / "model.unb")
    faults = [attempt(subject, seed) for seed in range(12)]
    assert [fault for fault in faults if fault] == []


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("cherry", 9000357),  # parents in a cycle
        ("kdb", 9000689),
        ("weighted-pairs", 9000625),  # a weight of -1e308
        ("full-bayes", 9000019),  # a covariance that is not symmetric
    ],
)
def test_seeds_that_found_something(name, seed, tmp_path):
    assert attempt(states.Altered(name, tmp_path / "model.unb"), seed) == ""


def changed(state, place, value):
    for step in place[:-1]:
        state = state[step]
    state[place[-1]] = value


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("labels",), ["no", "no", "yes"], "model.labels is not free of repeated entries"),
        (("names",), ["a", "b", "c", "z"], "model.names is not those of the columns"),
        (("classes",), "O", "model.classes is not a type of labels"),
        (("counts", "class_counts"), np.array([1, 2]), "class_counts is not of shape"),
        (("counts", "class_counts"), np.array([1, -2, 3]), "class_counts is not in range"),
        (("counts", "pair_columns"), np.array([[0, 4]]), "pair_columns is not in range"),
        (("structure", "weights"), np.array([0.0, np.nan, 0, 0]), "weights is not finite"),
        (("counts", "schema", "columns", 0, "edges"), [2.0, 1.0], "edges is not increasing"),
        (("counts", "schema", "columns", 0, "name"), 3, "name is not text"),
    ],
)
def test_the_message_names_the_place(place, value, told):
    state = store.load(states.GOLDEN / "tan.unb")
    changed(state, place, value)
    with pytest.raises(UnnaiveError, match=told):
        check_state(state)


def test_parameters_are_checked_when_a_model_is_loaded(tmp_path):
    state = store.load(states.GOLDEN / "tan.unb")
    state["parameters"]["handle_unknown"] = "guess"
    store.save(tmp_path / "model.unb", state)
    with pytest.raises(ModelFileError, match="handle_unknown='guess'"):
        unnaive.load(tmp_path / "model.unb")


def test_members_of_a_blend_have_the_same_categories(tmp_path):
    state = store.load(states.GOLDEN / "auto-models.unb")
    place = ("members", "0", "fitted", "counts", "schema", "columns", 3, "categories", 0)
    changed(state, place, 2**63)
    store.save(tmp_path / "model.unb", state)
    with pytest.raises(ModelFileError, match="categories of the other members"):
        unnaive.load(tmp_path / "model.unb")


@pytest.mark.parametrize("label", [{}, [], None, float("nan")])
def test_labels_of_counts_are_checked(label, tmp_path):
    state = store.load(states.GOLDEN / "tan.unb")["counts"]
    changed(state, ("schema", "classes", 0), label)
    store.save(tmp_path / "counts.unb", state, "counts")
    with pytest.raises(ModelFileError, match=r"the counts\.schema\.classes"):
        unnaive.JointCounts.load(tmp_path / "counts.unb")


def refused(state, tmp_path, told):
    store.save(tmp_path / "model.unb", state)
    with pytest.raises(ModelFileError, match=told):
        unnaive.load(tmp_path / "model.unb")


@pytest.mark.parametrize("name", ["kdb", "cherry", "decomposable", "decomposable-loo", "kdb-loo"])
def test_cycles_of_parents_are_refused(name, tmp_path):
    state = store.load(states.GOLDEN / f"{name}.unb")
    (first, *_), (second, *_), *rest = state["structure"]["families"]
    cycle = [[first, second], [second, first], *rest]
    state["structure"]["families"] = cycle
    refused(state, tmp_path, "cycle")


@pytest.mark.parametrize("name", ["gaussian-kdb", "gaussian-tan"])
def test_cycles_of_numbers_are_refused(name, tmp_path):
    state = store.load(states.GOLDEN / f"{name}.unb")
    state["learned"]["families"] = [[0, 1], [1, 2], [2, 0]]
    refused(state, tmp_path, "cycle")


@pytest.mark.parametrize("name", ["tan", "tan-multinet", "tan-loo", "gnb-a", "bayesnet"])
def test_cycles_of_trees_and_networks_are_refused(name, tmp_path):
    state = store.load(states.GOLDEN / f"{name}.unb")
    parents = state["structure"]["parents"]
    if name == "bayesnet":
        parents[0], parents[1] = [1], [0]
    else:
        parents[..., :2] = 1, 0
    refused(state, tmp_path, "cycle|tree|whole")


@pytest.mark.parametrize("name", ["kdb", "cherry", "bayesnet", "bsej", "ienb"])
def test_counted_families_are_those_of_the_structure(name, tmp_path):
    state = store.load(states.GOLDEN / f"{name}.unb")
    families = state["counts"]["families"]
    del families[0]
    refused(state, tmp_path, "families")


@pytest.mark.parametrize("name", ["full-bayes", "gaussian-kdb", "gaussian-tan", "k-naive"])
@pytest.mark.parametrize(
    ("place", "number", "told"),
    [
        ((0, 0, 2), 0.5, "symmetric"),
        ((1, 1, 1), -1.0, "variances"),
        ((1, 1, 1), 1e301, "in range"),
        ((2, 0, 0), 1e-30, "semidefinite"),
    ],
)
def test_covariances_are_those_of_a_density(name, place, number, told, tmp_path):
    state = store.load(states.GOLDEN / f"{name}.unb")
    state["learned"]["covariances"][place] = number
    refused(state, tmp_path, told)


@pytest.mark.parametrize("key", ["weights", "products"])
@pytest.mark.parametrize("name", ["full-bayes", "gaussian-kdb", "gaussian-nb", "k-naive"])
def test_moments_are_symmetric(name, key, tmp_path):
    state = store.load(states.GOLDEN / f"{name}.unb")
    state["moments"][key][0, 0, 1] += 1.0
    refused(state, tmp_path, "symmetric")


@pytest.mark.parametrize("name", ["full-bayes", "gaussian-kdb", "gaussian-nb"])
def test_weighted_moments_are_symmetric_up_to_rounding(name, tmp_path):
    random = np.random.default_rng(0)
    X, y, weights = random.normal(size=(90, 3)), random.integers(2, size=90), random.random(90)
    X[random.random(X.shape) < 0.1] = np.nan
    model = unnaive.make(name).fit(X, y, weights).forget(X[:60], y[:60], weights[:60])
    products = model.fitted_.moments.products
    assert not np.array_equal(products, products.swapaxes(1, 2))
    model.save(tmp_path / "model.unb")
    again = unnaive.load(tmp_path / "model.unb")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("number", [-1e308, -1.0, 1e101, 1e308])
@pytest.mark.parametrize("name", ["wanbia", "weighted-tan", "weighted-pairs", "waode", "aode"])
def test_weights_cannot_overflow(name, number, tmp_path):
    unnaive.load(states.GOLDEN / f"{name}.unb").save(tmp_path / "model.unb")
    state = store.load(tmp_path / "model.unb")
    state["structure"]["weights"][0] = number
    refused(state, tmp_path, "in range|do not fit")


@pytest.mark.parametrize("number", [-1.0, 0.0, 1e101])
def test_a_temperature_keeps_the_order(number, tmp_path):
    state = store.load(states.GOLDEN / "tan-calibrated.unb")
    state["calibration"]["temperature"] = number
    refused(state, tmp_path, "temperature is not in range")
