"""Public names, what an import loads, and what no file does."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import franchise as fr

PACKAGE = Path(fr.__file__).parent

CONTRACT = [
    "Bernoulli",
    "Categorical",
    "Ability",
    "Corpus",
    "DirichletMultinomial",
    "Gamma",
    "GaussianDiagonal",
    "GaussianFull",
    "GaussianKnownPrecision",
    "Groups",
    "HDP",
    "HTMM",
    "InputError",
    "InternalError",
    "Multinomial",
    "NegativeBinomial",
    "Poisson",
    "ShardedCorpus",
    "check_family",
    "check_move",
    "datasets",
    "engines",
    "index_shards",
    "load",
    "KnownTopics",
    "known_from",
    "match_fits",
    "moves",
    "open_shards",
    "plots",
    "read_corpus",
    "read_groups",
    "resume",
    "sample",
    "sampler_table",
]


@pytest.mark.parametrize("name", CONTRACT)
def test_the_names_of_the_contract(name):
    assert getattr(fr, name) is not None
    assert name in fr.__all__
    assert name in dir(fr)


def test_every_public_name_can_be_had():
    for name in fr.__all__:
        assert getattr(fr, name) is not None
    assert len(set(fr.__all__)) == len(fr.__all__)
    assert fr.__version__.count(".") == 2


def test_the_stub_has_every_name():
    """Type checkers read the stub, and the package is built from it."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imported = [alias for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert all(alias.asname == alias.name for alias in imported)  # so that they are exported
    assert sorted(alias.name for alias in imported) == sorted(fr.__all__)


def test_unknown_names():
    with pytest.raises(AttributeError, match="smaple"):
        fr.smaple  # noqa: B018


def test_the_words_of_composition_and_the_engine():
    for name in ("in_turn", "at_random", "every", "during_warmup"):
        assert callable(getattr(fr.moves, name))
    assert fr.engines.Threads(2).workers == 2


def test_errors():
    assert issubclass(fr.InputError, ValueError)
    assert not issubclass(fr.InternalError, ValueError)


# --- what is loaded -----------------------------------------------------------------------------------------

HEAVY = ["sklearn", "pandas", "numba", "matplotlib", "scipy", "ray", "plotly", "arviz_stats", "rich"]


def loaded_by(code: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{textwrap.dedent(code)}\nimport sys\nprint('loaded', *sys.modules)"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return set(HEAVY) & set(done.stdout.splitlines()[-1].split())


def test_importing_loads_nothing():
    assert loaded_by("import franchise") == set()


def test_importing_is_quick():
    code = "import time\nbegin = time.perf_counter()\nimport franchise\nprint(time.perf_counter() - begin)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(times) < 0.2


@pytest.mark.parametrize("name", ["Corpus", "HTMM", "check_family", "engines", "moves", "plots", "sample"])
def test_any_name_can_be_the_first(name):
    """No name needs another to be imported before it."""
    loaded_by(f"import franchise\nfranchise.{name}")


def test_sampling_loads_no_tables_or_plots():
    code = """
    import numpy as np
    import franchise as fr
    posterior = fr.sample(fr.Corpus.from_matrix(np.ones((2, 3), int)), draws=2, warmup=1)
    repr(posterior)
    """
    assert (
        loaded_by(code) & {"sklearn", "pandas", "matplotlib", "ray", "plotly", "arviz_stats", "rich"} == set()
    )


# --- what no file does --------------------------------------------------------------------------------------


def test_nothing_is_pickled():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
                assert not {"pickle", "cloudpickle", "shelve"} & set(names), path
                assert "joblib" not in names or names == ["cpu_count", "joblib"], path


def test_no_global_randomness():
    """No file draws from NumPy's or Python's global generators."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                chain = f"{getattr(node.value.value, 'id', '')}.{node.value.attr}.{node.attr}"
                if chain.startswith("np.random."):
                    allowed = {
                        "Generator",
                        "Philox",
                        "SeedSequence",
                        "default_rng",
                        "BitGenerator",
                        "RandomState",
                    }
                    assert node.attr in allowed, f"{path}:{node.lineno} {chain}"


def test_reports_need_no_matplotlib():
    """matplotlib comes with the extra "plot" only; `make demo` does without."""
    code = "import sys; sys.modules['matplotlib'] = None; import franchise.report.write, franchise.plots"
    subprocess.run([sys.executable, "-c", code], check=True)
