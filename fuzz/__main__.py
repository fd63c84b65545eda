"""Feed the library hostile inputs of one kind, and say what went wrong.

    python -m fuzz files --seconds 60 [--inputs N] [--seed 0] [--only parquet]
    python -m fuzz load

Kinds: ``states`` (saved models and counts with changed content and right checksums), ``files``
(data files, networks, schemas, counts and models with changed bytes), ``fits`` (all models, random
data, and what their docstrings promise), ``pages`` (markup and terminal codes in names and cells),
and ``load`` (threads, processes, a full disk and other hardships; it takes no seeds).

Every input has a seed, which a fault prints: ``--only NAME --seed SEED --inputs 1`` repeats it. The
inputs run in a process of their own. A crash, or an input that does not end, is a fault as well,
and the run goes on with the next input. The program ends with 1 if there were faults.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from fuzz import run

KINDS = ("states", "files", "fits", "pages")


def main() -> None:
    """Read the command line and run one kind, or all of them in turn."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=[*KINDS, "all", "load"])
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each kind")
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="most inputs of each kind")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--only", default="", help="subjects whose name contains this")
    options = parser.parse_args()
    if options.kind == "load":
        sys.exit(import_module("fuzz.load").main(options.only))
    faults = 0
    for kind in KINDS if options.kind == "all" else [options.kind]:
        budget = run.Budget(options.seconds, options.inputs, options.seed)
        faults += run.kind(kind, options.only, budget)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
