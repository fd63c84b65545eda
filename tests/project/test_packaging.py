"""What strangers meet first: metadata, links, versions, and the public names that stay."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import unnaive
from public_api import describe_api
from statements import statements

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
API = ROOT / "tests" / "golden" / "api.txt"
# The import name of a distribution, where the two differ.
IMPORTED = {"scikit-learn": "sklearn", "dask[dataframe]": "dask", "pyspark[sql]": "pyspark"}


def test_readme_links_lead_to_files():
    home = PROJECT["urls"]["Source"]
    links = re.findall(
        r"\]\(([^)\s]+)\)|^\[[\w-]+\]: (\S+)$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    targets = [inline or reference for inline, reference in links]
    assert len(targets) > 10
    assert all(target.startswith("https://") for target in targets)  # they work on any host
    for target in targets:
        path = re.sub(r"^https://(github.com|raw.githubusercontent.com)/", "", target)
        path = path.removeprefix(home.removeprefix("https://github.com/"))
        assert (ROOT / re.sub(r"^/(blob/)?main/", "", path)).is_file(), target


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {unnaive.__version__}\n" in citation
    assert re.search(r"^date-released: \d{4}-\d\d-\d\d$", citation, re.MULTILINE)


def test_every_import_is_declared():
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    names = (re.split(r"[<>=]", line)[0] for line in [*PROJECT["dependencies"], *extras])
    declared = {IMPORTED.get(name, name.lower().replace("-", "_")) for name in names}
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in statements(ast.parse(path.read_text())):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = []  # imports for annotations only need no package
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module)
    roots = {name.split(".")[0] for name in imported}
    assert roots - sys.stdlib_module_names - declared <= {"unnaive"}


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="annotations are written differently")
def test_public_names_and_signatures_stay():
    """A changed line is a changed promise; see CONTRIBUTING, "Compatibility"."""
    assert describe_api() == API.read_text()
