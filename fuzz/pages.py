"""Markup and terminal codes in names, cells and classes: they stay text wherever they are shown.

``views`` are the tables that notebooks show, ``report`` is the page of ``model.report``, and the
subjects that begin with ``terminal`` run commands on files. Every hostile text has the word ``zq7``:
it may occur in texts and in harmless attributes, but not as markup, in scripts or in addresses. What
a command prints has no control characters but tabs and ends of lines.
"""

from __future__ import annotations

import csv
import json
import random
import re
from functools import partial
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import unnaive
from fuzz.run import Refused, check_message
from unnaive.checks import check_data
from unnaive.cli.app import app
from unnaive.explain import ask_next, what_if
from unnaive.report.file import report_on

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.run import Subject

MARK = "zq7"
MARKUP = (
    "<script>zq7()</script>", "</script><script>zq7()</script>", "<img src=x onerror=zq7()>", "<svg/onload=zq7()>",
    '"><img src=x onerror=zq7()>', "'><svg onload='zq7()'>", "' onmouseover='zq7()", '" autofocus onfocus="zq7()',
    "javascript:zq7()", "<a href=javascript:zq7()>x</a>", "</style><zq7>", "</title><zq7>", "</textarea><zq7>",
    "<!--<script>zq7", "--><zq7>", "]]><zq7>", "<![CDATA[<zq7>", "{{zq7}}", "{% zq7 %}", "${zq7}", "`zq7`",
    "&lt;zq7&gt;", "&#60;zq7&#62;", "&#x3c;zq7", "%3Cscript%3Ezq7", "\\u003czq7\\u003e", "<iframe srcdoc='<zq7>'>",
    "<math><mi xlink:href='data:x,zq7'>", "<zq7", "<zq7/", "</zq7>", "<\x00zq7>", "<zq7\n>", "expression(zq7)",
    "<base href=//zq7>", "<meta http-equiv=refresh content='0;zq7'>", "<form action=zq7><input>", "\\'-zq7()-\\'",
    "<template><zq7>", "<noscript><p title='</noscript><zq7>'>", "@import 'zq7';", "url(zq7)", "\u2028zq7()", "*/zq7/*",
)  # fmt: skip
CODES = (
    "\x1b[2J", "\x1b[31mzq7\x1b[0m", "\x1b]0;zq7\x07", "\x1b]8;;http://zq7\x1b\\x\x1b]8;;\x1b\\", "\x1b[1A\x1b[2K", "\x9b31m",
    "\x90q\x9c", "\x07", "\x08\x08\x08", "\x7f", "\r", "zq7\rno", "\x0b", "\x0c", "\x1bc", "\x1b[?1049h", "\x1bP$q\x1b\\", "\x0e",
    "\u202ezq7", "\u2066zq7", "\u200ezq7", "\ufeff", "\u2029", "\u061c", "\x85zq7", "\x00zq7", "\x1b[6n", "\x1b]52;c;enE3\x07",
    "[bold]zq7[/bold]", "[link=x]zq7", ":warning:zq7", "%szq7", "{zq7}", "a\nzq7", "\tzq7", "é", "年", "🩺",
)  # fmt: skip
BARE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
ADDRESSES = {
    "href",
    "src",
    "action",
    "formaction",
    "srcdoc",
    "style",
    "xlink:href",
    "content",
    "data",
}


def hostile(chance: random.Random, pool: tuple[str, ...], taken: set[str]) -> str:
    """Return a text that was not used before."""
    while True:
        text = "".join(chance.choice(pool) for _ in range(chance.choice((1, 1, 2, 3))))
        text = text[: chance.choice((12, 40, 200))]
        if text.strip() and text not in taken:
            taken.add(text)
            return text


def table(chance: random.Random, pool: tuple[str, ...]) -> tuple[pd.DataFrame, pd.Series]:
    """Return rows whose names, values and classes are hostile."""
    taken: set[str] = set()
    n = chance.choice((12, 20, 30))
    columns: dict[str, object] = {}
    for kind in ("text", "text", "numbers"):
        values = [hostile(chance, pool, taken) for _ in range(2)]
        cells = [chance.choice(values) for _ in range(n)]
        if kind == "numbers":
            cells = [chance.gauss(0, 1) for _ in range(n)]
        columns[hostile(chance, pool, taken)] = cells
    labels = [hostile(chance, pool, taken) for _ in range(2)]
    classes = [labels[i % 2] for i in range(n)]
    return pd.DataFrame(columns), pd.Series(classes, name=hostile(chance, pool, taken))


class Live(HTMLParser):
    """Notes what of a page is live and has the mark."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Judge a tag and its attributes."""
        self._script = tag in {"script", "style"} and ("type", "application/json") not in attrs
        names = [name for name, _ in attrs]
        if MARK in tag or any(MARK in name or name.startswith("on") for name in names):
            self.faults.append(f"markup: {tag} {names}")
        for name, value in attrs:
            if name in ADDRESSES and MARK in (value or ""):
                self.faults.append(f"address: {tag} {name}={value}")

    def handle_endtag(self, _: str) -> None:
        """Leave a script."""
        self._script = False

    def handle_data(self, data: str) -> None:
        """Judge the content of a script or a style."""
        if self._script and MARK in data:
            self.faults.append(f"script: {data[max(0, data.index(MARK) - 40) :][:80]}")


def judge_page(text: str, what: str) -> str:
    """Say what of a page is live and comes from the data."""
    reader = Live()
    reader.feed(text)
    reader.close()
    for block in re.findall(
        r'<script[^>]*type="application/json"[^>]*>(.*?)</script', text, re.DOTALL
    ):
        json.loads(block)
        if "<" in block:
            reader.faults.append(f"data: {block[block.index('<') :][:40]}")
    return f"{what} {reader.faults[0]!a}" if reader.faults else ""


def views(seed: int, key: str) -> str:
    """Show everything that notebooks show of one model."""
    chance = random.Random(f"{key} {seed}")
    X, y = table(chance, MARKUP)
    try:
        model = unnaive.make(key).fit(X, y)
        shown = [model.schema_, model.structure_, model.explain(X[:2]), check_data(X, y)]
        shown += [model.counts_] if hasattr(model, "counts_") else []
        shown += [model.to_network()] if hasattr(model, "to_network") else []
    except ValueError as error:
        check_message(error)
    pages = [
        (one._repr_html_(), type(one).__name__) for one in shown if hasattr(one, "_repr_html_")
    ]
    return next(filter(None, (judge_page(*page) for page in pages)), "")


def report(seed: int, pool: tuple[str, ...]) -> str:
    """Make the page of a report."""
    chance = random.Random(f"report {seed}")
    X, y = table(chance, pool)
    try:
        model = unnaive.make(chance.choice(("nb", "tan", "gaussian-nb"))).fit(X, y)
        found = report_on(model, X, y, folds=2, title=hostile(chance, pool, set()))
    except ValueError as error:
        check_message(error)
    found.markdown()
    return judge_page(found.html(), "report")


def explain_words(seed: int) -> str:
    """Put explanations into words; they have the same lines whatever the names are."""
    chance = random.Random(f"words {seed}")
    X, y = table(chance, CODES)
    try:
        model = unnaive.TAN().fit(X, y)
        what_if(model, X[:1]).text()
        ask_next(model, X[:1])
        repr(model.schema_), str(model.explain(X[:1]))
    except ValueError as error:
        check_message(error)
    return ""


def command(folder: Path, name: str, seed: int) -> str:
    """Run a command on a hostile file, in this process, and judge all that it prints."""
    chance = random.Random(f"{name} {seed}")
    X, y = table(chance, CODES)
    data, model = folder / f"rows{chance.choice(('', ' x', chr(27)))}.csv", folder / "model.unb"
    with data.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([[*X.columns, y.name], *zip(*X.T.to_numpy(), y, strict=True)])
    target = y.name.strip() if chance.random() < 0.9 else hostile(chance, CODES, set())
    fit = ["fit", data, "--target", target, "-o", model, "--model", "tan"]
    lines = {
        "fit": [fit],
        "check": [["check", data, "--target", target]],
        "explain": [fit, ["explain", model, data, "--what-if", "--ask"]],
        "evaluate": [["evaluate", data, "--target", target, "--model", "nb", "--folds", "2"]],
        "schema": [["schema", data, "--target", target, "-o", folder / "schema.json"]],
        "json": [
            fit,
            ["explain", model, data, "--json"],
            ["check", data, "--target", target, "--json"],
        ],
        "wrong": [
            [chance.choice(("fit", "predict", "explain")), hostile(chance, CODES, set()), data]
        ],
    }[name]
    for line in lines:
        result = CliRunner().invoke(app, ["--" if str(w) == "" else str(w) for w in line])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if bare := BARE.search(result.output.replace("\r\n", "\n")):
            place = result.output[max(0, bare.start() - 60) : bare.end() + 20]
            return f"{line[0]} prints {bare[0]!a}: {place!a}"
        if result.exit_code:
            raise Refused
    return ""


def subjects(folder: Path) -> dict[str, Subject]:
    """Return a function of the seed for every way to show something."""
    np.seterr(all="ignore")
    names = ("fit", "check", "explain", "evaluate", "schema", "json", "wrong")
    return {
        **{
            f"views-{key}": partial(views, key=key)
            for key in ("nb", "tan", "kdb", "bayesnet", "gaussian-nb")
        },
        "report": partial(report, pool=MARKUP),
        "report-codes": partial(report, pool=CODES),
        "words": explain_words,
        **{f"terminal-{name}": partial(command, folder, name) for name in names},
    }
