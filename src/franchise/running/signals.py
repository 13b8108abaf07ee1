"""Interruptions that wait until everything is written: Ctrl-C, and SIGTERM, by which systems end processes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruptions(stop: Callable[[], None]) -> Iterator[list[int]]:
    """While inside, Ctrl-C and SIGTERM only call `stop`, however often they come; they are noted in the list.

    Only the main thread can listen to signals: in others, nothing changes. A signal that is ignored, or that code
    outside Python listens to, is left to that. Afterwards every signal does what it did before.
    """
    came: list[int] = []

    def note(number: int, frame: object) -> None:
        came.append(number)
        stop()

    listening = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                listening[number] = signal.signal(number, note)
    try:
        yield came
    finally:
        for number, before in listening.items():
            signal.signal(number, before)
