"""Settings of all tests: a busy machine is no failure, and what passed once passes again.

The default run tries a quarter of the random examples; `-m long` tries them all.
``UNNAIVE_RANDOM=1`` draws other examples than the last time, to look for what is still wrong.
"""

import gc
import os
import sys

import pytest
from hypothesis import settings

from problems import SISTERS

SLOW = ("more rows than a block", "ienb-300 categories")

repeated = "UNNAIVE_RANDOM" not in os.environ
settings.register_profile("unhurried", deadline=None, derandomize=repeated)
settings.load_profile("unhurried")


def pytest_configure():
    """Collect garbage seldom; all modules and tests are looked through for it every time."""
    gc.set_threshold(50_000)


@pytest.fixture(autouse=True)
def _closed_figures():
    """Close the figures that a test has left open in pyplot, if anyone uses it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def _shorten(test):
    """Let a test of random examples try a quarter of them."""
    whole = test._hypothesis_internal_use_settings
    fewer = settings(whole, max_examples=-(-whole.max_examples // 4))
    test._hypothesis_internal_use_settings = fewer


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark what is long in every test that is tried on it, and a model's other settings."""
    tests = {item.obj for item in items if hasattr(item, "obj")}
    random = {test for test in tests if getattr(test, "is_hypothesis_test", False)}
    if config.option.markexpr == "not long":
        for test in random:
            _shorten(test)
    for item in items:
        if getattr(item, "obj", None) in random and config.option.markexpr == "long":
            item.add_marker("long")
        tried = item.callspec.params.values() if hasattr(item, "callspec") else ()
        other = any(isinstance(value, str) and value in SISTERS for value in tried)
        if other or any(shape in item.name for shape in SLOW):
            item.add_marker("long")
