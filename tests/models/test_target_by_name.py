"""Labels may be a column of the table of samples, named by ``y``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unnaive
from unnaive.exceptions import UnnaiveError

TABLE = pd.DataFrame(
    {
        "age": [1.0, 2.0, 30.0, 40.0] * 5,
        "ill": ["no", "no", "yes", "yes"] * 5,
        "sex": list("mfmf") * 5,
    }
)


@pytest.mark.parametrize("key", ["tan", "gaussian-nb", "auto"])
@pytest.mark.parametrize("mappings", [False, True])
def test_the_name_of_a_column_is_as_good_as_its_labels(key, mappings):
    features = TABLE.drop(columns="ill")
    expected = unnaive.make(key).fit(features, TABLE["ill"])
    model = unnaive.make(key).fit(TABLE.to_dict("records") if mappings else TABLE, "ill")
    assert model.feature_names_in_.tolist() == ["age", "sex"]
    assert np.array_equal(model.predict_proba(features), expected.predict_proba(features))
    model.partial_fit(TABLE.head(4), "ill")
    expected.partial_fit(features.head(4), TABLE["ill"].head(4))
    assert np.array_equal(model.predict_proba(features), expected.predict_proba(features))


def test_declared_classes_are_compared_with_the_named_labels():
    model = unnaive.AutoBayes(candidates=["nb"]).partial_fit(TABLE, "ill", classes=["no", "yes"])
    assert model.classes_.tolist() == ["no", "yes"]
    with pytest.raises(UnnaiveError, match="contain every class"):
        unnaive.AutoBayes().partial_fit(TABLE, "ill", classes=["no", "yes", "unsure"])


def test_a_name_that_is_not_there():
    with pytest.raises(ValueError, match="there is no column 'il'; the columns are 'age', 'ill'"):
        unnaive.TAN().fit(TABLE, "il")
    with pytest.raises(UnnaiveError, match="X has no names; give a label for every row"):
        unnaive.TAN().fit([[1, 2], [3, 4]], "ill")


def test_a_public_name_that_is_not_there_gets_a_suggestion():
    with pytest.raises(AttributeError, match="no attribute 'check'; did you mean 'checks'"):
        _ = unnaive.check
    assert not hasattr(unnaive, "__wrapped__")


def test_checks_evaluation_and_reports_take_the_name_too():
    features, labels = TABLE.drop(columns="ill"), TABLE["ill"]
    assert unnaive.check_data(TABLE, "ill") == unnaive.check_data(features, labels)
    named, given = (
        unnaive.evaluate.cross_validate(unnaive.NaiveBayes(), X, y, folds=2)
        for X, y in ((TABLE, "ill"), (features, labels))
    )
    assert np.array_equal(named.probabilities, given.probabilities)
    model = unnaive.NaiveBayes().fit(TABLE, "ill")
    assert model.report(TABLE, "ill", folds=2).summary["data"]["rows"] == 20
