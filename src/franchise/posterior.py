"""What sampling gives: traces, draws, and tables made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from franchise.chains.runs import Run
from franchise.chains.snapshots import Snapshot
from franchise.chains.trace import names_of, stack
from franchise.data.grouped import GroupedData
from franchise.errors import InputError
from franchise.families.base import Family
from franchise.found.changes import NO_CHANGES, Changes
from franchise.found.methods import WithTopics
from franchise.model import Model
from franchise.state.base import LastStates, State
from franchise.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Posterior(WithTopics):
    """Draws from the posterior.

    Attributes
    ----------
    trace : dict of arrays (chains, draws)
        ``n_topics`` (occupied), ``n_tables``, ``log_joint``, ``log_likelihood_per_observation``, ``alpha``,
        ``gamma``, ``seconds``; ``best_log_likelihood_per_observation``, the highest after any sweep so far;
        ``share_of_largest_1`` to ``share_of_largest_10``, the shares of the observations in the largest topic,
        in the two largest, and so on; and what moves add.
    warmup_trace : dict of arrays (chains, warm-up sweeps)
        The same for every sweep of the warm-up.
    labels : int32 array (chains, draws, N) or None
        The topic of every observation in input order, 0..n_topics-1 within a draw, without meaning across
        draws; only with ``keep_labels=True``.
    snapshots : list (chains) of lists of Snapshot
        Some of the draws in full, evenly spaced; scores and tables are made of them.
    states : sequence (chains) of State
        The last state of each chain; can be given as `start` of another run.
    data, model, sampler, seed
        What was sampled, and how.
    run : Run
        The chains as they stand, with their schedule and plan: what `save` and `continue_` go by.
    changes : Changes
        How consensus topics were named or merged by hand.
    """

    trace: dict[str, np.ndarray]
    warmup_trace: dict[str, np.ndarray]
    labels: np.ndarray | None
    snapshots: list[list[Snapshot]]
    states: Sequence[State]
    data: GroupedData
    model: Model
    sampler: str
    seed: int
    run: Run | None = None
    changes: Changes = NO_CHANGES

    @classmethod
    def from_run(cls, run: Run, data: GroupedData, model: Model, sampler: str, seed: int) -> Posterior:
        """Gather what the chains have kept."""
        chains, draws = run.chains, run.fewest_draws
        warmup = min(len(chain.warmup_trace) for chain in chains)
        names = names_of([chain.trace for chain in chains])
        in_warmup = names_of([trace for chain in chains for trace in (chain.trace, chain.warmup_trace)])
        return cls(
            trace=stack([chain.trace for chain in chains], draws, names),
            warmup_trace=stack([chain.warmup_trace for chain in chains], warmup, in_warmup),
            labels=None if run.labels is None else run.labels[:, :draws],
            snapshots=[list(chain.snapshots.kept) for chain in chains],
            states=LastStates([chain.chain for chain in chains]),
            data=data,
            model=model,
            sampler=sampler,
            seed=seed,
            run=run,
        )

    @property
    def family(self) -> Family:
        """The likelihood family."""
        return self.model.family

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(self.states)

    def __repr__(self) -> str:
        """Say what was found, how sure it is, and what to call next."""
        topics = self.trace["n_topics"]
        low, high = np.quantile(topics, [0.05, 0.95])
        between = f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
        likelihood = self.trace["log_likelihood_per_observation"][:, -1].mean()
        return (
            f"Posterior({self.n_chains} chains x {self.n_draws} draws of {self.data!r}, "
            f"sampler {self.sampler!r}, {self.seconds:.1f} s)\n"
            f"  topics: {between} (middle 90 % of draws)\n"
            f"  log likelihood per observation: {likelihood:.3f}\n"
            f"  see .summary(), .verdict(), .consensus(), .topics(), .document_topics(), .trace"
        )

    def topics(self, words: int = 10, chain: int | None = None) -> pd.DataFrame:
        """The topics of one draw, largest first.

        One row a topic: its share of the observations and, for a Corpus, its most probable words.

        Parameters
        ----------
        words : int
            How many words to show.
        chain : int, optional
            Topics have no meaning across chains or draws, so these are those of one draw: of the draws that are
            kept in full that with the highest log joint probability; of the last one of this chain, if it is given.
        """
        from franchise.tables import topic_table

        words = check_integer("words", words, minimum=1)
        return topic_table(self.data, self.model, self._draw(chain), words)

    def document_topics(self, chain: int | None = None) -> pd.DataFrame:
        """The share of each topic in each group; rows sum to one.

            E[pi_jk | z, m] = (n_jk + alpha E[beta_k]) / (n_j + alpha)

        One row a group; columns are the topics as numbered by `topics`, and "unseen" for all others.
        """
        from franchise.tables import document_table

        return document_table(self.data, self._draw(chain))

    def infer(self, data: GroupedData) -> pd.DataFrame:
        """The expected share of each topic in new documents or groups, given their observations; rows sum to one.

        Parameters
        ----------
        data : Corpus or Groups
            New documents over the same vocabulary (`read_corpus(path, like=posterior.data)` and
            `posterior.data.read_new_texts` make them), or new groups of observations.

        Returns
        -------
        DataFrame
            As `document_topics`: columns are the topics as numbered by `topics`, and "unseen".
        """
        from franchise.predictive import Occurrences, check_like, infer_weights
        from franchise.tables import weights_table

        check_like("data", data, self.data)
        observed = Occurrences.of(data, self.family)
        return weights_table(
            data.group_names, infer_weights(self.model, self._draw(None), observed, self.seed)
        )

    def _draw(self, chain: int | None) -> Snapshot:
        from franchise.tables import reference_draw

        if chain is None:
            return reference_draw(self)
        chain = check_integer("chain", chain, minimum=0)
        if chain >= self.n_chains:
            raise InputError(f"chain must be from 0 to {self.n_chains - 1}; got {chain}.")
        return self.snapshots[chain][-1]
