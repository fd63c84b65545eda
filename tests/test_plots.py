"""Pictures: drawn where asked, with what the model saw."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from problems import made
from unnaive import PHNB
from unnaive.explain import plot_threshold_path


def test_the_path_of_thresholds():
    problem = made(80, [3, 2, 4, 3], 2, gaps=0.1)
    model = PHNB(threshold="loo").fit(problem.X, problem.classes)
    ax = Figure().subplots()
    assert plot_threshold_path(model, ax) is ax
    line = ax.get_lines()[0]
    assert np.array_equal(line.get_ydata(), model.threshold_path_["log_loss"])
    drawn = ax.get_lines()[1].get_xdata()[0]
    assert drawn == model.structure_.members.sum()
    with pytest.raises(ValueError, match='fit the model with threshold="loo"'):
        plot_threshold_path(PHNB().fit(problem.X, problem.classes))
