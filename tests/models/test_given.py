"""Networks of others as classifiers: the same probabilities, and everything a model does."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from tests.tables.test_network import made, networks, sliced, whole
from unnaive import BayesNet, Network
from unnaive.exceptions import UnnaiveError
from unnaive.structure.dag import DAG
from unnaive.tables import clique_tree

ALARM = Network(
    DAG.of_edges(["burglary", "alarm", "call"], [(0, 1), (1, 2)]),
    (("no", "yes"), ("silent", "rings"), (0, 1, 2)),
    ([0.99, 0.01], [[0.999, 0.001], [0.06, 0.94]], [[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]]),
)


@given(networks(), st.data())
@settings(max_examples=15)
def test_predictions_are_those_of_the_whole_table(network, data):
    many = [node for node, size in enumerate(network.sizes) if size > 1]
    if not many or len(network.sizes) < 2:
        return
    label = data.draw(st.sampled_from(many))
    model = network.to_classifier(network.dag.names[label])
    joint = whole(network)
    others = [node for node in range(joint.ndim) if node != label]
    codes = [data.draw(st.none() | st.integers(0, int(network.sizes[v]) - 1)) for v in others]
    pairs = zip(others, codes, strict=True)
    row = {network.dag.names[v]: network.states[v][c] for v, c in pairs if c is not None}
    codes.insert(label, None)
    kept = sliced(joint, codes)
    weights = (kept if kept.sum() else joint).sum(axis=tuple(others))
    found = model.predict_proba([row])[0]
    above = any(codes[v] is not None for v in network.dag.parents[label])
    if kept.sum() or not above:
        np.testing.assert_allclose(found, weights / weights.sum(), atol=1e-9)


@pytest.mark.parametrize("merged", [0, 10_000])
@pytest.mark.parametrize("density", [0.0, 0.2, 0.5])
def test_every_variable_can_be_the_class(density, merged, monkeypatch):
    """Also if a family is a whole clique, and if it does not depend on the class."""
    monkeypatch.setattr(clique_tree, "_MERGED_CELLS", merged)
    network = made([2, 3, 2, 3, 2, 2], 5, density, 0.0)
    joint, names = whole(network), network.dag.names
    rows = list(itertools.product(*network.states))
    for label, name in enumerate(names):
        others = [[*row[:label], *row[label + 1 :]] for row in rows]
        frame = pd.DataFrame(others, columns=[*names[:label], *names[label + 1 :]])
        found = network.to_classifier(name).predict_proba(frame)
        by_class = np.moveaxis(joint, label, -1).reshape(-1, network.sizes[label])
        expected = by_class / by_class.sum(axis=1, keepdims=True)
        every = np.moveaxis(found.reshape(*joint.shape, -1), label, 0)[0]
        np.testing.assert_allclose(every.reshape(expected.shape), expected, atol=1e-9)


def test_the_network_comes_back():
    model = ALARM.to_classifier("alarm")
    again = model.network_
    assert again.dag.names == ("burglary", "call", "alarm")
    for name, given_ in itertools.product(("burglary", "call"), ({}, {"alarm": "rings"})):
        np.testing.assert_allclose(again.query(name, given_), ALARM.query(name, given_), atol=1e-14)
    assert model.feature_names_in_.tolist() == ["burglary", "call"]
    assert model.classes_.tolist() == ["silent", "rings"]
    assert model.schema_.columns[1].categories == (0, 1, 2)


def test_rows_update_the_tables_with_the_network_as_prior():
    model = ALARM.to_classifier("burglary", equivalent_sample_size=50)
    rows = pd.DataFrame({"alarm": ["rings", "rings", "silent"], "call": [2, 1, 0]})
    model.partial_fit(rows, ["yes", "no", "no"])
    prior = 50 * ALARM.query(["alarm", "call"])
    seen = np.array([[1, 0, 0], [0, 1, 1]])
    expected = (prior + seen) / (prior + seen).sum(axis=1, keepdims=True)
    network = model.network_
    np.testing.assert_allclose(network.tables[network.dag.names.index("call")], expected)


def test_it_explains_exports_and_is_saved(tmp_path):
    model = ALARM.to_classifier("burglary")
    sample = ALARM.sample(60, random_state=0).decode()
    X = pd.DataFrame({name: sample[name] for name in ("alarm", "call")})
    assert "2 columns" in str(model.explain(X[:1]))
    assert "rings" in model.to_json()
    assert model.to_sql("calls").lower().startswith(("with", "select"))
    model.save(tmp_path / "model.unnaive")
    again = unnaive.load(tmp_path / "model.unnaive")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert (model.feature_importances_ > 0).all()


@pytest.mark.parametrize("form", ["bif", "dot", "networkx", "network", "arcs", "dag"])
def test_structures_in_every_form(form, tmp_path):
    X = np.array([list(pair) for pair in itertools.product("ab", range(3))] * 5, dtype=object)
    y = ["yes" if call == 2 or alarm == "a" else "no" for alarm, call in X]
    frame = {"alarm": X[:, 0].tolist(), "call": X[:, 1].tolist()}
    ALARM.write(tmp_path / "alarm.bif")
    (tmp_path / "alarm.dot").write_text(ALARM.dag.to_dot())
    structure = {
        "bif": tmp_path / "alarm.bif",
        "dot": str(tmp_path / "alarm.dot"),
        "networkx": ALARM.to_networkx(),
        "network": ALARM,
        "arcs": [("burglary", "alarm"), ("alarm", "call")],
        "dag": ALARM.dag,
    }[form]
    target = pd.Series(y, name="burglary")
    model = BayesNet(structure=structure).fit(pd.DataFrame(frame), target)
    assert model.structure_.edges == [("alarm", "call"), ("burglary", "alarm")]
    model.save(tmp_path / "model.unnaive")
    again = unnaive.load(tmp_path / "model.unnaive")
    assert again.structure_ == model.structure_
    expected = ALARM.dag if form == "dag" else [["burglary", "alarm"], ["alarm", "call"]]
    assert (
        again.structure if form == "dag" else [list(arc) for arc in again.structure]
    ) == expected


def test_what_is_refused():
    with pytest.raises(UnnaiveError, match="there is no variable 'fire'"):
        ALARM.to_classifier("fire")
    with pytest.raises(ValueError, match="equivalent_sample_size=0"):
        ALARM.to_classifier("alarm", 0)
    one = Network(DAG.empty(["a", "b"]), (("x",), ("u", "v")), ([1.0], [0.5, 0.5]))
    with pytest.raises(UnnaiveError, match="single state"):
        one.to_classifier("a")
    with pytest.raises(FileNotFoundError):
        BayesNet(structure="no.dot").fit([["a"], ["b"]], [0, 1])
