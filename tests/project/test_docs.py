"""The documentation speaks of every model, and what it claims is so."""

from __future__ import annotations

import re
import shlex
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import unnaive
from unnaive.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if page.relative_to(DOCS).parts[0] not in {"api", "gallery", "results"}
)
KEYS = list(unnaive.all_models())
VALUES = {  # one of every bin, and all labels, of some columns
    "age": [40, 70],
    "smoker": ["ex", "no", "yes"],
    "fever": ["high", "low", "no"],
    "cough": ["mild", "none", "severe"],
}
NUMBERS_ONLY = {"full-bayes", "k-naive"}
DENSITIES = {"gaussian-nb", "gaussian-tan", "gaussian-kdb"}


def table_under(heading: str) -> dict[str, dict[str, str]]:
    """Read a table of models: for every key its cells by the names of the columns."""
    text = (DOCS / "choosing-a-model.md").read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line] for line in lines]
    found = [dict(zip(head, row, strict=True)) for row in rows]
    return {re.search(r"`([^`]+)`", row["key"])[1]: row for row in found}


def test_every_model_is_in_the_tables():
    text = (DOCS / "choosing-a-model.md").read_text().split("## Families\n")[1].split("\n## ")[0]
    assert sorted(re.findall(r"`([\w-]+)`", text)) == sorted(KEYS)
    assert list(table_under("All models")) == KEYS
    assert list(table_under("What each can do")) == KEYS


def test_families_have_the_words_of_the_register():
    text = (DOCS / "choosing-a-model.md").read_text().split("## Families\n")[1].split("\n## ")[0]
    lines = [line.split("|") for line in text.splitlines() if line.startswith("| [")]
    told = {
        key: re.search(r"\[(.+?)\]", line[1])[1]
        for line in lines
        for key in re.findall(r"`([\w-]+)`", line[3])
    }
    assert told == {key: type(unnaive.make(key)).family for key in KEYS}


@pytest.mark.parametrize("key", KEYS)
def test_every_model_has_a_section(key):
    cell = table_under("All models")[key]["key"]
    link = re.search(r"\((models/[\w-]+\.md)#(model-[\w-]+)\)", cell)
    page = (DOCS / link[1]).read_text()
    assert link[2] == f"model-{key}"
    section = page.split(f"(model-{key})=\n")[1].split("\n(model-")[0]
    assert section.startswith(f"## `{key}`: ")
    assert "**Reference" in section or "**reference" in section
    assert "```python\n>>> " in section
    assert "$$" in section or "$$" in page.split("(model-")[0]
    name = type(unnaive.make(key)).__name__
    assert f"{{py:class}}`unnaive.{name}`" in section


@pytest.fixture(name="fitted", scope="module")
def _fitted():
    patients = pd.read_csv(ROOT / "examples" / "patients.csv")
    X, y = patients.drop(columns="pneumonia"), patients["pneumonia"]

    @cache
    def fit(key):
        rows = X[["age", "saturation"]] if key in NUMBERS_ONLY else X
        model = unnaive.make(key)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return model.fit(rows, y)

    return fit, X, unnaive.count(X, y)


@pytest.mark.parametrize("key", KEYS)
def test_what_each_can_do(fitted, key):
    fit, _, counts = fitted
    model, claimed = fit(key), table_under("What each can do")[key]
    found = {
        "counts": can(lambda: unnaive.make(key).fit_counts(counts)),
        "leave-one-out": hasattr(model, "loo_predict_proba"),
        "network": hasattr(model, "to_network") and can(model.to_network),
    }
    assert {name: claimed[name] == "yes" for name in found} == found
    assert all(claimed[name] in {"yes", "no"} for name in found)
    assert hasattr(model, "partial_fit")
    assert hasattr(model, "forget")


def can(attempt):
    try:
        attempt()
    except (ValueError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("key", [k for k in KEYS if k not in NUMBERS_ONLY | DENSITIES])
def test_gaps_are_exact_where_the_table_says_so(fitted, key):
    """A row with a gap has the sum of what the row has with each value there."""
    fit, X, _ = fitted
    model, whole = fit(key), X.dropna()[:3]
    differences = []
    for column, labels in VALUES.items():
        filled = [model.predict_joint_log_proba(whole.assign(**{column: v})) for v in labels]
        summed = np.exp(np.logaddexp.reduce(filled))
        gap = model.predict_proba(whole.assign(**{column: None}))
        differences.append(np.abs(summed / summed.sum(axis=1, keepdims=True) - gap).max())
    claimed = table_under("What each can do")[key]["missing values"]
    assert (max(differences) < 1e-9) == (claimed == "exact")


def commands(page):
    """Console lines of a page that this library answers."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
    return [
        line[2:] for block in blocks for line in block.splitlines() if line[2:].startswith("unn")
    ]


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda page: page.stem)
def test_commands_of_a_page_work(page, tmp_path, monkeypatch):
    shutil.copy(ROOT / "examples" / "patients.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    for line in commands(page):
        if line == "unnaive demo":  # tries all models, and has tests of its own
            continue
        done = CliRunner().invoke(app, shlex.split(line)[1:])
        assert done.exit_code == 0, (line, done.output)


@pytest.mark.filterwarnings("ignore")  # those of dask are not ours
def test_the_code_for_dask_works(tmp_path, monkeypatch):
    pytest.importorskip("dask.dataframe")
    monkeypatch.chdir(tmp_path)
    Path("visits").mkdir()
    patients = pd.read_csv(ROOT / "examples" / "patients.csv")
    for part in range(3):
        patients[part::3].to_parquet(f"visits/{part}.parquet")
    code = re.search(r"```python\n(.*?)```", (DOCS / "recipes" / "dask.md").read_text(), re.DOTALL)
    names = {}
    exec(code[1], names)
    assert names["counts"].total == len(patients)
    assert list(names["chances"].columns) == ["no", "yes"]
    assert names["answers"].compute().isin(["no", "yes"]).all()


def test_the_patients_are_those_of_the_script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    from make_patients import make_patients  # noqa: PLC0415 - a script, no module of ours

    made = pd.DataFrame(make_patients())
    made = made.where(made.notna(), np.nan)
    stored = pd.read_csv(ROOT / "examples" / "patients.csv")
    pd.testing.assert_frame_equal(made, stored, check_dtype=False)


def test_cited_sections_are_there():
    """Code and tests cite sections of one page, as in "Mathematics 0.4, 0.8"."""
    page = (DOCS / "mathematics.md").read_text()
    sections = set(re.findall(r"^#+ (\d+(?:\.\d+)?) ", page, re.MULTILINE))
    number, between = r"\d+(?:\.\d+)?", r"(?:, | and | to )"
    for place in ("src", "tests", "benchmarks"):
        for path in (ROOT / place).rglob("*.py"):
            cited = re.findall(rf"Mathematics ({number}(?:{between}{number})*)", path.read_text())
            assert set(re.findall(number, " ".join(cited))) <= sections, path


LINKING = [*PAGES, *ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"]


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_files(page):
    """Links between pages are relative, so that they work on a code host and in the built site."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, anchor = link.partition("#")
        if re.match(r"https?:", link) or target.startswith(("gallery/", "../gallery/", "figures/")):
            continue  # those of the gallery and of figures are made by the build
        if target.startswith(("../figures/", "../api/")):
            continue
        aim = (page.parent / target) if target else page
        assert aim.exists(), link
        if anchor and aim.suffix == ".md" and not anchor.startswith("model-"):
            titles = re.findall(r"^#+ (.*)$", aim.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in slugs, link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_code_ends_before_its_fence(page):
    """An example's output goes on to the next empty line, so to a fence that has none before."""
    lines = page.read_text().splitlines()
    fences = [number for number, line in enumerate(lines) if line.startswith("```")]
    for start, stop in zip(fences[::2], fences[1::2], strict=True):
        if any(line.startswith(">>> ") for line in lines[start:stop]):
            assert not lines[stop - 1].strip(), (page, stop)
