"""The posterior of either model: the tables of what was found, edits by hand, storage, and more draws."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from franchise.errors import InputError, warn_renamed
from franchise.parallel.engine import Engine
from franchise.posterior.by_metadata import MetadataTables
from franchise.posterior.consensus_rules import ConsensusRules
from franchise.posterior.contract import DrawT
from franchise.posterior.document_tables import DocumentTables
from franchise.posterior.effect_tables import EffectTables
from franchise.posterior.exports import ExportTables
from franchise.posterior.freeze import KnownTopicTables
from franchise.posterior.point_partition import point_partition
from franchise.posterior.stored_numbers import NO_EDITS, SETTING, Numbering, TopicEdits, numbers_to_plain
from franchise.posterior.topic_tables import TopicTables
from franchise.running.run import Run, RunOptions
from franchise.validation import PathLike, check_integer, describe

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from franchise.data.corpus import Corpus
    from franchise.diagnostics.verdict import Verdict
    from franchise.posterior.consensus import Consensus


class Posterior(
    TopicTables[DrawT],
    DocumentTables[DrawT],
    MetadataTables[DrawT],
    EffectTables[DrawT],
    ExportTables[DrawT],
    KnownTopicTables[DrawT],
):
    """Draws of either model, and everything said of their topics.

        posterior.verdict()                          have the chains converged?
        posterior.topics()                           the topics, each with its share and how certain it is
        posterior.with_consensus(min_chains=2)       the same with other rules for topics, everywhere
        posterior.representative_documents(3)        what is topic 3 about?
        posterior.find_topics("railway")             which topics are about railways?
        posterior.topics_over("year")                when were they discussed?
        posterior.effect("~ party + s(year)")        what does their prevalence depend on?
        posterior = posterior.set_labels({3: "trade"}).merge_topics([[5, 9]])
        posterior.report("report.html")              all of it, to read in a browser
        posterior.export("tables")                   all tables, as CSV, Excel or Parquet

    Topics are the *consensus topics* of all draws and chains, with the same numbers in every table, plot, report,
    command and estimator.  `draw()` gives the topics of one draw, `chain(k)` the consensus topics within one chain.
    """

    def point_partition(self) -> np.ndarray:
        """One partition of all observations: that with the least expected variation of information.

            VI(c, z) = [sum_k f(n_k.) + sum_l f(n_.l) - 2 sum_kl f(n_kl)] / N,   mean over draws z minimal

        with f(n) = n log n and n_kl the observations in cluster k of c and l of z (Wade & Ghahramani 2018). Ask for
        it where every observation is to have one cluster, for a table or a map, say; where its uncertainty matters,
        `consensus_topics.label_probabilities()` has more. The search is described in
        `franchise.posterior.point_partition`.

        Returns
        -------
        int64 array (N,)
            The cluster of every observation in input order, numbered from the largest.  They are not the consensus
            topics: every observation is in one.
        """
        consensus = self.consensus_topics
        found = point_partition(consensus.draws, consensus.most_probable_topic().topic)
        partition: np.ndarray = self.data.to_input_order(found.labels)
        return partition

    # -- changes by hand -----------------------------------------------------------------------------------

    def set_labels(self, labels: Mapping[int, str]) -> Self:
        """The same posterior with topics named by hand, such as {0: "war"}; kept by `save`.

        Others keep their automatic labels; an empty name brings that back.  With more draws, names stay with the
        topics that match.
        """
        return self._changed(self.consensus_topics.with_labels(labels))

    def merge_topics(self, groups: Sequence[Sequence[int]]) -> Self:
        """The same posterior with each of some groups of consensus topics as one, such as [[0, 3], [5, 6]].

        Draws stay as they are; topics are numbered by size again.  Kept by `save`.
        """
        return self._changed(self.consensus_topics.merged(groups))

    def with_consensus(
        self,
        *,
        merge_cosine: float | None = None,
        min_share: float = 0.0,
        min_draws: float = 0.0,
        min_chains: int = 0,
        min_groups: int = 0,
    ) -> Self:
        """Return the same posterior with consensus topics under other rules, in every table, plot and report.

        Similar topics are merged, then those with too little support are left over (`left_over`).  The others are
        numbered by size again.  Rules start from the topics as they were matched, whatever the rules before;
        names and merges by hand stay, if their topics do.  Kept by `save`; judged again with more draws.

        Parameters
        ----------
        merge_cosine : float, optional
            Merge topics until no two mean distributions over words or categories have a larger cosine: the most
            similar first, each merged topic by its mean (centroid linkage).  For the families Categorical,
            KnownTopics and Multinomial, and for an HTMM [default: no merging].
        min_share : float
            The least share of the observations, mean over all draws.
        min_draws : float
            The least share of all draws that have the topic.
        min_chains : int
            The least number of chains that have the topic in a quarter of their draws or more.
        min_groups : int
            The least number of documents or groups that it occurs in, mean over the draws that have it.

        Raises
        ------
        InputError
            If no topic satisfies the rules.
        """
        rules = ConsensusRules(merge_cosine, min_share, min_draws, min_chains, min_groups).checked()
        if self.consensus_topics.whole is not None:
            raise InputError(
                "the posterior of one chain has the consensus of all: call with_consensus before chain."
            )
        found = self.consensus_topics.under(rules)
        if found.topic_count == 0:
            raise InputError(f"no consensus topic satisfies the rules. {found.note} Use lower limits.")
        return self._changed(found)

    def left_over(self) -> pd.DataFrame:
        """Return what is in no consensus topic, by reason.

        Returns
        -------
        DataFrame
            One row per reason: the number of `topics` that the rules of `with_consensus` left over, and their
            `share` of the observations.  The last row is for topics of single draws that match no topic; these have
            no number.
        """
        return self.consensus_topics.left_over_table()

    def named(self, vocabulary: Sequence[str]) -> Self:
        """Return the same posterior with other names for the words of its topics."""
        return self._changed(replace(self.consensus_topics, names=list(vocabulary)))

    def _changed(self, consensus: Consensus) -> Self:
        posterior: Self = replace(self, changes=consensus.changes, numbering=consensus.numbering)  # type: ignore[type-var]
        vars(posterior)["consensus_topics"] = replace(consensus, posterior=posterior)
        return posterior

    def numbers(self) -> dict[str, Any]:
        """Numbers and edits of topics for run.json, if anybody has seen them."""
        if self.changes == NO_EDITS and self.numbering is None and "consensus_topics" not in vars(self):
            return {}
        consensus = self.consensus_topics
        return {SETTING: numbers_to_plain(consensus.numbering, consensus.changes)}

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return the same posterior with topics numbered, named and merged as run.json says."""
        if SETTING in settings:
            plain = settings[SETTING]
            numbering, changes = Numbering.from_plain(plain["draws"]), TopicEdits.from_plain(plain)
            return replace(self, numbering=numbering, changes=changes)  # type: ignore[type-var]
        plain = settings.get("topics")  # of version 0.1
        if plain is None:
            return self
        if plain["draws"] != self.n_draws:
            warnings.warn(
                f"topics were named or merged by hand when there were {plain['draws']} draws; there are "
                f"{self.n_draws} now, and version 0.1 stored no numbers: names and merges are ignored.",
                stacklevel=3,
            )
            return self
        return replace(self, changes=TopicEdits.from_plain(plain))  # type: ignore[type-var]

    # -- documented elsewhere ------------------------------------------------------------------------------------

    def summary(self, held_out: Corpus | None = None) -> pd.DataFrame:
        """Mean, spread, R-hat and effective sample size of what is traced (by ArviZ), and notes in words.

        Learned numbers, such as alpha, have the 5% and 95% quantiles of their prior beside those of the posterior.
        Left out is what only grows (time, the best so far) and what is meant for a picture (topic shares).

        Parameters
        ----------
        held_out : Corpus, optional
            Documents that were not sampled, over the same vocabulary. The table then has a row ``held_out_score``,
            too: how well their second halves are predicted, under the draws that are kept in full; nats per word.
        """
        from franchise.diagnostics.convergence import summary

        return summary(self, held_out)

    def verdict(self, compare: bool = False) -> Verdict:
        """Judge whether the chains have converged, in a word, a sentence and details.

        Parameters
        ----------
        compare : bool
            Whether to add, if the chains disagree or have not converged, what they agree on and which of them
            predict better. This takes seconds, the rest does not.
        """
        from franchise.diagnostics.verdict import verdict

        return verdict(self, compare)

    def stacking_weights(self) -> pd.DataFrame:
        """Return weights of the chains by how well they predict, for chains that disagree.

        Yao, Vehtari & Gelman (2022), with importance sampling leave-one-out of single observations.

        Returns
        -------
        DataFrame
            One row per chain: `weight`; `log_score`, nats per observation; `difference` from the best chain, with
            its standard `error`. See `franchise.diagnostics.compare_chains`.
        """
        return self._compared_chains.copy()

    @cached_property
    def _compared_chains(self) -> pd.DataFrame:
        from franchise.diagnostics.compare_chains import compare_chains

        return compare_chains(self)

    def to_arviz(self) -> Any:
        """The traces as ArviZ takes them, for its plots and statistics: a DataTree, or InferenceData before 1.0."""
        from franchise.diagnostics import to_arviz

        return to_arviz(self)

    def report(self, path: PathLike, **options: Any) -> Path:
        """Write what was found as one HTML file that opens offline; options are those of `write_report`."""
        from franchise.report.write import write_report

        return write_report(self, path, **options)

    # -- on disk, and more draws --------------------------------------------------------------------------

    def save(self, path: PathLike, **more: object) -> None:
        """Write all draws, the data, the last states and the topic labels to a run directory.

        `franchise.load` returns the posterior, and `franchise.resume` continues the run.

        Parameters
        ----------
        path : path
            A new or empty folder.
        more : plain values, optional
            Further settings for run.json.
        """
        self._checked_run.save("path", path, **{**more, **self.numbers()})

    def extend(
        self,
        draws: int,
        *,
        engine: Engine | str | None = None,
        workers: int | None = None,
        progress: bool | None = None,
        time_limit: float | None = None,
    ) -> Self:
        """Continue the chains for more draws, the same draws as those of a longer run.

        Parameters
        ----------
        draws : int
            Further draws per chain. Chains that a time limit stopped at different draws end with equally many.
        engine, workers, progress, time_limit
            As for `franchise.sample`.

        Returns
        -------
        a posterior of the same class
            With all draws, earlier ones included. This posterior and its run directory do not change.
        """
        options = RunOptions.checked(engine, workers, progress, time_limit)
        with options.engine:
            run = self._checked_run.extended(check_integer("draws", draws, minimum=1), options.engine)
            run.go(options)
        posterior: Self = run.setup.make_posterior(run)
        return posterior.with_settings(self.numbers())

    def continue_(self, draws: int, **arguments: Any) -> Self:
        """Call `extend`, the new name of this method."""
        warn_renamed("posterior.continue_", "posterior.extend")
        return self.extend(draws, **arguments)

    @property
    def _checked_run(self) -> Run:
        if self.run is None:
            raise InputError(
                "this posterior was not produced by sampling, so it cannot be saved or extended."
            )
        return self.run


def check_posterior(name: str, posterior: object) -> Posterior[Any]:
    """Return a posterior of either model; InputError for anything else."""
    if not isinstance(posterior, Posterior):
        raise InputError(f"{name} must be what franchise.sample returns; got {describe(posterior)}.")
    return posterior
