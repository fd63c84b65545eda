"""Settings of all tests: a busy machine is no failure."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

collect_ignore = ["conftest.py"]  # docs/ has one of this name, too, and doctest imports both
