"""Names of topics by a function of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from franchise.errors import InputError
from franchise.posterior.document_tables import DocumentTables
from franchise.validation import check_integer, describe

if TYPE_CHECKING:
    from franchise.posterior.consensus import Consensus

Hook = Callable[[list[str], list[str]], str]
"""From the words and the excerpts of typical documents of a topic to its name."""


def asked_names(
    posterior: DocumentTables[Any], hook: Hook, topics: Iterable[int] | None, words: int, documents: int
) -> dict[int, str]:
    """Return the names that a function gives topics; InputError if it gives none."""
    if not callable(hook):
        raise InputError(f"hook must be a function of words and documents; got {describe(hook)}.")
    consensus = posterior.consensus_topics
    consensus.check_any()
    relevant = consensus.relevant_words(check_integer("words", words, minimum=1))
    documents = check_integer("documents", documents, minimum=0)
    names = {}
    for topic in _chosen(consensus, topics):
        excerpts: list[str] = []
        if documents and consensus.corpus.texts is not None:
            excerpts = posterior.representative_documents(topic, documents)["text"].tolist()
        names[topic] = _asked(hook, topic, relevant[topic], excerpts)
    return names


def _chosen(consensus: Consensus, topics: Iterable[int] | None) -> list[int]:
    if topics is None:
        return [topic for topic in range(consensus.topic_count) if topic not in consensus.given_labels]
    try:
        return list(dict.fromkeys(consensus.check_topic(topic) for topic in topics))
    except TypeError:
        raise InputError(
            f"topics must be a list of topics, such as [0, 3]; got {describe(topics)}."
        ) from None


def _asked(hook: Hook, topic: int, words: list[str], excerpts: list[str]) -> str:
    try:
        name = hook(list(words), excerpts)
    except Exception as error:
        raise InputError(
            f"hook failed for topic {topic}: {type(error).__name__}: {error}. Correct it, or name only some topics "
            f"with topics=[...]."
        ) from error
    if not isinstance(name, str) or not name.strip():
        raise InputError(
            f"hook must return a name that is not empty; got {describe(name)} for topic {topic}, with the words "
            f"{', '.join(words[:3])}."
        )
    return name
