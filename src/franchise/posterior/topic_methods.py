"""Tables of topics that all use the same numbers: those of the consensus topics."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from franchise.errors import InputError, warn_renamed
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.edits import TopicEdits
from franchise.posterior.intervals import even_rows
from franchise.posterior.stored_numbers import Numbering, store
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

    from franchise.data.grouped import GroupedData
    from franchise.posterior.consensus import Consensus
    from franchise.posterior.draw import Draw
    from franchise.posterior.single_draw import SingleDraw

DRAWS_FOR_NEW = 10
"""New documents are described by means over this many draws."""


class NumberedTopics(PosteriorContract[DrawT]):
    """Topics, their shares in documents, and single draws and chains."""

    # -- topics --------------------------------------------------------------------------------------------

    @cached_property
    def consensus_topics(self) -> Consensus:
        """The topics matched over all stored draws (`franchise.posterior.consensus.Consensus`).

        The numbers of topics are written to run.json of the run, if that can be written.
        """
        from franchise.posterior.consensus import Consensus

        consensus = Consensus.of(self)
        if self.run is not None and self.run.folder is not None:
            before = None if self.numbering is None else numbers_to_plain(self.numbering, self.changes)
            store(self.run.folder.path, before, numbers_to_plain(consensus.numbering, consensus.changes))
        return consensus

    @property
    def matched(self) -> Consensus:
        """Deprecated: the old name of `consensus_topics`."""
        warn_renamed("posterior.matched", "posterior.consensus_topics")
        return self.consensus_topics

    def topics(self, words: int = 10, chain: int | None = None) -> pd.DataFrame:
        """Return the consensus topics: what draws and chains agree on, the largest first.

        Parameters
        ----------
        words : int
            Number of words to show.
        chain : int, optional
            Deprecated: the topics of the last draw of this chain, with numbers of their own.  Use
            ``draw(chain=...)``.

        Returns
        -------
        DataFrame
            One row per topic, indexed by its number: `label`; `share` of the observations with `low` and `high`, a
            95% interval over draws; `draws`, the share of draws that have it; `chains`, how many of the `n_chains`
            chains have it in a quarter of their draws or more; and, for a Corpus, its most probable `words`.
            If the topics do not cover nearly everything, ``attrs["note"]`` says how much they cover.

        Raises
        ------
        InputError
            If draws agree on no topic at all.
        """
        if chain is not None:
            warn_renamed("topics(chain=...)", "draw(chain=...).topics()")
            return self.draw(chain).numbered_table(words)
        words = check_integer("words", words, minimum=1)
        consensus = self.consensus_topics
        if consensus.topic_count == 0:
            raise InputError(
                "there are no consensus topics: no topic is in a quarter of the draws of any chain. See "
                "posterior.draw().topics() for the topics of one draw, or draw more."
            )
        return self.with_note(consensus.table(words))

    def with_note(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table with a note in its ``attrs`` if the consensus topics do not cover nearly everything."""
        if self.consensus_topics.note:
            table.attrs["note"] = self.consensus_topics.note
        return table

    def consensus(self, words: int = 10) -> pd.DataFrame:
        """Return the consensus topics: another name of `topics`."""
        return self.topics(words)

    def document_topics(self, chain: int | None = None) -> pd.DataFrame:
        """Return the share of each topic in each document or group, mean over draws; rows sum to one.

        Columns are the numbers of the topics, and "other" for all that is in no consensus topic.

        Parameters
        ----------
        chain : int, optional
            Deprecated: the topics of the last draw of this chain.  Use ``draw(chain=...)``.
        """
        from franchise.posterior.document_tables import shares_table

        if chain is not None:
            warn_renamed("document_topics(chain=...)", "draw(chain=...).document_topics()")
            return self.draw(chain).numbered_documents()
        return shares_table(self.data, self.consensus_topics.document_shares())

    def infer(self, data: GroupedData) -> pd.DataFrame:
        """Return the expected share of each topic in new documents or groups; rows sum to one.

        Parameters
        ----------
        data : Corpus or Groups
            New documents over the same vocabulary (`read_corpus(path, like=posterior.data)` and
            `posterior.data.read_new_texts` make them), or new groups of observations.

        Returns
        -------
        DataFrame
            Columns as in `document_topics`; means over ten evenly spaced draws.
        """
        from franchise.posterior.document_tables import shares_table
        from franchise.posterior.predictive import check_like

        check_like("data", data, self.data)
        return shares_table(data, self.infer_shares(self.prepare_new(data)))

    def infer_shares(self, new: object) -> np.ndarray:
        """Return what `infer` says of data that `prepare_new` has prepared, float64 (J, T + 1)."""
        consensus = self.consensus_topics
        total: np.ndarray | float = 0.0
        chosen = self.draws_for_new()
        for number, (draw, match) in enumerate(chosen):
            weights = self.infer_weights(draw.kept, new, number)
            own = np.zeros((len(weights), consensus.topic_count + 1))
            consensus.add_columns(own, match, weights)
            total = total + own
        shares: np.ndarray = np.asarray(total) / len(chosen)
        return shares

    def draws_for_new(self) -> list[tuple[Draw, np.ndarray]]:
        """Return the draws that new documents are described by, with the consensus topics of their topics."""
        consensus = self.consensus_topics
        return even_rows(list(zip(consensus.draws, consensus.matches, strict=True)), DRAWS_FOR_NEW)

    def draw(self, chain: int | None = None, draw: int = -1) -> SingleDraw:
        """Return one stored draw, with topics of its own.

        Parameters
        ----------
        chain : int, optional
            The chain [default: the draw of all chains with the highest log joint probability].
        draw : int
            Which of the chain's stored draws (at most 32, evenly spaced), counted from 0, or from the end if
            negative [default: the last].
        """
        from franchise.posterior.draw import draw_of, stored_by_chain
        from franchise.posterior.single_draw import SingleDraw

        stored, log_joint = stored_by_chain(self), self.trace["log_joint"]
        if chain is None:
            every = [(number, kept) for number, own in enumerate(stored) for kept in own]
            best, kept = max(every, key=lambda pair: log_joint[pair[0], pair[1].draw])
            return SingleDraw(self, draw_of(self, best, kept))
        chain = self._check_chain(chain)
        own = stored[chain]
        place = check_integer("draw", draw, minimum=-len(own), maximum=len(own) - 1)
        return SingleDraw(self, draw_of(self, chain, own[place]))

    def chain(self, chain: int) -> Self:
        """Return the posterior of one chain alone, with the same consensus topics, numbers and labels.

        Shares, intervals and words are those within the chain; a topic that it does not have has a share of 0.
        """
        chain = self._check_chain(chain)
        alone = self.only_chain(chain)
        vars(alone)["consensus_topics"] = self.consensus_topics.of_chain(alone, chain)
        return alone

    def _check_chain(self, chain: object) -> int:
        checked = check_integer("chain", chain, minimum=0)
        if checked >= self.n_chains:
            raise InputError(f"chain must be from 0 to {self.n_chains - 1}; got {chain}.")
        return checked


def numbers_to_plain(numbering: Numbering, changes: TopicEdits) -> dict[str, Any]:
    """Return numbers and edits of topics as values that JSON can store."""
    return {"draws": numbering.to_plain(), **changes.to_plain()}
