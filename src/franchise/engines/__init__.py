"""Where work runs: the same functions, the same answers, somewhere."""

from franchise.engines.threads import Threads

__all__ = ["Threads"]
