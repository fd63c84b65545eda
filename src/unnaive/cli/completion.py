"""What the Tab key offers for models."""

# Spelled out, for importing the models takes longer than a person waits after pressing Tab.
MODEL_KEYS = (
    "auto",
    "nb",
    "spode",
    "aode",
    "aode-sr",
    "waode",
    "a2de",
    "tan",
    "atan",
    "tan-multinet",
    "odanb",
    "kdb",
    "hnb",
    "phnb",
    "gnb-a",
    "gnb-o",
    "decomposable",
    "cherry",
    "fssj",
    "bsej",
    "pazzani-eda",
    "ienb",
    "iterative",
    "apnbc",
    "apnbc-eda",
    "gaussian-nb",
    "full-bayes",
    "k-naive",
    "gaussian-tan",
    "gaussian-kdb",
    "wanbia",
    "weighted-tan",
    "weighted-pairs",
    "bayesnet",
)


def complete_model(incomplete: str) -> list[str]:
    """Return the keys that begin like this.

    >>> complete_model("aode")
    ['aode', 'aode-sr']
    """
    return [key for key in MODEL_KEYS if key.startswith(incomplete)]


def complete_models(incomplete: str) -> list[str]:
    """Complete the last of several keys separated by commas, or the word all.

    >>> complete_models("nb,tan-")
    ['nb,tan-multinet']
    """
    before, comma, last = incomplete.rpartition(",")
    found = [f"{before}{comma}{key}" for key in complete_model(last)]
    return ["all", *found] if "all".startswith(incomplete) else found
