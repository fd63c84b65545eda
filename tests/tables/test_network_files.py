"""Networks that are exchanged keep states, order, types and bins."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from tests.tables.test_network import AB, FAIR, XY, networks
from unnaive import Network, read_network
from unnaive.exceptions import DataFileError, UnnaiveError
from unnaive.structure.dag import DAG

DAG_OF_THREE = DAG.of_edges(["age", "ill", 'say "x"'], [("age", "ill"), ("ill", 2)])
STATES = (("≤ 18", "(18, 65.25]", "> 65.25"), (False, True), (-1, 2.5, "a, b"))
TABLES = ([0.2, 0.5, 0.3], [[0.9, 0.1], [0.7, 0.3], [1, 0]], [[0.1, 0.2, 0.7], [1 / 3, 2 / 3, 0]])
MIXED = Network(DAG_OF_THREE, STATES, TABLES, bins={"age": (18, 65.25)})


def through_file(ending):
    def exchanged(network, folder):
        network.write(folder / f"network{ending}")
        return read_network(folder / f"network{ending}")

    return exchanged


WAYS = {
    "bif": through_file(".bif"),
    "xmlbif": through_file(".xml"),
    "dot": lambda network, _: Network.of_dot(network.to_dot()),
    "networkx": lambda network, _: Network.of_networkx(network.to_networkx()),
}


def check_same(network, again):
    assert again.dag == network.dag
    assert again.states == network.states
    types = [
        [[type(label) for label in labels] for labels in one.states] for one in (again, network)
    ]
    assert types[0] == types[1]
    assert again.bins == network.bins
    for ours, theirs in zip(network.tables, again.tables, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("way", WAYS)
def test_round_trips_keep_states_order_types_and_bins(way, tmp_path):
    check_same(MIXED, WAYS[way](MIXED, tmp_path))


@pytest.mark.parametrize("way", WAYS)
@given(network=networks())
@settings(max_examples=5)
def test_round_trips_of_any_network(way, network, tmp_path_factory):
    check_same(network, WAYS[way](network, tmp_path_factory.mktemp("exchanged")))


def test_bins_are_read_back_as_numbers(tmp_path):
    X = np.column_stack([np.arange(200.0), np.arange(200) % 3])
    model = unnaive.TAN().fit(X, np.arange(200) > 90)
    model.to_network().write(tmp_path / "model.bif")
    network = read_network(tmp_path / "model.bif")
    by_number, by_state = (network.query("y", {"x0": x}) for x in (73, "≤ 90.5"))
    assert by_number.tolist() == by_state.tolist()
    assert by_number.tolist() == model.predict_proba([[73, None]])[0].tolist()
    again = network.to_classifier("y")
    assert again.classes_.tolist() == [False, True]
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_other_programs_read_the_properties(tmp_path):
    MIXED.write(tmp_path / "mixed.bif")
    MIXED.write(tmp_path / "mixed.bifxml")
    gum = pytest.importorskip("pyagrum")
    assert len(gum.loadBN(str(tmp_path / "mixed.bif")).names()) == 3
    assert len(gum.loadBN(str(tmp_path / "mixed.bifxml")).names()) == 3


def test_compressed_files(tmp_path):
    MIXED.write(tmp_path / "mixed.bif")
    packed = tmp_path / "mixed.bif.gz"
    packed.write_bytes(gzip.compress((tmp_path / "mixed.bif").read_bytes()))
    check_same(MIXED, read_network(packed))
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(DataFileError, match="cut off"):
        read_network(packed)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("unnaive_type = int float text", "unnaive_type = int", "unnaive_type of .* was altered"),
        ("unnaive_type = int float text", "unnaive_type = int int int", "type 'int'"),
        ("unnaive_bins = 18.0 65.25", "unnaive_bins = 18 x", "are not numbers"),
    ],
)
def test_altered_properties_are_refused(old, new, message, tmp_path):
    path = tmp_path / "mixed.bif"
    MIXED.write(path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(DataFileError, match=message):
        read_network(path)


@pytest.mark.parametrize("edges", [(18,), (65, 18), (18, np.inf), (1, 2, 3)])
def test_bins_that_do_not_fit(edges):
    if edges == (18,):  # the last state may be that of missing values
        assert Network(DAG_OF_THREE, STATES, TABLES, bins={"age": edges}).bins == {"age": (18.0,)}
        return
    with pytest.raises(UnnaiveError, match="variable 'age' has 3 states and the bin edges"):
        Network(DAG_OF_THREE, STATES, TABLES, bins={"age": edges})


def test_graphs_without_tables_are_structures():
    with pytest.raises(UnnaiveError, match="node 'age' has no attribute 'states'"):
        Network.of_dot(DAG_OF_THREE.to_dot())
    with pytest.raises(UnnaiveError, match="node 'a' are not JSON"):
        Network.of_dot('digraph { a [states="no"] }')
    assert DAG.of_dot(MIXED.to_dot()) == DAG_OF_THREE


labels = st.sampled_from(["0", 0, "True", True, 1.5, "1.5"])


@given(labels)
def test_labels_that_are_written_alike_are_one_state(label):
    states = ((False, True), (0, 1.5))
    network = Network(DAG.empty(["a", "b"]), states, ([0.5, 0.5],) * 2)
    name = "a" if str(label) == "True" or label is True else "b"
    assert network.query(name, {name: label}).max() == 1


def test_labels_are_exchanged_with_their_types(tmp_path):
    network = Network(AB, ((1, 2.5), (True, False)), (FAIR, [FAIR, [0.25, 0.75]]))
    network.write(tmp_path / "network", format="xmlbif")
    again = Network.read(tmp_path / "network", format="xmlbif")
    assert again.states == ((1, 2.5), (True, False))
    assert [[type(label) for label in labels] for labels in again.states] == [
        [int, float],
        [bool] * 2,
    ]
    assert again.query("b", {"a": "2.5"}).tolist() == pytest.approx([0.25, 0.75])
    with pytest.raises(ValueError, match="variable 'a' has state '1'"):
        Network(AB, ((1, "1"), XY[1]), (FAIR, [FAIR, FAIR])).to_description()
