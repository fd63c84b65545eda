"""What explanations are good for: words, frames, what if, what to ask next, what matters."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import naive
import naive_explain as slow
import unnaive
from problems import made
from tests.explain.test_explanation import MODELS, fitted, joint_of
from unnaive import AODE, ATAN, TAN, NaiveBayes
from unnaive.cli.app import app
from unnaive.datasets import load_wdbc
from unnaive.exceptions import UnnaiveError
from unnaive.explain import ask_next, importance, what_if
from unnaive.explain.wording import signed, times


def test_whose_odds():
    problem = made(90, [3, 2, 4], 3, seed=2)
    model = fitted("nb", problem.X, problem.classes)
    found = model.explain(problem.X)
    odds = found.log_odds()
    assert odds.positive == model.predict(problem.X).tolist()
    assert odds.probability == pytest.approx(model.predict_proba(problem.X).max(axis=1))
    own = found.log_odds(problem.classes)
    assert own.positive == problem.classes
    with pytest.raises(ValueError, match="positive: 7 is not a class; pass one of"):
        found.log_odds(7)
    with pytest.raises(ValueError, match="positive: 2 labels"):
        found.log_odds([0, 1])
    with pytest.raises(ValueError, match="by='row'"):
        found.log_odds(by="row")
    with pytest.raises(ValueError, match="row=90; there are 90 rows"):
        found.text(90)


PATIENTS = pd.DataFrame(
    {
        "age": [34.5, 71, None, 66, 25, 58, 47, 69],
        "smoker": ["no", "yes", "yes", None, "no", "yes", "no", "ex"],
        "cough": [False, True, True, True, False, None, False, True],
    }
)
ILL = pd.Series(["no", "yes", "yes", "yes", "no", "yes", "no", "yes"], name="ill")


def test_words():
    model = TAN().fit(PATIENTS, ILL)
    new = pd.DataFrame({"age": [70.0], "smoker": ["pipe"], "cough": [True]})
    text = model.explain(new).text()
    assert text.splitlines()[0] == "ill = yes: 90.9 % (starting probability 60 %)"
    assert "age = 70 (> 52.5)" in text
    assert "cough = True, given age = 70 (> 52.5)" in text
    assert "treated as missing: smoker = pipe (unseen category)" in text
    against = model.explain(new).text(positive="no")
    assert against.splitlines()[0].startswith("ill = no: 9.1 %")
    assert "against no" in against


def test_words_say_how_many_are_left_out():
    data = load_wdbc()
    found = NaiveBayes().fit(data.X, data.y).explain(data.X[:1])
    odds = found.log_odds()
    lines = found.text(most=3).splitlines()
    rest = [line for line in lines if "weaker columns together" in line]
    assert len(rest) == 1
    strong = sorted(odds.contributions[0].tolist(), key=abs)[-3:]
    assert all(f"{value:+.2f}" in found.text(most=3) for value in strong)
    assert len(lines) < 10


def test_a_long_frame():
    model = AODE().fit(PATIENTS, ILL)
    found = model.explain(PATIENTS)
    frame = found.to_frame()
    assert list(frame) == ["row", "class", "columns", "through", "value", "contribution"]
    total = frame.groupby("row")["contribution"].sum()
    np.testing.assert_allclose(total, found.log_odds().total, atol=1e-10)
    line = frame[(frame["row"] == 1) & (frame["columns"] == "age") & (frame["through"] == "smoker")]
    assert line["value"].tolist() == ["71 (> 52.5)"]


def test_after_set_params_what_was_fitted_is_explained():
    model = TAN().fit(PATIENTS, ILL)
    before = model.explain(PATIENTS).joint
    model.set_params(smoothing="ml")
    assert np.array_equal(model.explain(PATIENTS).joint, before)


# What if, what next, what matters


@pytest.mark.parametrize("key", ["nb", "tan", "aode", "hnb", "bsej", "kdb"])
def test_the_smallest_change_is_that_of_brute_force(key):
    for k in (2, 3):
        problem = made(150, [3, 2, 4, 3], k, seed=11)
        y = np.array(problem.classes)
        y[problem.X[:, 0] + problem.X[:, 3] > 2] = 0
        model = fitted(key, problem.X, y)

        def posterior(row, model=model):
            cells = np.array([[np.nan if x is None else float(x) for x in row]])
            return model.predict_proba(cells)[0].tolist()

        for row in made(6, [3, 2, 4, 3], k, gaps=0.1, seed=5).rows:
            expected = slow.smallest_change(posterior, problem.values, row, 3)
            found = what_if(model, [np.nan if x is None else float(x) for x in row])
            assert found.complete
            if expected is None:
                assert found.changes == ()
                assert "stays" in found.text()
                continue
            assert len(found.changes) == expected[1]
            assert found.probability == pytest.approx(expected[0])
            changed = {f"x{i}": None if x is None else float(x) for i, x in enumerate(row)}
            changed.update({change.column: float(change.instead) for change in found.changes})
            assert model.predict([[changed[f"x{i}"] for i in range(4)]])[0] == found.instead


def test_what_cannot_change_and_where_to():
    problem = made(150, [3, 2, 4, 3], 3, seed=11)
    y = problem.X[:, 0].astype(int)
    model = fitted("tan", problem.X, y)
    row = problem.X[:1]
    other = next(c for c in range(3) if c != model.predict(row)[0])
    found = what_if(model, row, to=other)
    assert found.instead == other
    assert [change.column for change in found.changes] == ["x0"]
    assert what_if(model, row, fixed=["x0", 1, 2, 3]).changes == ()
    with pytest.raises(ValueError, match="to=9 is not a class"):
        what_if(model, row, to=9)
    with pytest.raises(ValueError, match="is already the decision"):
        what_if(model, row, to=int(model.predict(row)[0]))
    with pytest.raises(UnnaiveError, match="fixed names 'sex'"):
        what_if(model, row, fixed="sex")
    with pytest.raises(UnnaiveError, match="there are 150 rows; pass one"):
        what_if(model, problem.X)
    with pytest.raises(UnnaiveError, match="there is no column 'sex'"):
        what_if(model, {"sex": 1})


def test_a_search_that_is_cut_off_says_so(monkeypatch):
    monkeypatch.setattr("unnaive.explain.changes._MOST_ROWS", 10)
    data = load_wdbc()
    found = what_if(TAN().fit(data.X[:, :8], data.y), data.X[:1, :8])
    assert not found.complete
    assert found.tried == 10
    assert "stopped after 10 rows" in found.text()


def test_numbers_may_change_too():
    data = load_wdbc()
    model = unnaive.GaussianNaiveBayes().fit(data.X[:, :3], data.y)
    row = data.X[20:21, :3]
    found = what_if(model, row, at_most=2)
    changed = {f"x{i}": float(value) for i, value in enumerate(row[0])}
    changed.update({change.column: float(change.instead) for change in found.changes})
    assert model.predict([list(changed.values())])[0] == found.instead != found.decision


@pytest.mark.parametrize("key", ["nb", "tan", "aode", "kdb", "bayesnet", "gnb-o"])
def test_what_to_ask_next_is_what_the_twin_expects(key):
    problem = made(200, [3, 2, 4, 3], 3, seed=8)
    y = (problem.X[:, 0] + problem.X[:, 1] * (problem.X[:, 2] > 1)).astype(int) % 3
    model = fitted(key, problem.X, y)
    for row in made(5, [3, 2, 4, 3], 3, gaps=0.5, seed=4).rows:
        found = ask_next(model, {f"x{i}": x for i, x in enumerate(row)})
        missing = [i for i, x in enumerate(row) if x is None]
        assert sorted(question.column for question in found) == [f"x{i}" for i in missing]
        bits = [question.information for question in found]
        assert bits == sorted(bits, reverse=True)
        for question in found:
            i = int(question.column[1:])
            expected = slow.expected_information(joint_of(model), problem.values, row, i)
            assert question.information == pytest.approx(expected, abs=1e-9)
            assert sum(answer.probability for answer in question.answers) == pytest.approx(1.0)


def test_averaged_posteriors_weigh_answers_by_how_probable_they_are():
    problem = made(300, [3, 2, 4], 2, seed=1)
    X = problem.X
    X[:250, 0] = 0
    model = ATAN(discretize=None).fit(X, problem.classes)
    answers = next(q for q in ask_next(model, {}) if q.column == "x0").answers
    shares = [answer.probability for answer in answers]
    np.testing.assert_allclose(shares, np.bincount(X[:, 0].astype(int)) / 300, atol=0.03)


def test_what_to_ask_of_numbers_is_the_integral():
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 300)
    X = random.normal(size=(300, 2)) @ np.array([[1.0, 0.6], [0.0, 1.0]]) + y[:, None] * [1.0, 0.5]
    for model in (unnaive.GaussianNaiveBayes(), unnaive.GaussianTAN(), unnaive.FullBayes()):
        model.fit(X, y)
        (question,) = ask_next(model, [0.3, np.nan])
        grid = np.linspace(-8, 9, 4001)
        joint = model.predict_joint_log_proba(np.column_stack([np.full(4001, 0.3), grid]))
        chances = np.exp(joint).sum(axis=1)
        posterior = model.predict_proba(np.column_stack([np.full(4001, 0.3), grid]))
        after = -(posterior * np.log(np.maximum(posterior, 1e-300))).sum(axis=1)
        before = slow.entropy(model.predict_proba([[0.3, np.nan]])[0])
        expected = (before - (chances * after).sum() / chances.sum()) / np.log(2)
        assert question.information == pytest.approx(expected, abs=1e-5)
    assert ask_next(model, X[:1]) == []


def test_a_blend_is_asked_for_numbers_in_the_bins_of_a_member():
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 300)
    X = random.normal(size=(300, 2)) + y[:, None] * [2.0, 0.5]
    for members in (["gaussian-nb", "nb"], ["gaussian-nb", "full-bayes"]):
        model = unnaive.AutoBayes(candidates=members).fit(X, y)
        found = ask_next(model, {})
        assert [question.column for question in found] == ["x0", "x1"]
        weights = np.array([answer.probability for answer in found[0].answers])
        after = np.array([answer.posterior for answer in found[0].answers])
        np.testing.assert_allclose(weights.sum(), 1.0)
        then = sum(w * slow.entropy(line) for w, line in zip(weights, after, strict=True))
        now = slow.entropy(model.predict_proba([[np.nan, np.nan]])[0])
        assert found[0].information == pytest.approx((now - then) / np.log(2))
        assert found[0].information > 0.3
        assert what_if(model, X[:1]).instead != model.predict(X[:1])[0]


@pytest.mark.parametrize("key", MODELS)
def test_importance_of_every_model(key):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    X = np.column_stack([y ^ (random.random(200) < 0.1), random.integers(0, 3, 200)]).astype(float)
    model = fitted(key, X, y)
    for found in (importance(model), importance(model, X), importance(model, X, y)):
        assert found.ranked[0][0] == "x0"
        assert found.values.shape == (2,)
    odds = model.explain(X).log_odds()
    np.testing.assert_allclose(importance(model, X).values, np.abs(odds.contributions).mean(axis=0))


def test_importance_of_categories_beside_numbers():
    X = [[number, label] for number in (1.0, 2.0, 3.5) for label in ("a", "b")] * 4
    y = [label for _, label in X]
    mixed = importance(unnaive.GaussianNaiveBayes().fit(X, y)).values
    np.testing.assert_allclose(mixed, [0.0, 1.0], atol=1e-9)


def test_importance_of_what():
    problem = made(50, [3, 2], 2)
    model = fitted("nb", problem.X, problem.classes)
    bits = [naive.mutual_information(*problem.data, i) / np.log(2) for i in range(2)]
    np.testing.assert_allclose(importance(model).values, bits, atol=1e-12)
    with pytest.raises(ValueError, match="y without X"):
        importance(model, y=problem.classes)
    with pytest.raises(ValueError, match="50 rows and 3 labels"):
        importance(model, problem.X, problem.classes[:3])
    with pytest.raises(UnnaiveError, match="the label 5 in row 0, which is not one of the classes"):
        importance(model, problem.X, [5] * 50)


def test_rows_that_would_not_fit_in_memory_are_refused():
    problem = made(4000, [2] * 12, 2)
    model = fitted("a2de", problem.X[:200], problem.classes[:200], max_memory=2**22)
    with pytest.raises(UnnaiveError, match=r"explaining 4,000 rows .* explain fewer rows"):
        model.explain(problem.X)


def test_one_row_however_it_is_given():
    model = TAN().fit(PATIENTS, ILL)
    asked = [
        [(q.column, round(q.information, 12)) for q in ask_next(model, row)]
        for row in (
            {"age": 70.0, "cough": True},
            [70.0, None, True],
            [[70.0, None, True]],
            pd.DataFrame({"age": [70.0], "smoker": [None], "cough": [True]}),
        )
    ]
    assert all(found == asked[0] for found in asked)
    assert [column for column, _ in asked[0]] == ["smoker"]


# The command


@pytest.fixture
def files(tmp_path):
    rows = PATIENTS.assign(id=range(8), ill=ILL)
    rows.to_csv(tmp_path / "patients.csv", index=False)
    TAN().fit(PATIENTS.astype({"cough": "string"}), ILL).save(tmp_path / "model.unb")
    return tmp_path / "model.unb", tmp_path / "patients.csv"


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["explain", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def test_the_command_says_what_the_library_says(files):
    model = unnaive.load(files[0])
    rows = PATIENTS.astype({"cough": "string"})
    found = run(*files, "--row", 2, "--row", 4, "--what-if", "--ask")
    explained = model.explain(rows)
    assert explained.text(1) in found.stdout
    assert explained.text(3) in found.stdout
    assert what_if(model, rows[1:2]).text() in found.stdout
    assert "what to ask next\nno column is missing" in found.stdout
    assert "smoker: " in found.stdout.split("row 4")[1]
    assert "note: not used, because the model does not know them: 'id', 'ill'" in found.stderr


def test_the_first_row_and_whose_odds(files):
    found = run(*files, "--positive", "no")
    assert found.stdout.startswith("row 1\nill = no: ")
    assert "note: the first of 8 rows; --row 2 explains the second" in found.stderr


def test_the_command_for_programs(files):
    model = unnaive.load(files[0])
    found = json.loads(run(*files, "--row", 4, "--what-if", "--ask", "--json").stdout)
    (row,) = found["rows"]
    assert (found["target"], found["classes"], row["row"]) == ("ill", ["no", "yes"], 4)
    rows = PATIENTS.astype({"cough": "string"})[3:4]
    assert row["probabilities"] == pytest.approx(model.predict_proba(rows)[0].tolist())
    total = row["base"] + sum(part["contribution"] for part in row["contributions"])
    assert total == pytest.approx(row["log_odds"])
    assert [part["value"] for part in row["contributions"]][:2] == ["66 (> 52.5)", "missing"]
    assert [question["column"] for question in row["ask"]] == ["smoker"]
    assert row["what_if"]["instead"] == "no"


def test_the_command_fails_in_one_line(files):
    wrong = {("--row", 9): "8 rows; there is no row 9", ("--positive", "maybe"): "they are no, yes"}
    for arguments, message in wrong.items():
        result = run(*files, *arguments, code=1)
        assert result.stderr.splitlines()[-1].startswith("error: ")
        assert message in result.stderr
    assert run(*files, "--row", 0, code=2)


# In notebooks


def test_what_is_returned_is_short_and_has_a_table():
    model = TAN().fit(PATIENTS, ILL)
    found = model.explain(PATIENTS)
    assert repr(found) == "Explanation(8 rows, 3 columns, ill in ['no', 'yes'])"
    shown = found._repr_html_()
    assert shown.count("<table>") == 3
    assert "5 more rows" in shown
    assert found.text(0).splitlines()[0] in shown
    assert len(repr(found.log_odds())) < 80
    assert repr(importance(model)).startswith("Importance(")
    assert "<table>" in importance(model)._repr_html_()
    assert repr(what_if(model, PATIENTS[1:2])).startswith("WhatIf('yes' → 'no'; ")
    assert all(len(repr(question)) < 60 for question in ask_next(model, {}))


def test_names_are_escaped_in_notebooks():
    X = pd.DataFrame({"<b>": ["u", "v"] * 6})
    shown = NaiveBayes().fit(X, ["no", "yes"] * 6).explain(X[:1])._repr_html_()
    assert "&lt;b&gt; = u" in shown
    assert "<b>" not in shown


def test_figures_agree():
    for value in np.linspace(-0.3, 0.3, 601):
        if signed(value) == "0.00":
            assert abs(value) < 0.005
        else:
            assert times(value).split()[-1] not in {"1", "1.0", "1.00"}
    assert signed(-0.001) == "0.00"
