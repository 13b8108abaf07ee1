"""How kernels are compiled: kept on disk for our families, anew for others, and plain Python on request."""

from __future__ import annotations

import gc
import os
import select
import subprocess
import sys
import textwrap
import time

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

import franchise as fr
from franchise.kernels import family_ops
from franchise.kernels.direct_assignment import sweep_dense
from franchise.kernels.recount import fill_log_marginals, recount
from franchise.kernels.runtime import compile as machinery
from tests.kernels.foreign import Coins

TINY = """
import numpy as np
import franchise as fr
corpus = fr.Corpus.from_matrix(np.array([[3, 1, 0, 2], [0, 2, 2, 0], [1, 0, 0, 4]]))
counts = fr.Groups([1, 9, 0, 8, 1, 2, 11, 10], [0, 0, 0, 0, 1, 1, 1, 1])
for data, family in ((corpus, fr.Categorical(4, fr.Gamma(1.0, 2.0))), (counts, fr.Poisson(1.0, 0.2))):
    for sampler in ("crf", "direct"):
        posterior = fr.sample(data, family, sampler=sampler, draws=3, warmup=0, chains=1, seed=5, keep_labels=True)
        print(posterior.trace["n_topics"][0].tolist(), posterior.labels[0].tolist())
        print(np.round(posterior.trace["log_joint"][0], 9).tolist())
"""


def run_python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_plain_python_gives_the_same_chain():
    """The same uniforms meet the same weights.

    Only sums that are taken in vector registers may round otherwise (`compile.summing_helper`), which changes a
    draw once in some 1e15; so labels are compared exactly, log joints up to rounding.
    """
    plain = run_python(TINY, NUMBA_DISABLE_JIT="1")
    assert plain == run_python(TINY)
    assert plain.count("\n") == 8


def test_families_of_the_package_are_kept_and_others_not():
    for family, is_foreign in ((fr.Categorical(2, 1.0), False), (Coins(), True)):
        signature = (numba.typeof(family.empty_statistics(2)), numba.typeof(np.zeros(2)))
        assert machinery._is_foreign(recount.py_func, signature) == is_foreign


def test_functions_that_are_not_in_a_file_are_not_kept():
    namespace = {}
    exec("def one(values):\n    return 1", namespace)
    assert machinery._is_foreign(namespace["one"], (numba.typeof(np.zeros(2)),))


def test_a_foreign_family_is_compiled_fresh_and_runs():
    """Machine code for families that may change without the package knowing is not kept."""
    statistics, observations = Coins().empty_statistics(3), np.array([1, 0, 1, 1])
    sizes = np.zeros(3, np.int64)
    recount(statistics, observations, np.array([0, 0, 2, -1], np.int32), sizes)
    assert isinstance(recount._cache, NullCache)
    assert sizes.tolist() == [2, 0, 1]
    assert statistics.heads.tolist() == [1, 0, 1]
    data = fr.Groups([1, 1, 1, 1, 0, 0, 0, 0], [0] * 4 + [1] * 4)
    for sampler in ("direct", "crf"):
        posterior = fr.sample(data, Coins(), sampler=sampler, draws=20, warmup=5, chains=1)
        posterior.states[0].check_consistency(posterior.model.data, posterior.family)
    assert isinstance(sweep_dense._cache, NullCache)


def test_a_family_defined_again_gets_its_own_code():
    """A notebook cell that was edited and run again: the new code must run, not that of the old class."""
    from tests.kernels.foreign import make_constant_family

    old, new = make_constant_family(1.0), make_constant_family(2.0)
    assert old.Statistics.__name__ != new.Statistics.__name__
    values = []
    for family in (old(), new()):
        out = np.zeros(2)
        statistics = family.empty_statistics(2)
        fill_log_marginals(statistics, out)
        values.append(out[0])
        out[:] = 0.0
        family_ops.fill_log_marginals(statistics, 2, out)
        assert out[0] == values[-1]
    assert values == [1.0, 2.0]


def make_package(folder):
    for name in ("kernels", "families"):
        (folder / name / "inner").mkdir(parents=True)
        (folder / name / "inner" / "one.py").write_text("x = 1")
    return folder


def test_a_change_in_any_kernel_or_family_makes_kept_code_stale(tmp_path, monkeypatch):
    monkeypatch.setattr(machinery, "PACKAGE", make_package(tmp_path))
    digest = machinery.digest_of_sources.__wrapped__
    before = digest()
    (tmp_path / "families" / "inner" / "one.py").write_text("x = 2")
    changed = digest()
    assert changed != before
    (tmp_path / "kernels" / "two.py").write_text("")
    assert digest() != changed


def test_a_copy_with_the_same_contents_reuses_kept_code(tmp_path, monkeypatch):
    """Neither the place nor the times of the files count."""
    digests = set()
    for name in ("clone", "other"):
        monkeypatch.setattr(machinery, "PACKAGE", make_package(tmp_path / name))
        os.utime(tmp_path / name / "kernels" / "inner" / "one.py", (len(digests), len(digests)))
        digests.add(machinery.digest_of_sources.__wrapped__())
    assert len(digests) == 1


def test_machine_code_that_nobody_uses_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(machinery.numba.config, "CACHE_DIR", str(tmp_path))
    for name, age in (("kernels-old", 40), ("kernels-recent", 3), ("other", 40)):
        (tmp_path / name).mkdir()
        used = time.time() - age * 24 * 3600
        os.utime(tmp_path / name, (used, used))
    folder = machinery.cache_folder.__wrapped__()
    assert {path.name for path in tmp_path.iterdir()} == {folder.name, "kernels-recent", "other"}


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(machinery.numba.config, "CACHE_DIR", str(tmp_path / "file"))
    assert machinery.cache_folder.__wrapped__() is None


HOLD = """
import sys
from franchise.kernels.runtime.compile import _one_process_at_a_time
with _one_process_at_a_time(sys.argv[1]):
    print("begun", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(machinery.fcntl is None, reason="no locks on this system")
def test_processes_that_need_the_same_kernel_wait_for_the_first_to_compile_it(tmp_path):
    def begin(name):
        command = [sys.executable, "-c", HOLD, name]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)

    with begin("one") as first:
        assert first.stdout.readline() == "begun\n"
        with begin("one") as second, begin("two") as third:
            assert third.stdout.readline() == "begun\n"
            assert not select.select([second.stdout], [], [], 1.0)[0]
            first.stdin.close()
            assert second.stdout.readline() == "begun\n"
            second.stdin.close()
            third.stdin.close()


def test_no_file_is_left_open(tmp_path):
    code = """
    import os
    import numpy as np
    from franchise.kernels.runtime import compile
    from franchise.kernels.sparse_allreduce import add_changes
    os.dup2(1, 2)
    add_changes(*np.zeros((3, 2), np.int64))
    compile._lock_file.cache_clear()  # as at the end of the interpreter
    """
    assert run_python(code, PYTHONWARNINGS="always::ResourceWarning", NUMBA_CACHE_DIR=str(tmp_path)) == ""
    assert any(tmp_path.glob("kernels-*/locks"))


def test_the_search_for_cycles_is_as_before_once_a_kernel_has_been_compiled():
    @machinery.kernel
    def fails(value):
        raise ValueError(value)

    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            with pytest.raises(ValueError, match="7"):
                fails(7)
            with machinery._no_collection():
                assert not gc.isenabled()
                with machinery._no_collection():
                    pass
                assert not gc.isenabled()
            assert gc.isenabled() == enabled
        finally:
            gc.enable()
