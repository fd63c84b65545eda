"""Completion of model keys by the Tab key."""

from unnaive.models import model_keys


def complete_model(incomplete: str) -> list[str]:
    """Return the keys that begin with a text.

    >>> complete_model("aode")
    ['aode', 'aode-sr']
    """
    return [key for key in model_keys() if key.startswith(incomplete)]


def complete_models(incomplete: str) -> list[str]:
    """Complete the last of several keys separated by commas, or the word all.

    >>> complete_models("nb,tan-")
    ['nb,tan-multinet']
    """
    before, comma, last = incomplete.rpartition(",")
    keys = [f"{before}{comma}{key}" for key in complete_model(last)]
    return ["all", *keys] if "all".startswith(incomplete) else keys
