"""Ctrl-C while the command ``unnaive`` is being imported: one line instead of a traceback."""

import os
import sys

signal = __import__("_signal")  # the part of signal that is there without further imports


def is_command() -> bool:
    """Whether this process runs the command, as ``unnaive`` or as ``python -m unnaive``."""
    program = (getattr(sys, "argv", None) or [""])[0]
    if program == "-m":  # so it is called while its package is imported
        return "unnaive" in sys.orig_argv
    return program.replace("\\", "/").rpartition("/")[2] in {"unnaive", "unnaive.exe"}


def guard() -> None:
    """End the program at Ctrl-C; imports could turn KeyboardInterrupt into another error."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)


def release() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, so that what is open is closed."""
    if signal.getsignal(signal.SIGINT) is stop:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def stop(*_: object) -> None:
    """End the program with one line and the exit code that shells use."""
    sys.stderr.write("interrupted\n")
    sys.stderr.flush()
    os._exit(130)
