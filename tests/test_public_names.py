"""Public names, what an import loads, and which folder may import which."""

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


def test_names_and_their_homes_agree():
    """`__all__`, the table of homes and the imports for type checkers are three lists of the same names."""
    assert sorted(fr.__all__) == sorted([*fr._HOME, *fr._MODULES])
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name for node in guarded.body for alias in node.names}
    assert typed == set(fr.__all__)


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'smaple'"):
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


# --- which folder imports which -----------------------------------------------------------------------------


def imports_of(path: Path) -> set[str]:
    """Modules of the package that a file imports, anywhere in it, but not for type checkers only."""
    found: set[str] = set()

    class Finder(ast.NodeVisitor):
        def visit_If(self, node: ast.If) -> None:
            if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
                self.generic_visit(node)

        def visit_Import(self, node: ast.Import) -> None:
            found.update(alias.name for alias in node.names)

        def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
            assert node.level == 0, f"{path}: imports are absolute"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)

    Finder().visit(ast.parse(path.read_text()))
    return {name for name in found if name.split(".")[0] == "franchise"}


def rooms_imported_by(room: str) -> set[str]:
    """The folders (or single modules) of the package that the files of a folder import."""
    names = {name for path in (PACKAGE / room).rglob("*.py") for name in imports_of(path)}
    return {name.split(".")[1] for name in names if "." in name} - {room}


FORBIDDEN = {
    "kernels": {
        "htmm",
        "moves",
        "state",
        "chains",
        "families",
        "recipes",
        "cli",
        "data",
        "model",
        "streams",
        "engines",
    },
    "state": {"moves", "chains", "recipes", "cli", "engines", "diagnostics"},
    "families": {"state", "moves", "chains", "recipes", "cli", "engines", "diagnostics", "model"},
    "moves": {"chains", "recipes", "cli", "engines", "diagnostics", "sampling", "posterior"},
    "recipes": {"chains", "cli", "engines", "diagnostics", "sampling"},
    "chains": {"cli", "sampling", "posterior", "diagnostics", "recipes", "htmm"},
    "htmm": {"cli", "plots", "report", "studies", "recipes", "posterior"},
    "engines": {"moves", "state", "chains", "recipes", "cli", "families"},
    "data": {"moves", "state", "chains", "recipes", "cli", "families", "kernels", "engines"},
    "diagnostics": {"cli", "plots", "report", "studies"},
    "found": {"cli", "plots", "studies", "recipes", "sampling"},
    "plots": {"cli", "report", "studies", "kernels", "moves", "recipes"},
    "studies": {"cli", "kernels"},
}


@pytest.mark.parametrize("room", FORBIDDEN)
def test_imports_point_one_way(room):
    assert rooms_imported_by(room) & FORBIDDEN[room] == set()


def test_only_the_command_line_imports_itself():
    for path in PACKAGE.rglob("*.py"):
        if not {"cli", "__main__.py"} & set(path.relative_to(PACKAGE).parts):
            assert not any(name.startswith("franchise.cli") for name in imports_of(path)), path


def test_the_finder_finds():
    """The check can fail: a room that imports a great deal shows."""
    assert {"moves", "state", "families"} <= rooms_imported_by("checks")
    assert "kernels" in rooms_imported_by("moves")


def test_nothing_is_pickled():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
                assert not {"pickle", "joblib", "cloudpickle", "shelve"} & set(names), path


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
