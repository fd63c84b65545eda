"""Take the pictures of a report that the README and the first page show.

``python docs/_ext/screenshot.py`` writes ``docs/_static/report.png`` and ``report-dark.png``. It
needs playwright and Chromium, so the build does not run it; run it again when the look of reports
changes.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright

from unnaive import TAN
from unnaive.report import write

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "docs" / "_static"
PATIENT = {"saturation": 96.0, "fever": "high", "cough": "mild", "smoker": "yes"}


def write_report(path: Path) -> list[str]:
    """Write the report on the made-up patients, and return the names of its columns."""
    table = pd.read_csv(ROOT / "examples" / "patients.csv")
    X, y = table.drop(columns="pneumonia"), table["pneumonia"]
    settings = {"folds": 5, "name": "patients.csv", "title": "Who has pneumonia?"}
    write(TAN().fit(X, y), X, y, path, **settings)
    return list(X)


def take(report: Path, names: list[str], scheme: str, picture: Path) -> None:
    """Open a report, enter a patient into its explorer, and save what the browser shows."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1060, "height": 660}, color_scheme=scheme)
        page.goto(report.as_uri())
        page.locator("#next li").first.wait_for()
        for name, value in PATIENT.items():
            field = page.locator(f'.field[data-column="{names.index(name)}"]')
            if isinstance(value, str):
                field.locator("select").select_option(label=value)
            else:
                field.locator("input").fill(str(value))
        page.evaluate("document.activeElement.blur()")
        page.evaluate("window.scrollTo(0, document.querySelector('#reset').offsetTop - 170)")
        page.wait_for_timeout(300)
        page.screenshot(path=picture)
        browser.close()
    with Image.open(picture) as image:  # 64 colors are enough, and a third of the bytes
        image.convert("RGB").quantize(64).save(picture, optimize=True)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        names = write_report(path)
        take(path, names, "light", STATIC / "report.png")
        take(path, names, "dark", STATIC / "report-dark.png")
