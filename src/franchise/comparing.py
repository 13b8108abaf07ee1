"""Several samplers on the same data: how fast their chains move, whether they agree, how good their topics are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from franchise.data.corpus import Corpus
from franchise.data.grouped import GroupedData
from franchise.data.splits import hold_out_documents
from franchise.diagnostics.heldout import document_completion
from franchise.posterior import Posterior
from franchise.recipes import AUTO, RECIPES
from franchise.sampling import sample
from franchise.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

_MOVED = {"topics": "n_topics", "log joint": "log_joint"}


def compare_samplers(
    data: GroupedData, samplers: list[str], asked: dict[str, Any], tell: Callable[[str, float], None]
) -> pd.DataFrame:
    """One row a sampler; `asked` are further arguments of `sample`, and `tell` hears what is being run.

    Of a corpus a tenth of the documents is held out, and scored.
    """
    import pandas as pd

    for name in samplers:
        check_choice("samplers", name, [AUTO, *RECIPES])
    trained, held_out = hold_out_documents(data) if isinstance(data, Corpus) else (data, None)
    rows = {}
    for place, name in enumerate(samplers):
        tell(name, place / len(samplers))
        posterior = sample(trained, sampler=name, progress=False, **asked)
        rows[name] = {**_facts(posterior), **_score(posterior, held_out)}
    tell("done", 1.0)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("sampler")


def _facts(posterior: Posterior) -> dict[str, float]:
    """Topics, agreement, and effective draws for each second that all chains took, warm-up included."""
    summary = posterior.summary()
    facts = {"seconds": posterior.seconds, "topics": float(summary["mean"]["n_topics"])}
    for label, name in _MOVED.items():
        facts[f"R-hat of {label}"] = float(summary["r_hat"][name])
        facts[f"draws/s of {label}"] = float(summary["ess_bulk"][name]) / posterior.seconds
    return facts


def _score(posterior: Posterior, held_out: Corpus | None) -> dict[str, float]:
    if held_out is None:
        return {}
    return {"held-out nats/word": document_completion(posterior, held_out).log_probability_per_word}
