"""Observations from AnnData objects, which hold cells in rows with facts about rows and columns.

Only attributes are used (`obs`, `X`, `layers`, `obsm`, `var_names`, `obs_names`), so that anndata is not imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from franchise.data.grouped import is_missing, is_sparse
from franchise.errors import InputError
from franchise.validation import available_memory, check_choice, describe

_NEEDED = ("obs", "X", "layers", "obsm", "var_names")


def check_annotated(adata: Any) -> None:
    """Raise InputError if an object is not like an AnnData object."""
    lacking = [name for name in _NEEDED if not hasattr(adata, name)]
    if lacking:
        raise InputError(
            f"adata must be an AnnData object; got {describe(adata)}, which has no {', '.join(lacking)}."
        )


def read_annotated(
    adata: Any,
    groups: str | Sequence[str],
    *,
    layer: str | None,
    obsm: str | None,
    variables: Sequence[str] | None,
    dense: bool,
    metadata: Sequence[str] | None,
) -> tuple[Any, Any, list[str] | None, dict[str, list[Any]]]:
    """Return observations, group labels, names of columns and facts about groups; see `Groups.from_anndata`."""
    check_annotated(adata)
    columns = [groups] if isinstance(groups, str) else list(groups)
    if not columns:
        raise InputError("groups must name a column of adata.obs; got an empty list.")
    known = [str(each) for each in adata.obs.columns]
    chosen = [check_choice("groups", column, known) for column in columns]
    labels: Any = adata.obs[chosen]  # levels of a tree
    rows: list[Any] = [tuple(map(str, row)) for row in labels.to_numpy()]
    if len(chosen) == 1:
        labels = rows = _column(adata, "groups", chosen[0])
    values, names = _matrix(adata, layer, obsm)
    if variables is not None:
        values, names = _chosen(values, names, variables)
    observations = _in_memory(values, dense)
    facts = {name: _facts(adata, name, rows) for name in _listed("metadata", metadata)}
    return observations, labels, names, facts


def _matrix(adata: Any, layer: str | None, obsm: str | None) -> tuple[Any, list[str]]:
    """Return the matrix and the names of its columns."""
    if layer is not None and obsm is not None:
        raise InputError("layer and obsm must not both be given. Remove one of them.")
    if obsm is not None:
        values = adata.obsm[check_choice("obsm", obsm, list(adata.obsm))]
        given = getattr(values, "columns", None)
        return values, [f"{obsm} {place}" for place in range(values.shape[1])] if given is None else list(
            given
        )
    values = adata.X if layer is None else adata.layers[check_choice("layer", layer, list(adata.layers))]
    if values is None:
        raise InputError("adata.X is empty. Name a layer, or an entry of adata.obsm.")
    return values, [str(name) for name in adata.var_names]


def _chosen(values: Any, names: list[str], variables: Sequence[str]) -> tuple[Any, list[str]]:
    wanted = _listed("variables", variables)
    place_of = {name: place for place, name in enumerate(names)}
    places = [place_of[check_choice("variables", name, names)] for name in wanted]
    if not places:
        raise InputError("variables must name at least one variable; got an empty list.")
    if hasattr(values, "iloc"):
        return values.iloc[:, places], wanted
    return _loaded(values)[:, places], wanted


def _loaded(values: Any) -> Any:
    """Return a matrix in memory: those of files, and views, have a method for it."""
    if hasattr(values, "to_memory"):
        values = values.to_memory()
    if hasattr(values, "compute"):  # dask
        values = values.compute()
    return values.tocsr() if is_sparse(values) else values


def _in_memory(values: Any, dense: bool) -> Any:
    """Return a matrix as an array, a DataFrame or a CSR matrix."""
    loaded = _loaded(values)
    if not is_sparse(loaded):
        return loaded if hasattr(loaded, "iloc") or np.ma.isMaskedArray(loaded) else np.asarray(loaded)
    if not dense:
        whole = loaded.data.dtype.kind == "f" and bool((loaded.data == np.floor(loaded.data)).all())
        return loaded.astype(np.int64) if whole else loaded
    needed, free = 8 * loaded.shape[0] * loaded.shape[1], available_memory()
    if 2 * needed > free:
        raise InputError(
            f"dense=True needs {2 * needed / 2**30:.1f} GiB for a matrix of shape {loaded.shape}; "
            f"{free / 2**30:.1f} GiB are available. Choose variables, or reduce them to principal components "
            "(obsm)."
        )
    return loaded.toarray()


def _listed(name: str, names: object) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"{name} must be a list of names; got {describe(names)}.")
    return [str(each) for each in names]


def _column(adata: Any, argument: str, name: object) -> list[Any]:
    """Return the entries of a column of adata.obs, without missing ones."""
    column = adata.obs[check_choice(argument, name, [str(each) for each in adata.obs.columns])]
    entries: list[Any] = column.astype(object).tolist()
    for row, entry in enumerate(entries):
        if entry is None or is_missing(entry):
            raise InputError(
                f"adata.obs[{name!r}] must have an entry for every row; row {row} ({adata.obs_names[row]!r}) has "
                "none. Fill it in, or drop such rows."
            )
    return entries


def _facts(adata: Any, name: str, labels: list[Any]) -> list[Any]:
    """Return a fact per group, in the order in which groups first appear."""
    fact_of: dict[Any, Any] = {}
    for label, entry in zip(labels, _column(adata, "metadata", name), strict=True):
        if fact_of.setdefault(label, entry) != entry:
            raise InputError(
                f"metadata: adata.obs[{name!r}] must be the same for all rows of a group; group {label!r} has "
                f"{fact_of[label]!r} and {entry!r}. Remove it from metadata, or add it to groups."
            )
    return list(fact_of.values())
