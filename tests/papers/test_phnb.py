"""The PHNB paper's experiment: its preparation, its figures to the last digit, its remarks."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from datafiles import needs_data
from unnaive.datasets import Dataset
from unnaive.exceptions import UnnaiveError
from unnaive.papers import reproduce
from unnaive.papers.phnb import (
    ACCURACY,
    AVERAGE,
    BITS,
    FIRST,
    FOLDS,
    HNB_,
    OPTIMAL,
    PRINTED,
    TIME,
    PHNBExperiment,
    judged,
    prepare,
)
from unnaive.tables.smoothing import MEstimate

MODELS = (HNB_, AVERAGE, OPTIMAL)


def test_what_was_printed():
    line = PRINTED["meat_zernike"]
    assert (line.data, line.rows, line.columns, line.classes) == ("mfeat-zernike", 2000, 48, 10)
    assert line.accuracy == {HNB_: 75.45, AVERAGE: 75.4, OPTIMAL: 75.5}
    assert line.threshold == 0.28
    assert line.ratio(OPTIMAL) == 1.14 / 2.06
    assert [line.name for line in PRINTED.values() if not line.wide] == ["nursery", "sick"]


@pytest.fixture
def toy():
    """A column of numbers, one of labels, and two constants; the class is the first's half."""
    age = [0.0, 1.0, np.nan, 10.0, 30.0, 60.0]
    colour = ["r", "g", "g", None, "b", "b"]
    rows = list(zip(age, colour, ["x"] * 6, [np.nan] * 6, strict=True))
    return Dataset(
        X=np.array(rows, dtype=object),
        y=np.array(["no", "no", "no", "yes", "yes", "yes"]),
        names=("age", "colour", "same", "empty"),
        target="class",
        title="toy",
        categories={"colour": ("r", "g", "b"), "same": ("x", "z")},
        classes=("yes", "no", "never"),
    )


def test_preparation_on_the_whole_set(toy):
    rows = prepare(toy, replace(PRINTED["sick"], columns=3))
    # Bins are (a, b] of width 6, so 0 to 6 is bin 0; the mean of the known ages is 20.2.
    assert rows.X.T.tolist() == [[0, 0, 3, 1, 4, 9], [0, 1, 1, 1, 2, 2]]
    assert rows.y.tolist() == [1, 1, 1, 0, 0, 0]
    assert list(map(len, rows.categories)) == [10, 3]
    assert prepare(toy, replace(PRINTED["sick"], columns=5)).X.shape == (6, 4)


def test_preparation_inside_a_fold_does_not_look_at_the_rest(toy):
    line, train = replace(PRINTED["sick"], columns=3), np.array([0, 1, 2, 3])
    rows = prepare(toy, line, train)
    # Means and edges are of 0, 1 and 10; what lies beyond is in the last bin.
    assert rows.X.T.tolist() == [[0, 0, 3, 9, 9, 9], [0, 1, 1, 1, 2, 2]]
    other = np.array(toy.X)
    other[4:, 0], other[4:, 1] = 1e6, "r"
    assert np.array_equal(prepare(replace(toy, X=other), line, train).X[train], rows.X[train])


def test_in_a_hurry_the_wide_sets_are_left_out():
    assert "Arrhythmia" not in PHNBExperiment(quick=True).chosen
    assert PHNBExperiment(quick=True, only=["Arrhythmia"]).chosen == ["Arrhythmia"]
    assert len(PHNBExperiment().chosen) == 9
    with pytest.raises(UnnaiveError, match="no data set 'weather'; it has nursery, sick"):
        PHNBExperiment(only=["weather"]).units()


def test_units_have_names_and_costs():
    units = PHNBExperiment(runs=2, honest=True).units()
    assert len({unit.key for unit in units}) == len(units) == 9 * 3 * FOLDS
    costs = {unit.key: unit.cost for unit in units}
    assert costs["Arrhythmia, run 1, fold 1"] > 100 * costs["nursery, run 1, fold 1"]
    assert costs["sick, honest, fold 10"] > costs["sick, run 2, fold 10"]


def found(right, seconds=(4.0, 2.0, 1.0), bits=0.25):
    """Results of ten folds of 320 rows."""
    return {
        model: {"right": r, "rows": 320, "seconds": s, "bits": bits}
        for model, r, s in zip(MODELS, right, seconds, strict=True)
    }


def results_of(name, right, honest=None):
    results = {f"{name}, run 1, fold {fold + 1}": found(right) for fold in range(FOLDS)}
    if honest:
        results |= {f"{name}, honest, fold {fold + 1}": found(honest) for fold in range(FOLDS)}
    return results


def test_lines_of_results():
    results = results_of("Kr_vs_kp", (288, 304, 320), (280, 280, 296))
    experiment = PHNBExperiment(runs=1, only=["Kr_vs_kp"], honest=True)
    lines = experiment.lines(results)
    assert [line.metric for line in lines] == [ACCURACY] * 3 + [FIRST] * 3 + [TIME] * 2 + [BITS]
    assert [line.ours for line in lines] == [90, 95, 100, 90, 95, 100, 0.5, 0.25, 0.25]
    assert [line.honest for line in lines] == [87.5, 87.5, 92.5, *[None] * 3, 0.5, 0.25, None]
    assert (lines[0].published, lines[0].tolerance, lines[0].within) == (92.25, None, None)
    assert lines[6].published == 0.16 / 0.17
    assert lines[8].note == "optimal: 0.024, 0.096 times that"
    assert FIRST not in {line.metric for line in replace(experiment, seed=3).lines(results)}


def test_remarks_follow_from_the_lines():
    results = results_of("Kr_vs_kp", (288, 304, 320), (280, 280, 296))
    experiment = PHNBExperiment(runs=1, only=["Kr_vs_kp"], honest=True)
    remarks = experiment.remarks(experiment.lines(results))
    assert remarks[0] == "HNB: a single run says nothing of chance"
    assert "test time is 0.25 to 0.25 of HNB's, the paper's 0.82 to 0.82" in remarks[4]
    assert "as much as the paper on 1 of 1" in remarks[4]
    assert "0.096 (Kr_vs_kp) to 0.096 (Kr_vs_kp) times the average" in remarks[5]
    assert "+0.42 points in the paper; +10.00 points here at the printed" in remarks[6]
    assert "+5.00 points here at the threshold chosen by leave-one-out" in remarks[6]


def test_two_runs_say_what_is_near():
    results = results_of("Kr_vs_kp", (288, 304, 320))
    again = results_of("Kr_vs_kp", (296, 304, 320))
    results |= {key.replace("run 1", "run 2"): value for key, value in again.items()}
    experiment = PHNBExperiment(runs=2, only=["Kr_vs_kp"])
    lines = experiment.lines(results)
    spread = np.std([90.0, 92.5], ddof=1)
    assert lines[0].tolerance == pytest.approx(2 * spread * np.sqrt(1.5) + 0.01)
    assert lines[0].within
    assert (
        experiment.remarks(lines)[0] == "HNB: 1 of 1 differ from the paper by no more than chance"
    )
    far = "PHNB (average): 0 of 1 differ from the paper by no more than chance; not Kr_vs_kp +2.48"
    assert experiment.remarks(lines)[1] == far


def test_the_widest_sets_have_one_run_unless_runs_are_given():
    keys = {unit.key for unit in PHNBExperiment(honest=True).units()}
    assert {"sick, run 3, fold 1", "sick, honest, fold 1", "Arrhythmia, run 1, fold 1"} <= keys
    assert not {"Arrhythmia, run 2, fold 1", "Arrhythmia, honest, fold 1"} & keys


@pytest.mark.long
@needs_data
def test_the_paper_to_the_last_digit():
    experiment = PHNBExperiment(runs=1, only=["nursery", "Kr_vs_kp", "meat_zernike"])
    done = reproduce(experiment, n_jobs=2)
    assert all(abs(line.difference) <= 0.5 for line in done.lines if line.metric == ACCURACY)
    one = {(line.data, line.model): line for line in done.lines if line.metric == FIRST}
    assert all(one["meat_zernike", model].within for model in MODELS)
    assert one["meat_zernike", HNB_].ours == 75.45
    assert one["Kr_vs_kp", AVERAGE].within
    assert one["Kr_vs_kp", OPTIMAL].within
    assert one["nursery", OPTIMAL].within
    remarks = "\n".join(done.remarks)
    assert "6 of 9 printed accuracies equal to the last digit those of a single run" in remarks
    assert "nursery: the paper's figures of HNB and PHNB (average) are exchanged" in remarks


@needs_data
def test_the_misprint_of_sick():
    experiment, line = PHNBExperiment(), replace(PRINTED["sick"], threshold=0.0138)
    rows = prepare(experiment.data("sick"), line)
    assert rows.X.shape == (line.rows, line.columns - 1)
    right = 0
    for fold in range(FOLDS):
        split = experiment._fold(rows.y, 0, fold)
        right += judged(line, rows, split, smoothing=MEstimate(1.0))[OPTIMAL]["right"]
    assert 0 <= 100 * right / line.rows - line.accuracy[OPTIMAL] < 0.01


@pytest.mark.long
@needs_data
def test_honest_figures_and_what_is_resumed(tmp_path):
    store = tmp_path / "runs.jsonl"
    reproduce(PHNBExperiment(quick=True, only=["sick"]), store=store)
    done = reproduce(PHNBExperiment(quick=True, honest=True, only=["sick"]), store=store, n_jobs=2)
    assert done.resumed == FOLDS
    honest = {line.metric: line.honest for line in done.lines if line.model == OPTIMAL}
    assert 96 < honest[ACCURACY] < 99
    assert honest[TIME] > 0


def test_the_benchmark_reads_the_same_figures(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    benchmark = importlib.import_module("benchmarks.phnb")
    assert tuple(PHNBExperiment.names.values()) == benchmark.NAMES
    assert tuple(PRINTED.values()) == benchmark.LINES
    assert callable(benchmark.paper.data_folder)
