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
