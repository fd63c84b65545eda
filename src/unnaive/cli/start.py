"""The entry point: Ctrl-C prints one line, also while the program is still being imported."""

import os
import signal
import sys


def main() -> None:
    """Import and run the command line."""
    # Imports can turn KeyboardInterrupt into other errors, so Ctrl-C ends the program at once.
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, stop)
    try:
        from unnaive.cli.app import main as run  # noqa: PLC0415 - guarded, because it takes time

        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        stop()


def stop(*_: object) -> None:
    """End the program with one line and the exit code that shells use."""
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(130)
