"""The entry point: Ctrl-C prints one line, also while the program is still being imported."""

from unnaive._interrupt import guard, release, stop


def main() -> None:
    """Import and run the command line."""
    guard()
    try:
        from unnaive.cli.app import main as run  # noqa: PLC0415 - guarded, because it takes time

        release()
        run()
    except KeyboardInterrupt:
        stop()
