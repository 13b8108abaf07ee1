"""Conversion of posteriors to ArviZ, for its plots, statistics and NetCDF files.

    posterior         what is traced and means the same in every draw; the shares of the largest topics
    sample_stats      how the sampler fared: log joint (`lp`), seconds, proposals and acceptances of moves
    warmup_posterior, warmup_sample_stats
                      the same for the sweeps of the warm-up
    attributes        sampler, seed, model and data, in words and numbers

The container is xarray's `DataTree`, as ArviZ uses it since 1.0 (arviz-base, arviz-stats, arviz-plots).  The topics
of observations are not included: their numbers have no meaning across draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.diagnostics.verdict import NAMES
from franchise.errors import InputError
from franchise.posterior.base import Posterior, check_posterior
from franchise.running.chain import SHARES

if TYPE_CHECKING:
    from xarray import DataTree

_SHARES = "share_of_largest"
_DIMENSIONS = {_SHARES: ["largest"]}
_COORDINATES = {"largest": np.arange(1, len(SHARES) + 1)}


def to_arviz(posterior: object) -> DataTree:
    """Return a posterior of either model as a `DataTree`, which has a method ``to_netcdf(path)``.

    Needs ``pip install 'franchise[arviz]'``.

    Parameters
    ----------
    posterior : Posterior
        Draws of either model.

    Returns
    -------
    DataTree
        Groups ``posterior``, ``sample_stats`` and the like, of the draws and of the warm-up. A "/" in the path of a
        node of a tree of groups becomes "|", as DataTree reserves it.

    Raises
    ------
    InputError
        If arviz-base is not installed, or `posterior` is no posterior.

    Examples
    --------
    >>> import franchise as fr
    >>> from franchise.diagnostics import to_arviz
    >>> corpus = fr.Corpus.from_tokens([["cat", "dog"], ["dog", "ship"]])
    >>> tree = to_arviz(fr.sample(corpus, draws=4, warmup=2, chains=2, progress=False))
    >>> tree["posterior"]["n_topics"].sizes
    Frozen({'chain': 2, 'draw': 4})
    """
    posterior = check_posterior("posterior", posterior)
    try:
        from arviz_base import from_dict
    except ImportError:
        raise InputError(
            "to_arviz needs arviz-base, which is not installed. Run pip install 'franchise[arviz]'."
        ) from None
    groups = {**_groups("", posterior.trace), **_groups("warmup_", posterior.warmup_trace)}
    facts = facts_of(posterior)
    return from_dict(
        groups,
        save_warmup=True,
        dims=_DIMENSIONS,
        coords=_COORDINATES,
        attrs={"/": facts, **dict.fromkeys(groups, facts)},
    )


def _groups(prefix: str, trace: Mapping[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """Return traces by group of ArviZ; empty if there are no sweeps."""
    if trace["n_topics"].shape[1] == 0:
        return {}
    trace = {name.replace("/", "|"): values for name, values in trace.items()}
    of_model = {name: values for name, values in trace.items() if _is_of_model(name)}
    if SHARES[0] in trace:
        of_model[_SHARES] = np.stack([trace[name] for name in SHARES], axis=2)
    of_sampler = {
        name: values for name, values in trace.items() if not _is_of_model(name) and name not in SHARES
    }
    return {
        f"{prefix}posterior": of_model,
        f"{prefix}sample_stats": {"lp": trace["log_joint"], **of_sampler},
    }


def _is_of_model(quantity: str) -> bool:
    return quantity in NAMES or quantity.startswith("alpha[")


def facts_of(posterior: Posterior[Any]) -> dict[str, Any]:
    """Return the data, model and settings of the run as plain values."""
    from franchise import __version__

    return {
        "inference_library": "franchise",
        "inference_library_version": __version__,
        "sampler": posterior.sampler,
        "seed": posterior.seed,
        "sampling_time": posterior.seconds,
        "model": posterior.model_description,
        "data": repr(posterior.data),
        "n_groups": posterior.data.n_groups,
        "n_observations": posterior.data.n_observations,
    }
