"""Thirty messy CSV files, each with what is wrong with it, and ten clean ones."""

import numpy as np
import pandas as pd
import pytest

import unnaive
from unnaive import checks
from unnaive.exceptions import DataWarning
from unnaive.io.files import read

N = 240


def clean(seed=0):
    """A table without problems: numbers, categories, missing values and a target."""
    rng = np.random.default_rng(seed)
    ill = rng.random(N) < 0.4
    frame = pd.DataFrame(
        {
            "age": (rng.normal(50, 12, N) + 8 * ill).round(),
            "crp": rng.lognormal(1 + ill, 1, N).round(1),
            "smoker": rng.choice(["no", "ex", "yes"], N),
            "ward": rng.choice(["north", "south", "west"], N, p=[0.5, 0.3, 0.2]),
            "children": rng.poisson(1.5, N),
        }
    )
    frame.loc[rng.random(N) < 0.1, "crp"] = np.nan
    return frame.assign(diagnosis=np.where(ill, "ill", "well"))


FRAME = clean()
RNG = np.random.default_rng(1)
ILL = (FRAME.diagnosis == "ill").to_numpy()
WORDS = np.array(
    ["pain", "in", "the", "left", "knee", "since", "a", "week", "with", "fever", "and", "cough"]
)


def some(values, other, n=4):
    """Values of which the first ones are another."""
    return [other] * n + [str(value) for value in values][n:]


def texts():
    return [" ".join(RNG.choice(WORDS, 10)) for _ in range(N)]


def days(form):
    start = pd.Timestamp("2021-03-01")
    return (start + pd.to_timedelta(RNG.integers(0, 400, N), unit="D")).strftime(form)


def german(values):
    return [f"{value:.2f}".replace(".", ",") for value in values]


def spoiled(*names, value=np.nan, rows=4):
    frame = FRAME.astype(object)
    frame.loc[: rows - 1, list(names)] = value
    return frame


MESSY = {
    "row numbers": (FRAME.assign(nr=np.arange(1, N + 1)), checks.IDENTIFIER, "nr"),
    "an index that pandas wrote": (
        FRAME.rename_axis("Unnamed: 0").reset_index(),
        checks.IDENTIFIER,
        "Unnamed: 0",
    ),
    "patient numbers in any order": (
        FRAME.assign(patient=RNG.permutation(N) + 1000),
        checks.IDENTIFIER,
        "patient",
    ),
    "patient codes": (
        FRAME.assign(patient=[f"P-{i:05}" for i in range(N)]),
        checks.IDENTIFIER,
        "patient",
    ),
    "names of people": (
        FRAME.assign(name=[f"Doe{i}, Jane" for i in range(N)]),
        checks.IDENTIFIER,
        "name",
    ),
    "long numbers of insured people": (
        FRAME.assign(insured=RNG.integers(10**8, 10**9, N)),
        checks.IDENTIFIER,
        "insured",
    ),
    "several visits of a patient": (
        FRAME.assign(patient_id=RNG.integers(0, 400, N)),
        checks.IDENTIFIER,
        "patient_id",
    ),
    "a column of notes": (FRAME.assign(notes=texts()), checks.FREE_TEXT, "notes"),
    "the target under another name": (
        FRAME.assign(code=np.where(ILL, "J18", "Z00")),
        checks.LEAKAGE,
        "code",
    ),
    "a therapy that only the ill get": (
        FRAME.assign(therapy=np.where(ILL, RNG.choice(["A", "B"], N), "none")),
        checks.LEAKAGE,
        "therapy",
    ),
    "a date of discharge of the ill only": (
        FRAME.assign(stay=np.where(ILL, RNG.normal(5, 1, N).round(2), np.nan)),
        checks.LEAKAGE,
        "stay",
    ),
    "one hospital only": (FRAME.assign(site="Bern"), checks.CONSTANT, "site"),
    "a mark or nothing": (
        FRAME.assign(flag=np.where(np.arange(N) % 3, "x", None)),
        checks.CONSTANT,
        "flag",
    ),
    "an empty column": (FRAME.assign(empty=np.nan), checks.ALL_MISSING, "empty"),
    "a column that is rarely filled": (
        FRAME.assign(lab=np.where(np.arange(N) % 5, np.nan, RNG.normal(size=N).round(2))),
        checks.MOSTLY_MISSING,
        "lab",
    ),
    "the same column twice": (
        FRAME.assign(crp2=FRAME.crp),
        checks.DUPLICATE_COLUMNS,
        "crp2",
    ),
    "a column and its codes": (
        FRAME.assign(ward_no=FRAME.ward.map({"north": 3, "south": 1, "west": 2})),
        checks.DUPLICATE_COLUMNS,
        "ward_no",
    ),
    "two units": (FRAME.assign(months=FRAME.age * 12), checks.DUPLICATE_COLUMNS, "months"),
    "words among numbers": (
        FRAME.assign(pulse=some(RNG.integers(50, 120, N), "not measured")),
        checks.NUMBERS_AND_WORDS,
        "pulse",
    ),
    "limits of detection": (
        FRAME.assign(troponin=some(RNG.normal(9, 1, N).round(2), "<0.01", 9)),
        checks.NUMBERS_AND_WORDS,
        "troponin",
    ),
    "thousands separators": (
        FRAME.assign(cost=[f"{cost:,}" for cost in RNG.integers(2000, 90_000, N)]),
        checks.SEPARATORS,
        "cost",
    ),
    "decimal commas": (FRAME.assign(ratio=german(RNG.normal(size=N))), checks.SEPARATORS, "ratio"),
    "dates": (FRAME.assign(admitted=days("%Y-%m-%d")), checks.DATES, "admitted"),
    "dates with dots": (FRAME.assign(born=days("%d.%m.%Y")), checks.DATES, "born"),
    "spellings of a category": (
        FRAME.assign(sex=RNG.choice(["f", "m", "F", "M"], N)),
        checks.SPELLINGS,
        "sex",
    ),
    "spellings of the target": (
        spoiled("diagnosis", value="Ill", rows=30),
        checks.SPELLINGS,
        "diagnosis",
    ),
    "rows without a class": (spoiled("diagnosis"), checks.MISSING_TARGET, "diagnosis"),
    "a target that is a measurement": (
        FRAME.assign(diagnosis=RNG.normal(size=N).round(3)),
        checks.CONTINUOUS_TARGET,
        "diagnosis",
    ),
    "a class of few rows": (
        spoiled("diagnosis", value="dead", rows=2),
        checks.RARE_CLASS,
        "diagnosis",
    ),
    "rows that were entered twice": (
        pd.concat([FRAME.assign(x=RNG.normal(size=N), z=RNG.normal(size=N))] * 2)[: N + 40],
        checks.DUPLICATE_ROWS,
        None,
    ),
    "one class only": (FRAME.assign(diagnosis="well"), checks.ONE_CLASS, "diagnosis"),
    "a class for nearly every row": (
        FRAME.assign(diagnosis=[f"D{i % 80}" for i in range(N)]),
        checks.MANY_CLASSES,
        "diagnosis",
    ),
}


@pytest.mark.parametrize("problem", MESSY)
def test_messy_files(problem, tmp_path):
    frame, kind, name = MESSY[problem]
    path = tmp_path / "messy.csv"
    frame.to_csv(path, index=False)
    if kind in {checks.SEPARATORS, checks.NUMBERS_AND_WORDS}:  # our reader makes numbers of these
        with pytest.warns(DataWarning, match=f"column '{name}'"):
            assert unnaive.check_data(read(path), target="diagnosis").findings == ()
        check = unnaive.check_data(pd.read_csv(path), target="diagnosis")
    else:
        check = unnaive.check_data(read(path), target="diagnosis")
    found = [(finding.kind, finding.columns[-1:]) for finding in check.findings]
    assert (kind, (name,) if name else ()) in found, check.text()
    others = {other for other, _ in found} - {kind}
    assert others <= {checks.MOSTLY_MISSING}, check.text()  # of the column with leakage
    is_left_out = kind in {checks.IDENTIFIER, checks.FREE_TEXT}
    assert check.leave_out == ([name] if is_left_out else [])
    for finding in check.findings:
        assert finding.evidence.endswith(".")
        assert finding.cure.endswith(".")


def test_there_are_thirty_and_more():
    assert len(MESSY) >= 30


@pytest.mark.parametrize("seed", range(10))
def test_clean_files(seed, tmp_path):
    clean(seed).to_csv(tmp_path / "clean.csv", index=False)
    check = unnaive.check_data(read(tmp_path / "clean.csv"), target="diagnosis")
    assert check.findings == (), check.text()
