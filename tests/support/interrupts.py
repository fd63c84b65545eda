"""Interrupts from the keyboard while the core works."""

import _thread
import threading
import time
from contextlib import contextmanager

import pytest


@contextmanager
def interrupted(after=0.3, within=2.0):
    """Interrupt the block after some seconds; it must end soon, by KeyboardInterrupt."""
    timer = threading.Timer(after, _thread.interrupt_main)
    timer.start()
    begun = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        timer.cancel()
    assert time.monotonic() - begun < within
