"""Bayesian networks as classifiers, and other models as networks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import unnaive
import weather
from problems import HOSTILE, Problem, made
from unnaive import TAN, BayesNet, NaiveBayes, load
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.structure.dag import DAG
from unnaive.tables.network import Network


def related(n=300, seed=0, k=2):
    """Rows of five columns that hang on each other and on the class, without gaps."""
    random = np.random.default_rng(seed)
    y = random.integers(0, k, n)
    columns = [(y + (random.random(n) < 0.3)) % 3]
    for i in range(1, 5):
        noise = random.random(n) < 0.3
        columns.append(np.where(noise, random.integers(0, 3, n), (columns[i // 2] + i) % 3))
    return np.stack(columns, axis=1).astype(float), y


SETTLED = {"discretize": None, "categories": [range(3)] * 5}


def test_small_networks_are_known_models():
    X, y = related()
    naive = NaiveBayes(**SETTLED).fit(X, y).predict_joint_log_proba(X)
    alone = BayesNet(max_parents=0, **SETTLED).fit(X, y)
    np.testing.assert_allclose(alone.predict_joint_log_proba(X), naive, atol=1e-12)
    arcs = [("x0", "x1"), ("x0", 2), (1, 3), ("x1", "x4")]
    tree = BayesNet(required=arcs, time_limit=0, **SETTLED).fit(X, y)
    expected = TAN(parents=[None, 0, 0, 1, 1], **SETTLED).fit(X, y)
    np.testing.assert_allclose(tree.predict_proba(X), expected.predict_proba(X), atol=1e-12)


def test_what_weka_finds_on_the_weather():
    arcs = [("y", "x2"), ("x2", "x1")]
    model = BayesNet(
        augmented=False,
        required=arcs,
        time_limit=0,
        smoothing="laplace:0.5",
        categories=weather.CATEGORIES,
    ).fit(weather.LABELLED, weather.LABELS)
    yes = list(model.classes_).index("yes")
    got = model.predict_proba(weather.LABELLED)[[0, 5, 10], yes]
    expected = [0.446308724832, 0.817880794702, 0.817880794702]
    assert got == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "search", ["hill-climbing", "tabu", "k2", pytest.param("annealing", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("augmented", [True, False])
def test_searches_find_networks(search, augmented):
    X, y = related()
    settings = {"search": search, "augmented": augmented, "forbidden": [("x0", "x4")]}
    model = BayesNet(max_parents=2, n_restarts=1, **settings, **SETTLED).fit(X, y)
    assert ("x0", "x4") not in model.structure_.edges
    assert model.score(X, y) > 0.6
    if augmented:
        assert all(("y", name) in model.structure_.edges for name in model.structure_.names[:-1])
        assert max(len(above) for above in model.structure_.parents) <= 3
    again = BayesNet(max_parents=2, n_restarts=1, **settings, **SETTLED).fit(X, y)
    assert again.structure_ == model.structure_


@pytest.mark.parametrize("search", ["pc", "ges"])
def test_searches_for_classes_of_networks(search):
    X, y = related(3000)
    model = BayesNet(search=search, augmented=False, **SETTLED).fit(X, y)
    assert model.score(X, y) > 0.6
    with pytest.raises(ValueError, match=f'search="{search}" needs augmented=False'):
        BayesNet(search=search, **SETTLED).fit(X, y)


def test_only_the_blanket_matters():
    X, y = related(2000)
    model = BayesNet(augmented=False, **SETTLED).fit(X, y)
    blanket = model.structure_.markov_blanket(5)
    others = [column for column in range(5) if column not in blanket]
    assert others
    changed = X.copy()
    changed[:, others] = 0
    np.testing.assert_allclose(model.predict_proba(changed), model.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("augmented", [True, False])
def test_gaps_are_summed_out(augmented):
    X, y = related()
    model = BayesNet(augmented=augmented, **SETTLED).fit(X, y)
    gapped = X[:12].copy()
    gapped[np.random.default_rng(0).random(gapped.shape) < 0.3] = np.nan
    joint = model.predict_joint_log_proba(gapped)
    for row, cells in enumerate(gapped):
        missing = np.flatnonzero(np.isnan(cells))
        rows = []
        for values in product(range(3), repeat=len(missing)):
            filled = cells.copy()
            filled[missing] = values
            rows.append(filled)
        expected = np.logaddexp.reduce(model.predict_joint_log_proba(np.array(rows)), axis=0)
        np.testing.assert_allclose(joint[row], expected, atol=1e-10)


@pytest.mark.parametrize("smoothing", ["laplace", "bdeu", "m-estimate"])
@pytest.mark.parametrize("augmented", [True, False])
def test_leave_one_out_equals_refits(augmented, smoothing):
    X, y = related(40)
    settings = {"augmented": augmented, "smoothing": smoothing, **SETTLED}
    model = BayesNet(**settings).fit(X, y)
    left_out = model.loo_predict_proba(X, y)
    arcs = model.structure_.edges
    for row in range(0, 40, 3):
        rest = np.arange(40) != row
        again = BayesNet(required=arcs, time_limit=0, **settings).fit(X[rest], y[rest])
        assert again.structure_ == model.structure_
        expected = again.predict_proba(X[row : row + 1])[0]
        np.testing.assert_allclose(left_out[row], expected, atol=1e-10)
    X[3, 2] = np.nan
    with pytest.raises(
        UnnaiveError, match="leave-one-out of a Bayesian network needs rows without"
    ):
        BayesNet(**settings).fit(X, y).loo_predict_proba(X, y)


def test_models_travel(tmp_path):
    X, y = related()
    model = BayesNet(augmented=False, **SETTLED).fit(X[:200], y[:200])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    graph = model.structure_
    model.partial_fit(X[200:], y[200:])
    assert model.structure_ == graph
    model.forget(X[200:], y[200:])
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-12)
    assert model.network_.query("y").sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_shapes(name):
    problem = HOSTILE[name]
    if len(problem.rows) > 10_000:
        problem = Problem(problem.rows[:2000], problem.classes[:2000], problem.k, problem.values)
    for augmented in (True, False):
        model = BayesNet(augmented=augmented)
        model._fit_rows(problem.coded())
        np.testing.assert_allclose(model.predict_proba(problem.X).sum(axis=1), 1.0)


WITH_NETWORK = ["nb", "tan", "kdb", "gnb-a", "gnb-o", "decomposable", "cherry", "bayesnet"]


@pytest.mark.parametrize("key", WITH_NETWORK)
def test_other_models_are_networks_too(key, tmp_path):
    problem = made(150, [3, 2, 4, 3], 3, seed=1)
    model = unnaive.make(key, discretize=None).fit(problem.X, problem.classes)
    network = model.to_network()
    codes = np.concatenate([problem.coded().codes, np.zeros((1, 150), dtype=np.uint8)])
    found = network.posterior(network.dag.names[-1], codes)
    np.testing.assert_allclose(found, model.predict_proba(problem.X), atol=1e-10)
    network.write(tmp_path / "network.bif")
    again = type(network).read(tmp_path / "network.bif")
    np.testing.assert_allclose(again.posterior("y", codes), found, atol=1e-10)


def test_models_that_are_no_network():
    problem = made(60, [3, 2, 4], 2)
    for key in ("aode", "hnb", "a2de", "atan", "tan-multinet"):
        model = unnaive.make(key, discretize=None).fit(problem.X, problem.classes)
        with pytest.raises(UnnaiveError, match="is not a single network"):
            model.to_network()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "best"}, "criterion='best'; it must be one of bic"),
        ({"search": "luck"}, "search='luck'; it must be 'hill-climbing'"),
        ({"max_parents": -1}, "max_parents=-1"),
        ({"n_restarts": 1.5}, "n_restarts=1.5"),
        ({"time_limit": "soon"}, "time_limit='soon'"),
        ({"required": ["x0"]}, "required has 'x0'; arcs are pairs"),
        ({"required": [("x0", "x9")]}, "required: 'x9' is not a column"),
        ({"required": [("x0", "y")]}, "the arc x0 -> y is required and forbidden"),
        ({"required": [("x0", "x1"), ("x1", "x0")]}, "cycle"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        BayesNet(**settings, **SETTLED).fit(*related(60))


def test_counts_and_memory():
    X, y = related(60)
    with pytest.raises(UnnaiveError, match="learns from rows"):
        BayesNet().fit_counts(unnaive.count(X, y, discretize=None))
    with pytest.raises(TableTooLarge):
        BayesNet(max_memory=100, **SETTLED).fit(X, y)


@pytest.mark.parametrize("ending", ["bif", "bifxml"])
@pytest.mark.parametrize("other", ["pgmpy", "pyagrum"])
def test_a_learnt_network_goes_through_others_and_back(other, ending, tmp_path):
    X, y = related(400)
    model = BayesNet(search="tabu", **SETTLED).fit(X, y)
    network = model.to_network()
    there, back = tmp_path / f"there.{ending}", tmp_path / f"back.{ending}"
    network.write(there)
    if other == "pyagrum":
        agrum = pytest.importorskip("pyagrum")
        agrum.saveBN(agrum.loadBN(str(there)), str(back), allowModificationWhenSaving=True)
    else:
        readwrite = pytest.importorskip("pgmpy.readwrite")
        forms = {"bif": ("BIFReader", "BIFWriter"), "bifxml": ("XMLBIFReader", "XMLBIFWriter")}
        reader, writer = (getattr(readwrite, name) for name in forms[ending])
        writer(reader(str(there)).get_model()).write(str(back))
    again = type(network).read(back)
    assert set(again.dag.edges) == set(network.dag.edges)
    label = network.dag.names[-1]
    for row in np.asarray(X)[:40]:
        evidence = dict(zip(network.dag.names[:-1], map(str, map(int, row)), strict=True))
        expected = {
            str(k): v for k, v in network.query_table(label, typed(network, evidence)).items()
        }
        found = {str(k): v for k, v in again.query_table(label, typed(again, evidence)).items()}
        assert found == pytest.approx(expected, abs=1e-6)


def typed(network, evidence):
    """Give evidence as a network's own states, which are texts once they were in a file."""
    states = dict(zip(network.dag.names, network.states, strict=True))
    return {
        name: next(state for state in states[name] if str(state) == value)
        for name, value in evidence.items()
    }


@pytest.mark.parametrize("as_dag", [True, False])
def test_a_given_structure_is_only_filled(tmp_path, as_dag):
    X, y = related()
    arcs = [("x0", "y"), ("y", "x1"), ("x0", "x1"), ("x1", "x3")]
    names = ("y", "x1", "x0", "x3")  # in an order of its own, and without x2 and x4
    given = DAG.of_edges(names, arcs) if as_dag else arcs
    model = BayesNet(structure=given, **SETTLED).fit(X, y)
    assert set(model.structure_.edges) == set(arcs)
    learned = BayesNet(required=arcs, augmented=False, time_limit=0, **SETTLED).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), learned.predict_proba(X))
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    refitted = again.set_params(structure=model.structure_).fit(X, y)
    np.testing.assert_array_equal(refitted.predict_proba(X), model.predict_proba(X))
    refitted.save(tmp_path / "model")
    assert load(tmp_path / "model").structure_ == model.structure_


def test_a_network_of_a_file_is_filled_with_new_data(tmp_path):
    X, y = related()
    first = BayesNet(augmented=False, **SETTLED).fit(X, y)
    first.network_.write(tmp_path / "x.bif")
    again = BayesNet(structure=Network.read(tmp_path / "x.bif").dag, **SETTLED).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), first.predict_proba(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"structure": [("x0", "x9")]}, "structure: 'x9' is not a column"),
        ({"structure": ["x0"]}, r"structure has 'x0'; arcs are pairs \(parent, child\)"),
        ({"structure": "x0 -> x1"}, "it must be a DAG or a list of"),
        ({"structure": [("x0", "x1"), ("x1", "x0")]}, "cycle: x0 -> x1 -> x0"),
        ({"structure": [("x0", "x1")], "forbidden": [("x0", "x1")]}, "structure has x0 -> x1, aga"),
        ({"structure": [("x0", "x1")], "required": [(1, 2)]}, "structure lacks x1 -> x2, against"),
        ({"structure": [("x0", "x1")], "tiers": [["x1"], ["x0"]]}, "structure has x0 -> x1"),
    ],
)
def test_a_structure_that_cannot_be_is_refused(settings, message):
    X, y = related()
    with pytest.raises(ValueError, match=message):
        BayesNet(**settings, **SETTLED).fit(X, y)
