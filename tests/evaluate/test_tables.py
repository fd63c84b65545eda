"""Results as text, HTML, LaTeX, data frames and pictures."""

from pathlib import Path

import numpy as np
import pytest

import unnaive
from browser import chromium_page
from unnaive.evaluate import compare, compare_many, cross_validate, leave_one_out
from unnaive.evaluate.crossvalidate import possible_folds
from unnaive.exceptions import UnnaiveError


@pytest.fixture(scope="module")
def rows():
    chance = np.random.default_rng(0)
    y = chance.integers(0, 2, 80)
    return np.column_stack([y ^ (chance.random(80) < share) for share in (0.1, 0.3, 0.5)]), y


@pytest.fixture(scope="module")
def one(rows):
    return compare(["nb", "tan"], *rows, folds=4, metrics=["accuracy", "log_loss"])


@pytest.fixture(scope="module")
def many(rows):
    X, y = rows
    return compare_many(["nb", "tan"], {"all": (X, y), "half_1": (X[:40], y[:40])}, folds=2)


def test_an_evaluation_is_short(rows):
    result = cross_validate(unnaive.NaiveBayes(), *rows, folds=4)
    assert repr(result).startswith("Evaluation(80 samples, 2 classes, 4 folds: accuracy 0.")
    assert len(repr(result)) < 120
    assert "leave-one-out" in repr(leave_one_out(unnaive.NaiveBayes(), *rows))
    frame = result.to_frame()
    assert frame.loc["accuracy", "mean"] == result.mean["accuracy"]
    assert frame.loc["accuracy", "std"] == result.std["accuracy"]
    assert f">accuracy</th><td>{result.mean['accuracy']:.3f} ± " in result._repr_html_()
    assert "accuracy & 0." in result.to_latex()


def test_a_comparison_is_short(one):
    assert repr(one).startswith("Comparison(4-fold cross-validation of 80 samples; accuracy: ")
    assert len(repr(one)) < 120
    assert one.to_frame().loc["nb", "accuracy"] == one.mean("accuracy")["nb"]
    best = one.best("accuracy")
    mean, std = one.mean("accuracy")[best], one.std("accuracy")[best]
    assert f"{best} & \\textbf{{{mean:.3f} $\\pm$ {std:.3f}}} & " in one.to_latex()
    assert f"<td><strong>{mean:.3f} ± {std:.3f}</strong>" in one._repr_html_()
    axes = one.plot("log_loss")
    assert axes.get_xlabel().startswith("log loss")


def test_comparisons_are_short(many):
    assert repr(many).startswith(
        "Comparisons(2 data sets: 'all', 'half_1'; mean ranks by accuracy:"
    )
    frame = many.to_frame("log_loss")
    assert frame.loc["all", "tan"] == many.means("log_loss")["tan"][0]
    assert frame.loc["mean rank"].to_dict() == many.friedman("log_loss").ranks
    assert "half\\_1 & " in many.to_latex()
    assert "<caption>accuracy</caption>" in many._repr_html_()
    page = many.to_html("Models")
    assert page.count("<table>") == 4 + 2  # of metrics, and of data sets
    assert page.count("mean ranks by") == page.count("<svg") == 4
    assert f"critical difference {many.nemenyi('accuracy').critical:.2f}" in page
    drawn = [text.get_text() for text in many.plot().texts]
    assert {"nb", "tan"} <= set(drawn)


def test_frames_need_pandas(one, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(UnnaiveError, match="pip install pandas"):
        one.to_frame()


@pytest.mark.parametrize(
    ("sizes", "folds"), [([5, 20], 5), ([1, 20], 10), ([1, 1], 10), ([2, 9], 2)]
)
def test_possible_folds(sizes, folds):
    assert possible_folds(np.repeat(np.arange(2), sizes), 10) == folds


@pytest.mark.long
def test_pages_are_accessible(one, many):
    package = pytest.importorskip("axe_playwright_python")
    axe = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    with chromium_page((700, 900)) as page:
        for scheme, shown in (("light", one), ("dark", many)):
            page.emulate_media(color_scheme=scheme)
            page.set_content(shown.to_html("<Models>"))
            page.evaluate(axe)
            found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
            assert [fault["id"] for fault in found] == []
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 700
