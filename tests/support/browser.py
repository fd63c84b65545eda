"""Headless Chromium for tests of pages: the system's own, driven by playwright."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

DESKTOP, PHONE = (1280, 900), (390, 844)
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


@dataclass
class Watched:
    """What a page said and asked for: errors of its scripts and console, addresses it loaded."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def chromium_page(size: tuple[int, int] = DESKTOP, **context: Any) -> Iterator[Any]:
    """Give an empty page of Debian's Chromium, or skip the test where there is none.

    ``context`` goes to playwright's ``new_context``, as in ``color_scheme="dark"``.
    """
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="pages are tested with playwright: pip install playwright"
    )
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("pages are tested in Chromium, which is not here: apt-get install chromium")
    viewport = {"width": size[0], "height": size[1]}
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=_FLAGS)
        try:
            yield browser.new_context(viewport=viewport, **context).new_page()
        finally:
            browser.close()


def watch(page: Any) -> Watched:
    """Note from now on what a page says and asks for."""
    watched = Watched()
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    page.on(
        "console",
        lambda said: watched.errors.append(said.text) if said.type in {"error", "warning"} else 0,
    )
    page.on("request", lambda request: watched.requests.append(request.url))
    return watched
