"""The layout of the package: one name per thing, short files, documented folders (`python -m tests.layout`)."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from tests.layout import PACKAGE, file_length, function_lengths, modules, name_of, tree_of

LONGEST_FILE, LONGEST_FUNCTION, MODULES_AT_TOP = 400, 50, 6

LONG_FILES: dict[str, int] = {}
"""Files that are still too long, with the length they may have: to be split, never to be added to."""

LONG_FUNCTIONS: dict[str, int] = {}
"""Functions that are still too long, with the length they may have."""

REPEATED_NAMES = {
    "__init__": "folders",
    "base": "what the other files of a folder build on",
    "registry": "families and samplers by name",
}

SHARED_KERNELS = {
    "crf_seating": "seats and tables, for the state and the kernels of three moves",
    "crf_tree": "seats and tables in a tree of groups, for the state and two moves",
    "dirichlet_ops": "families with Dirichlet priors",
    "family_ops": "the methods of a family that kernels call",
    "left_to_right": "the steps of the score diagnostics.left_to_right, which posteriors run",
    "linalg": "matrices of Gaussian families",
    "node_weights": "weights at the inner nodes of a tree of groups, for the state and two kernels",
    "recount": "statistics counted from labels",
    "table_counts": "numbers of tables, for the state and for moves",
    "wishart_ops": "Wishart priors of Gaussian families",
}
"""Kernels that belong to no single module."""

TWICE = {"compare_chains", "match_draws", "predictive", "prune_topics", "sparse_allreduce", "topic_means"}
"""Kernels with the name of the module, not a move, that calls them."""


def imports_of(path) -> set[str]:
    """The names in `franchise.kernels` that a file imports from, or imports."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module == "franchise.kernels":
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("franchise.kernels."):
            found.add(node.module.split(".")[2])
    return found


def callers_of_kernels() -> dict[str, list[str]]:
    """Files outside the kernels that call each file of kernels."""
    callers = defaultdict(list)
    for path in modules():
        if not name_of(path).startswith("kernels/"):
            for name in imports_of(path):
                callers[name].append(name_of(path))
    return callers


KERNELS = sorted(path.stem for path in (PACKAGE / "kernels").glob("*.py") if path.stem != "__init__")
CALLERS = callers_of_kernels()


def belongs_to(kernel: str, caller: str) -> bool:
    """Whether a kernel has the name of a module or of a file beside it, or begins with it.

    Kernels of the HTMM have the name of the folder before that of the module.
    """
    folder, _, _ = caller.rpartition("/")
    names = [path.stem for path in (PACKAGE / folder).glob("*.py")]
    if folder == "htmm":
        names = [f"htmm_{name}" for name in names]
    return any(f"{kernel}_".startswith(f"{name}_") or name.startswith(f"{kernel}_") for name in names)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_has_the_name_of_the_move_or_module_that_calls_it(kernel):
    if kernel in SHARED_KERNELS:
        assert CALLERS[kernel]
        return
    assert any(belongs_to(kernel, caller) for caller in CALLERS[kernel]), CALLERS[kernel]
    strangers = [
        caller for caller in CALLERS[kernel] if caller.startswith("moves/") and not belongs_to(kernel, caller)
    ]
    assert not strangers


def test_shared_kernels_exist():
    assert set(SHARED_KERNELS) <= set(KERNELS)


def test_no_file_name_occurs_twice():
    """Except for kernels with the name of their caller, and the names listed above."""
    places = defaultdict(list)
    for path in modules():
        places[path.stem].append(name_of(path))
    repeated = {name: found for name, found in places.items() if len(found) > 1}
    pairs = {
        name
        for name, found in repeated.items()
        if len(found) == 2
        and any(place == f"kernels/{name}.py" for place in found)
        and (name in TWICE or any(place.startswith("moves/") for place in found))
    }
    assert set(repeated) - pairs == set(REPEATED_NAMES)
    assert pairs >= TWICE


def test_few_modules_are_beside_the_folders():
    top = {path.stem for path in PACKAGE.glob("*.py")}
    assert len(top) <= MODULES_AT_TOP


def check(lengths: dict[str, int], limit: int, exceptions: dict[str, int]) -> None:
    """Whether all are below the limit or their exception, and no exception is left over."""
    too_long = {name: length for name, length in lengths.items() if length > exceptions.get(name, limit)}
    assert not too_long
    unneeded = {name for name in exceptions if lengths.get(name, 0) <= limit}
    assert not unneeded, "take these off the list of exceptions"


def test_files_are_short():
    check({name_of(path): file_length(path) for path in modules()}, LONGEST_FILE, LONG_FILES)


def test_functions_are_short():
    lengths: dict[str, int] = {}
    for path in modules():
        for name, length in function_lengths(path):
            place = f"{name_of(path)}:{name}"
            lengths[place] = max(length, lengths.get(place, 0))
    check(lengths, LONGEST_FUNCTION, LONG_FUNCTIONS)


@pytest.mark.parametrize("path", [path for path in modules() if path.stem == "__init__"], ids=name_of)
def test_folders_have_a_docstring(path):
    assert ast.get_docstring(tree_of(path))


def test_every_folder_of_python_files_is_a_package():
    assert {path.parent for path in modules()} == {
        path.parent for path in modules() if path.stem == "__init__"
    }
