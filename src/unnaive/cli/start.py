"""The entry point: Ctrl-C prints one line, also while the program is still being imported."""

import os
import sys


def main() -> None:
    """Import and run the command line."""
    try:
        from unnaive.cli.app import main as run  # noqa: PLC0415 - guarded, because it takes time

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.stderr.flush()
        os._exit(130)  # the exit code that shells use
