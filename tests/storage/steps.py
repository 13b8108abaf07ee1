"""Every single thing that is done to the disk, counted, so that any one of them can go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from franchise.storage import atomic as files

STEPS = [
    (files, "_put"),
    (files, "_sync"),
    (files, "_replace"),
    (files.os, "truncate"),
    (Path, "mkdir"),
    (Path, "touch"),
]


@contextmanager
def going_wrong(at: int, wrong: Callable[[], Any]) -> Iterator[list[str]]:
    """While inside, `wrong` is called instead of step number `at`, from 1; of a write, half is done before.

    The names of the steps so far are in the list.
    """
    done: list[str] = []

    def stepping(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **keywords: Any) -> Any:
            done.append(name)
            if len(done) == at:
                if name == "_put":
                    file, content = arguments
                    original(file, content[: len(content) // 2])
                wrong()
            return original(*arguments, **keywords)

        return step

    with ExitStack() as stack:
        for home, name in STEPS:
            stack.enter_context(patch.object(home, name, stepping(name, getattr(home, name))))
        yield done
