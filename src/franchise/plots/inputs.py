"""What is handed to plots, checked: posteriors of the right kind, names in the trace, documents, topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from franchise.data.corpus import Corpus
from franchise.errors import InputError
from franchise.found.draws import check_draws
from franchise.htmm.posterior import SegmentPosterior
from franchise.posterior import Posterior
from franchise.validation import check_choice, check_integer, describe

if TYPE_CHECKING:
    from franchise.found.consensus import Consensus

AnyPosterior: TypeAlias = Posterior | SegmentPosterior


def check_posterior(posterior: Any) -> AnyPosterior:
    """A posterior of either model, with draws."""
    if isinstance(posterior, (Posterior, SegmentPosterior)):
        check_draws(posterior)
        return posterior
    if hasattr(posterior, "fit"):
        repair = " Give its posterior_ after fitting by Gibbs sampling: estimator.posterior_."
    else:
        repair = ""
    raise InputError(
        f"posterior must be what franchise.sample returns, or posterior_ of an estimator; "
        f"got {describe(posterior)}.{repair}"
    )


def check_segments(posterior: Any) -> SegmentPosterior:
    """A posterior of the hidden topic Markov model."""
    checked = check_posterior(posterior)
    if not isinstance(checked, SegmentPosterior):
        raise InputError(
            "segments are those of the hidden topic Markov model: posterior must be posterior_ of a fitted HTMM; "
            "got one of an HDP mixture, which has no sentences. See document_strip for its documents."
        )
    return checked


def check_words(posterior: Any, what: str) -> AnyPosterior:
    """A posterior of a corpus, whose topics have words."""
    checked = check_posterior(posterior)
    if not isinstance(checked.data, Corpus):
        raise InputError(
            f"{what} shows words: posterior must be of a Corpus; got one of {type(checked.data).__name__}."
        )
    return checked


def check_names(posterior: AnyPosterior, names: Any) -> list[str]:
    """Names of things that are traced: one, or several."""
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    if not listed:
        raise InputError("names must be at least one name of something traced; got none.")
    return [check_choice("names", name, posterior.trace) for name in listed]


def check_document(posterior: AnyPosterior, document: Any) -> int:
    """The number of a document with words, given by its number or its name."""
    data = posterior.data
    if isinstance(document, str):
        if document not in data.group_names:
            raise InputError(
                f"document must be a number from 0 to {data.n_groups - 1} or a name in data.group_names; "
                f"got {describe(document)}."
            )
        number = data.group_names.index(document)
    else:
        number = check_integer("document", document, minimum=0, maximum=data.n_groups - 1)
    if data.group_sizes[number] == 0:
        raise InputError(f"document {describe(document)} has no words that could be shown.")
    return number


def check_any(consensus: Consensus) -> None:
    """InputError if draws agree on no topic at all."""
    if consensus.topic_count == 0:
        raise InputError(
            "posterior has no consensus topics that could be shown: no topic is in a quarter of the draws of any "
            "chain. Draw more, by posterior.continue_(draws=...)."
        )


def check_topics(consensus: Consensus, topics: Any, most: int) -> list[int]:
    """Numbers of topics: all up to so many if None, as many as a number says, or those listed."""
    count = consensus.topic_count
    check_any(consensus)
    if topics is None:
        return list(range(min(most, count)))
    if not isinstance(topics, Iterable) or isinstance(topics, str):
        return list(range(min(check_integer("topics", topics, minimum=1), count)))
    listed = [check_integer("topics", topic, minimum=0, maximum=count - 1) for topic in topics]
    if not listed:
        raise InputError(f"topics must be a number of topics, or numbers from 0 to {count - 1}; got none.")
    return listed
