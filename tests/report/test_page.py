"""The report in a browser: quiet, alone, readable by all, and its explorer equal to Python."""

import math
import re
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unnaive
from browser import chromium_page, watch
from tests.report.test_report import HOSTILE, mixed
from unnaive import report
from unnaive.datasets import load_wdbc
from unnaive.explain import ask_next
from unnaive.explain.cells import one_row
from unnaive.explain.order import shown_order
from unnaive.schema import NumericColumn

pytestmark = pytest.mark.long

PHONE = (360, 800)
CASES = ("auto", "tan", "aode", "gaussian-nb", "bsej", "nasty", "many classes")


def case(name):
    """Rows, a model of them, and the page's settings."""
    if name in unnaive.all_models():
        X, y = mixed(160)
        return unnaive.make(name).fit(X, y), X, y
    X, y = HOSTILE[{"nasty": "nasty names", "many classes": "40 classes"}[name]]
    return unnaive.NaiveBayes().fit(X, y), X, y


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages by name, each with its model and rows."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name in CASES:
        model, X, y = case(name)
        path = folder / f"{name.replace(' ', '-')}.html"
        summary = report.write(model, X, y, path, folds=3, name="patients.csv")
        found[name] = (path, model, X, summary)
    return found


@pytest.fixture(scope="module")
def browsers():
    """Open a browser once for every size and colour scheme that is asked for."""
    with ExitStack() as stack:
        yield _Browsers(stack)


class _Browsers:
    def __init__(self, stack):
        self.stack = stack
        self.first = None

    def open(self, path, size=(1280, 900), **context):
        """Return a page that has loaded, and what it said and asked for."""
        if self.first is None:
            self.first = self.stack.enter_context(chromium_page())
        viewport = {"width": size[0], "height": size[1]}
        page = self.first.context.browser.new_context(viewport=viewport, **context).new_page()
        watched = watch(page)
        page.goto(path.as_uri())
        page.locator("#next li").first.wait_for()  # the policy forbids wait_for_function's eval
        return page, watched


@pytest.mark.parametrize("name", CASES)
def test_a_page_is_quiet_and_alone(name, pages, browsers):
    path = pages[name][0]
    page, watched = browsers.open(path, PHONE)
    page.on("dialog", lambda dialog: watched.errors.append(dialog.message))
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    page.locator("[data-load-row]").first.click()
    page.wait_for_timeout(50)
    assert watched.errors == []
    assert watched.requests == [path.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, (1280, 900)], ids=["phone", "desktop"])
@pytest.mark.parametrize("name", ["tan", "nasty"])
def test_accessible_to_all(name, size, scheme, pages, browsers):
    package = pytest.importorskip(
        "axe_playwright_python", reason="pip install axe-playwright-python"
    )
    axe = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    page, _ = browsers.open(pages[name][0], size, color_scheme=scheme)
    page.locator("[data-load-row]").first.click()
    for one in page.locator("details").all()[:12]:
        one.evaluate("(element) => (element.open = true)")
    page.evaluate(axe)
    faults = [
        (fault["id"], fault["impact"], fault["nodes"][0]["html"])
        for fault in page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        if fault["impact"] in {"serious", "critical"}
    ]
    assert faults == []
    page.context.close()


def posterior(page):
    """Probabilities that the page shows, by class, and the texts beside them."""
    lines = page.locator("#posterior tr[data-class]").all()
    return {
        int(line.get_attribute("data-class")): (
            float(line.get_attribute("data-probability")),
            line.locator("td.n").inner_text().split("\n")[0],
        )
        for line in lines
    }


def intervals(page):
    """Ends of the intervals that the page shows, by class."""
    lines = page.locator("#posterior tr[data-lower]").all()
    names = ("data-class", "data-lower", "data-upper")
    found = [[float(line.get_attribute(name)) for name in names] for line in lines]
    return {int(code): (low, high) for code, low, high in found}


def set_field(page, column, known, cell):
    """Set a field to a cell (None: unknown), as a hand on a mouse or a keyboard would."""
    field = page.locator(f'.field[data-column="{column}"]')
    if cell is None:
        if field.locator("select").count():
            field.locator("select").select_option(value="")
        else:
            field.locator("input").fill("")
    elif isinstance(known, NumericColumn):
        field.locator("input").fill(repr(cell))
    else:
        order = shown_order([known.label(code) for code in range(known.size)])
        place = order.index(known.categories.index(cell)) + 1
        field.locator("select").select_option(index=place)


def random_cells(X, random):
    """Some cells of some row, others unknown."""
    row = X.iloc[int(random.integers(len(X)))]
    cells = []
    for value in row:
        gap = pd.isna(value) or random.random() < 0.3
        cells.append(None if gap else value.item() if hasattr(value, "item") else value)
    return cells


def answer_of(model, X, cells):
    """What Python answers to cells, None where they are unknown."""
    frame = pd.DataFrame([cells], columns=X.columns)
    for name, kind in X.dtypes.items():
        frame[name] = frame[name].astype(float if kind.kind in "if" else object)
    return frame, model.predict_proba(frame)[0]


@pytest.mark.parametrize("name", CASES)
def test_the_explorer_answers_as_python_does(name, pages, browsers):
    path, model, X, _ = pages[name]
    page, watched = browsers.open(path)
    random = np.random.default_rng(5)
    for _ in range(12):
        cells = random_cells(X, random)
        for column, known in enumerate(model.schema_.columns):
            set_field(page, column, known, cells[column])
        frame, wanted = answer_of(model, X, cells)
        shown = posterior(page)
        if page.locator("#posterior tr[data-lower]").count():
            bounds = model.predict_interval(frame, method="delta")
            for code, found in intervals(page).items():
                expected = (bounds.lower[0, code], bounds.upper[0, code])
                assert found == pytest.approx(expected, abs=1e-9)
        assert len(shown) == (7 if len(wanted) > 8 else len(wanted))
        for code, (chance, text) in shown.items():
            assert chance == pytest.approx(wanted[code], abs=1e-9)
            if 0.0005 < chance < 0.9995:
                assert abs(float(text.rstrip("%")) - 100 * wanted[code]) <= 0.051
    assert watched.errors == []
    page.context.close()


@pytest.mark.parametrize("blend", [False, True], ids=["nb", "blend"])
def test_missing_values_as_a_category_can_be_chosen(blend, tmp_path, browsers):
    X, y = mixed(160)
    kinds = {"a": unnaive.NaiveBayes(discretize="quantile"), "b": unnaive.TAN()}
    plain = unnaive.AutoBayes(candidates=kinds) if blend else unnaive.NaiveBayes()
    model = plain.set_params(missing_as_category=True).fit(X, y)
    path = tmp_path / "missing.html"
    report.write(model, X, y, path, folds=2)
    page, watched = browsers.open(path)
    given = {}
    for name, value, text in [("age", None, "age missing"), ("smoker", None, "smoker missing")]:
        given[name] = value
        field = page.locator(f'.field[data-column="{list(X.columns).index(name)}"]')
        field.locator("select").select_option(label="missing")
        wanted = model.predict_proba(one_row(model, given))[0]
        shown = [chance for chance, _ in posterior(page).values()]
        assert shown == pytest.approx(wanted.tolist(), abs=1e-9)
        assert text in page.locator("#why").inner_text()
    age = page.locator(f'.field[data-column="{list(X.columns).index("age")}"]')
    age.locator("input").fill("61")
    wanted = model.predict_proba(one_row(model, {"age": 61.0, "smoker": None}))[0]
    shown = [chance for chance, _ in posterior(page).values()]
    assert shown == pytest.approx(wanted.tolist(), abs=1e-9)
    age.locator("select").select_option(label="unknown")
    assert age.locator("input").input_value() == ""
    assert watched.errors == []
    page.context.close()


def test_rows_that_were_mistaken_can_be_loaded_and_all_be_reset(pages, browsers):
    path, model, X, summary = pages["tan"]
    page, _ = browsers.open(path)
    prior = posterior(page)
    for place, row in enumerate(summary["errors"]["rows"][:3]):
        page.locator(f'[data-load-row="{place}"]').evaluate("(button) => button.click()")
        wanted = model.predict_proba(X.iloc[[row["row"]]])[0]
        found = posterior(page)
        assert [found[code][0] for code in range(2)] == pytest.approx(wanted.tolist(), abs=1e-9)
        assert page.evaluate("document.activeElement.id") == "explorer-title"
    assert page.locator(".field.known").count() > 0
    page.locator("#reset").click()
    assert posterior(page) == prior
    assert page.locator(".field.known").count() == 0
    assert page.locator(".field input").first.input_value() == ""
    page.locator("#load").select_option(value="0")
    assert posterior(page) != prior
    page.context.close()


def test_reasons_add_up_and_questions_are_ranked_as_in_python(pages, browsers):
    path, model, X, _ = pages["tan"]
    page, _ = browsers.open(path)
    cells = [61.5, None, "yes", None]
    for column, known in enumerate(model.schema_.columns):
        set_field(page, column, known, cells[column])
    frame, wanted = answer_of(model, X, cells)
    odds = model.explain(frame).log_odds(positive="well")
    lines = [line.inner_text() for line in page.locator("#why tr:not(.sum) td.n").all() if line]
    told = sorted(float(text.replace("\N{MINUS SIGN}", "-")) for text in lines if text.strip())
    known = sorted(part for part in odds.contributions[0].tolist() if part)
    assert told == pytest.approx(known, abs=0.0051)
    last = page.locator("#why tr.sum").last.locator("td.n").inner_text()
    assert float(last.rstrip("%")) == pytest.approx(100 * wanted[1], abs=0.051)
    page.wait_for_timeout(50)
    asked = [line.get_attribute("data-ask") for line in page.locator("#next button").all()]
    questions = [model.schema_.names.index(one.column) for one in ask_next(model, frame)]
    assert list(map(int, asked)) == questions
    page.locator("#next button").first.click()
    assert page.evaluate("document.activeElement.closest('.field').dataset.column") == asked[0]
    page.context.close()


def test_numbers_find_their_bins_and_nonsense_is_named(pages, browsers):
    path, model, _, _ = pages["tan"]
    page, _ = browsers.open(path)
    edges = model.schema_.columns[0].edges
    field = page.locator('.field[data-column="0"]')
    for number in (edges[0] - 1, edges[0], edges[0] + 1):
        field.locator("input").fill(str(number))
        assert field.locator("select").input_value() == str(int(number > edges[0]))
    field.locator("input").fill("old")
    assert "This is not a number" in field.inner_text()
    assert field.locator("input").get_attribute("aria-invalid") == "true"
    assert field.locator("select").input_value() == ""
    field.locator("select").select_option(value="0")
    assert field.locator("input").input_value() == ""
    assert "This is not a number" not in field.inner_text()
    page.context.close()


def test_the_keyboard_is_enough(pages, browsers):
    page, _ = browsers.open(pages["aode"][0])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
        if seen[-1].startswith("field-"):
            break
    assert "reset" in seen
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    before = posterior(page)
    page.keyboard.press("ArrowDown")
    assert posterior(page) != before
    page.locator("#announcement:not(:empty)").wait_for(state="attached")
    told = page.locator("#announcement").text_content()
    best = max(posterior(page).values())[1]
    assert best in told
    assert page.locator("#announcement").get_attribute("aria-live") == "polite"
    page.context.close()


def test_columns_of_the_structure_tell_their_story(pages, browsers):
    page, _ = browsers.open(pages["tan"][0])
    first = page.locator(".structure .node[tabindex='0']")
    first.focus()
    story = page.locator(".story").first
    told = first.get_attribute("aria-label")
    assert story.inner_text() == told
    page.keyboard.press("ArrowRight")
    second = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert story.inner_text() == second != told
    page.locator(".structure .node[data-column='2']").hover()
    assert "bits of mutual information with the class" in story.inner_text()
    page.context.close()


def test_light_and_dark_and_paper(pages, browsers):
    path = pages["tan"][0]
    colours = {}
    for scheme in ("light", "dark"):
        page, _ = browsers.open(path, color_scheme=scheme)
        colours[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        if scheme == "dark":
            page.emulate_media(media="print", color_scheme="dark")
            colours["paper"] = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert not page.locator("#explorer").is_visible()
            assert page.locator("#performance").is_visible()
            page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            assert page.locator("details[data-print]").count() > 0
            assert page.locator("details[data-print]:not([open])").count() == 0
            page.evaluate("window.dispatchEvent(new Event('afterprint'))")
            assert page.locator("details:not([open])").count() > 0
        page.context.close()
    assert colours["light"] == colours["paper"] == "rgb(255, 255, 255)"
    assert colours["dark"] != colours["light"]


def test_numbers_outside_the_data_are_named(pages, browsers):
    path, _, X, _ = pages["tan"]
    page, _ = browsers.open(path)
    field = page.locator('.field[data-column="0"]')
    assert f"data: {X['age'].min():.4g} to {X['age'].max():.4g}" in field.inner_text()
    field.locator("input").fill("399")
    assert "Outside the data" in field.inner_text()
    assert field.locator("select").input_value() != ""
    field.locator("input").fill("50")
    assert "Outside the data" not in field.inner_text()
    page.context.close()


def test_the_start_is_called_so_and_shares_stand_beside(pages, browsers):
    path, model, X, summary = pages["auto"]
    page, _ = browsers.open(path)
    assert "starting probabilities" in page.locator("#known-count").inner_text()
    shares = [entry["share"] for entry in summary["data"]["classes"]]
    shown = [cell.inner_text() for cell in page.locator("#posterior td.share").all()]
    assert [float(text.rstrip("%")) for text in shown] == pytest.approx(
        [100 * share for share in shares], abs=0.051
    )
    _, wanted = answer_of(model, X, [None] * X.shape[1])
    assert [chance for chance, _ in posterior(page).values()] == pytest.approx(wanted.tolist())
    page.context.close()


def test_the_threshold_moves_the_matrix_and_the_cost(pages, browsers):
    path, _, _, summary = pages["tan"]
    page, watched = browsers.open(path)
    cut = summary["performance"]["thresholds"]
    page.locator("#cost-negative").fill("5")
    page.locator("#threshold").fill("30")
    found = {n: int(page.locator(f"#count-{n}").inner_text()) for n in ("tp", "fp", "fn", "tn")}
    assert found["tp"] == cut["true_positives"][30]
    assert found["fp"] == cut["false_positives"][30]
    assert sum(found.values()) == cut["positives"] + cut["negatives"]
    assert (
        f"cost {found['fp'] + 5 * found['fn']} in total"
        in page.locator("#threshold-text").inner_text()
    )
    page.locator("#threshold-best").click()
    pairs = zip(cut["true_positives"], cut["false_positives"], strict=True)
    costs = [fp + 5 * (cut["positives"] - tp) for tp, fp in pairs]
    assert costs[int(page.locator("#threshold").input_value())] == min(costs)
    page.locator("#cost-negative").fill("many")
    assert page.locator("#cost-negative").get_attribute("aria-invalid") == "true"
    assert watched.errors == []
    page.context.close()


def test_a_report_of_22_columns_fits_on_twelve_pages(tmp_path, browsers):
    data = load_wdbc()
    X = pd.DataFrame(data.X[:, :22], columns=data.names[:22])
    path = tmp_path / "wdbc.html"
    report.write(unnaive.TAN().fit(X, data.y), X, data.y, path, folds=3)
    page, _ = browsers.open(path)
    printed = page.pdf(path=tmp_path / "wdbc.pdf", format="A4")
    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) <= 12
    page.context.close()


def test_many_columns_are_searched_for(tmp_path, browsers):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.integers(0, 2, (60, 40)).astype(str))
    X.columns = [f"gene {i:02}" for i in range(40)]
    y = np.where(X["gene 07"] == "1", "ill", "well")
    path = tmp_path / "genes.html"
    report.write(unnaive.NaiveBayes().fit(X, y), X, y, path, folds=2)
    page, _ = browsers.open(path)
    shown = page.locator(".field:visible")
    assert shown.count() == 24
    assert "gene 07" in shown.first.inner_text()
    page.locator("#filter").fill("GENE 3")
    assert shown.count() == 10
    page.locator("#filter").fill("no such")
    assert page.locator("#no-fields").is_visible()
    page.locator("#filter").fill("")
    page.locator("#more").click()
    assert shown.count() == 40
    assert math.isclose(sum(chance for chance, _ in posterior(page).values()), 1.0)
    page.context.close()
