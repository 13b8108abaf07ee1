"""What differs between Linux, macOS and Windows: each fallback, with the feature of Linux taken away."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import pytest

from franchise import validation
from franchise.cluster import shared_memory
from franchise.kernels.runtime import compile as machinery
from franchise.running import estimate_time
from franchise.running.run import interruptions
from franchise.storage import atomic


def test_peak_memory_without_the_module_resource(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)  # Windows
    assert estimate_time._peak_memory() is None


def test_peak_memory_is_in_bytes_on_macos(monkeypatch):
    pytest.importorskip("resource")
    monkeypatch.setattr(sys, "platform", "linux")
    on_linux = estimate_time._peak_memory()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert estimate_time._peak_memory() == pytest.approx(on_linux / 1024, rel=0.1)


def without_meminfo(path, *arguments, **settings):
    if path == "/proc/meminfo":
        raise FileNotFoundError(errno.ENOENT, "no such file", path)
    return open(path, *arguments, **settings)


def test_available_memory_without_proc(monkeypatch, tmp_path):
    """On macOS, sysconf has the size of the memory; Windows has neither."""
    monkeypatch.setattr(validation, "_GROUPS", ((tmp_path, "limit", "use", "files"),))
    monkeypatch.setattr(validation, "open", without_meminfo, raising=False)
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.get, raising=False)
    assert validation.available_memory() == 4_096_000
    monkeypatch.delattr(os, "sysconf")
    assert validation.available_memory() == 2 << 30


def test_kernels_are_compiled_without_file_locks(monkeypatch):
    """Windows has no fcntl, and some network disks have no locks: processes then do not wait for each other."""
    entered = []
    monkeypatch.setattr(machinery, "fcntl", None)
    with machinery._one_process_at_a_time("a kernel"):
        entered.append("no fcntl")

    class NoLocks:
        LOCK_EX = LOCK_UN = 0

        @staticmethod
        def lockf(*arguments):
            raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(machinery, "fcntl", NoLocks)
    with machinery._one_process_at_a_time("a kernel"):
        entered.append("no locks")
    assert entered == ["no fcntl", "no locks"]


def test_files_are_written_where_folders_cannot_be_opened(monkeypatch, tmp_path):
    original = os.open

    def refuse_folders(path, *arguments):
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "permission denied", str(path))
        return original(path, *arguments)

    monkeypatch.setattr(os, "open", refuse_folders)  # Windows
    monkeypatch.setattr(atomic, "_CAN_OPEN_FOLDERS", False)
    with atomic.exclusive_lock(tmp_path):
        atomic.write_atomically(tmp_path / "file", b"content")
        log = atomic.Log(tmp_path / "log")
        log.append(b"record")
        log.write()
    assert (tmp_path / "file").read_bytes() == b"content"
    assert log.read() == b"record"


def test_shared_memory_only_where_the_system_has_it(monkeypatch):
    monkeypatch.delattr(os, "memfd_create", raising=False)  # as on macOS and Windows
    assert not shared_memory.can_share()
    assert shared_memory.open_shared(shared_memory.Place(os.getpid(), 10**6), (2,), "int64") is None


def test_signals_that_python_does_not_handle_stay_as_they_are(monkeypatch):
    """`getsignal` returns None for a handler of other code; Python could not restore it."""
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    monkeypatch.setattr(signal, "signal", lambda *arguments: pytest.fail("the handler was replaced"))
    with interruptions(lambda: None) as came:
        pass
    assert came == []


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_output_that_the_console_cannot_show(encoding):
    """A redirected output on Windows often has the encoding cp1252."""
    code = (
        "import sys; from franchise.cli import main; "
        "main.app = lambda: print('\\N{GREEK SMALL LETTER PI} and \\N{HORIZONTAL ELLIPSIS}'); main.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    assert done.stdout.startswith(b"? and ")
