"""A model is a page: few classes stand between scikit-learn's and a model's own."""

from __future__ import annotations

import pytest

import unnaive


def ours(kind):
    """Classes of the package that a class is resolved by, itself included."""
    return [base for base in kind.__mro__ if base.__module__.split(".")[0] == "unnaive"]


@pytest.mark.parametrize("name", ["TAN", "NaiveBayes", "GeneralizedNB", "PHNB"])
def test_at_most_four_classes_of_ours_resolve_a_model(name):
    assert len(ours(getattr(unnaive, name))) <= 4


def test_at_most_five_bases_carry_all_models():
    models = {type(unnaive.make(key)) for key in unnaive.all_models()}
    bases = {base.__name__ for model in models for base in ours(model)[1:] if base not in models}
    assert len(bases) <= 5, sorted(bases)
