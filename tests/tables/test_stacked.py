"""Tables that are looked up at once answer as each of them alone does."""

import numpy as np
import pytest

from problems import made
from unnaive import KDB, TAN
from unnaive.counts import cells
from unnaive.tables.families import FamilyTables
from unnaive.tables.stacked import Stacked, StackedFamilies, StackedTrees, stacked


@pytest.mark.parametrize("gaps", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("dense", [1 << 18, 1])
@pytest.mark.parametrize("model", [TAN, KDB])
def test_together_as_alone(model, dense, gaps, monkeypatch):
    """Rows with and without missing values, and families held by the cells that occurred."""
    monkeypatch.setattr(cells, "DENSE_CELLS", dense)
    problem, asked = made(80, [2, 3, 4, 3], 2, seed=1), made(30, [2, 3, 4, 3], 2, gaps, seed=2)
    options = {"discretize": None, "missing": "drop"}
    options["categories"] = [range(v) for v in problem.values]
    members = tuple(
        model(smoothing=smoothing, **options).fit(problem.X, problem.classes).fitted_.tables
        for smoothing in ("laplace", "m-estimate")
    )
    codes = asked.coded().codes
    together = stacked(members)
    assert type(together) in {StackedTrees, StackedFamilies}
    if isinstance(members[0], FamilyTables):
        assert bool(members[0].wide) == (dense == 1)
    np.testing.assert_allclose(
        together.joint(codes, 2), Stacked(members).joint(codes), rtol=1e-12, atol=1e-12
    )
