"""Results written into AnnData objects, which hold cells in rows with facts about rows and columns.

Only attributes are used, so that anndata is not imported.  All that is written can be stored as an h5ad file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.annotated import check_annotated
from franchise.data.groups import Groups
from franchise.errors import InputError
from franchise.families.abilities import Ability
from franchise.posterior.document_tables import OTHER
from franchise.validation import describe

if TYPE_CHECKING:
    from franchise.posterior.hdp_posterior import HDPPosterior
    from franchise.posterior.topic_moments import TopicMoments


def annotate(posterior: HDPPosterior, adata: Any, key: object) -> None:
    """Write labels, probabilities and parameters of topics into an AnnData object."""
    import pandas as pd

    check_annotated(adata)
    if not isinstance(key, str) or not key:
        raise InputError(f"key must be a name, such as 'hdp'; got {describe(key)}.")
    _check_rows(posterior, adata)
    names = [*posterior.consensus_topics.labels, OTHER]
    probabilities = posterior.observation_probabilities()
    codes = probabilities.argmax(axis=1)
    categories = pd.Index(names, dtype=object)  # strings of pyarrow cannot be stored as h5ad by all versions
    adata.obs[key] = pd.Categorical.from_codes(codes, categories=categories)
    adata.obs[f"{key}_probability"] = probabilities.max(axis=1)
    adata.obsm[f"{key}_probabilities"] = probabilities
    facts = _facts(posterior, names)
    if Ability.HAS_MOMENTS in posterior.family.abilities:
        moments = posterior.topic_moments()
        facts |= {name: value for name, value in moments._asdict().items() if isinstance(value, np.ndarray)}
        facts["columns"] = np.array(moments.columns, dtype=object)
        _write_variables(adata, key, moments)
    adata.uns[key] = facts


def _check_rows(posterior: HDPPosterior, adata: Any) -> None:
    data = posterior.data
    if not isinstance(data, Groups):
        raise InputError(
            f"to_anndata needs a posterior of Groups; this one is of {type(data).__name__}. Use export(folder) for "
            "the tables."
        )
    if len(adata.obs) != data.n_observations:
        raise InputError(
            f"adata must have the rows of the fitted data ({data.n_observations}), in the same order; got "
            f"{len(adata.obs)} rows. Use the object that the data were read from."
        )


def _facts(posterior: HDPPosterior, names: list[str]) -> dict[str, Any]:
    """Return what is known of topics and groups, as texts and arrays."""
    consensus = posterior.consensus_topics
    return {
        "topics": np.array(names, dtype=object),
        "weights": consensus.shares.mean(axis=0),
        "weights_interval": np.array(consensus.share_interval()),
        "groups": np.array([str(name) for name in posterior.data.group_names], dtype=object),
        "proportions": consensus.document_shares(),
        "model": posterior.model_description,
        "sampler": posterior.sampler,
        "seed": posterior.seed,
        "verdict": posterior.verdict().sentence,
    }


def _write_variables(adata: Any, key: str, moments: TopicMoments) -> None:
    """Write means and their intervals beside the variables, if the columns of the data are variables."""
    place_of = {str(name): place for place, name in enumerate(adata.var_names)}
    if not all(name in place_of for name in moments.columns):
        return
    places = [place_of[name] for name in moments.columns]
    low, high = moments.means_interval
    for name, values in {"means": moments.means, "means_low": low, "means_high": high}.items():
        rows = np.full((len(place_of), len(values)), np.nan)
        rows[places] = values.T
        adata.varm[f"{key}_{name}"] = rows
