"""The posterior of either model: seven things that a model supplies, and everything that follows from them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from franchise.errors import InputError, warn_renamed
from franchise.parallel.engine import Engine
from franchise.posterior.contract import DrawT
from franchise.posterior.edits import NO_EDITS, TopicEdits
from franchise.posterior.stored_numbers import SETTING, Numbering
from franchise.posterior.topic_methods import NumberedTopics, numbers_to_plain
from franchise.running.run import Run, RunOptions
from franchise.validation import PathLike, check_integer

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from franchise.data.corpus import Corpus
    from franchise.diagnostics.verdict import Verdict
    from franchise.families.known_topics import KnownTopics
    from franchise.posterior.by_metadata import Shares
    from franchise.posterior.consensus import Consensus


class Posterior(NumberedTopics[DrawT]):
    """Draws of either model, and everything said of their topics.

        posterior.verdict()                          have the chains converged?
        posterior.topics()                           the topics, each with its share and how certain it is
        posterior.representative_documents(3)        what is topic 3 about?
        posterior.find_topics("railway")             which topics are about railways?
        posterior.topics_over("year")                when were they discussed?
        posterior = posterior.set_labels({3: "trade"}).merge_topics([[5, 9]])
        posterior.report("report.html")              all of it, to read in a browser

    Topics are the *consensus topics* of all draws and chains, with the same numbers in every table, plot, report,
    command and estimator.  `draw()` gives the topics of one draw, `chain(k)` the consensus topics within one chain.
    """

    # -- topics and documents ------------------------------------------------------------------------------

    def n_topics_posterior(self) -> pd.DataFrame:
        """The posterior of the number of topics: `n_topics`, its `probability`, and that in each chain."""
        from franchise.posterior.topic_tables import n_topics_table

        return n_topics_table(self.trace["n_topics"])

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
        from franchise.posterior.point_partition import point_partition

        consensus = self.consensus_topics
        found = point_partition(consensus.draws, consensus.most_probable_topic().topic)
        partition: np.ndarray = self.data.to_input_order(found.labels)
        return partition

    # -- from topic to text and back -----------------------------------------------------------------------

    def topic_info(self, words: int = 10) -> pd.DataFrame:
        """All that is to be said of the topics: as `consensus`, and two columns more.

        `documents` (or `groups`) are those in which it is the largest topic; `relevant` words are probable in the
        topic and more so than elsewhere (Sievert & Shirley 2014), `words` just probable.
        """
        from franchise.posterior.topic_tables import topic_info

        return topic_info(self.consensus_topics, check_integer("words", words, minimum=1))

    def document_info(self) -> pd.DataFrame:
        """One row a document or group: size, largest topic with label and share, metadata, how its text begins.

        `topics` is the effective number of its topics, `none` its share in no consensus topic; of documents without
        observations the topic is -1.
        """
        from franchise.posterior.document_tables import document_info

        return document_info(self.consensus_topics)

    def representative_documents(self, topic: int, count: int = 5) -> pd.DataFrame:
        """The documents or groups with the largest share of a topic; of a text the piece that is most about it."""
        from franchise.posterior.document_tables import representative_documents

        return representative_documents(self.consensus_topics, topic, count)

    def find_topics(self, query: str | Sequence[str], count: int = 5) -> pd.DataFrame:
        """The topics that a word, a sentence or a list of words are most probably of, the most probable first.

        Words are read as the texts of the corpus were; those it does not know are left out.  `probability` is the
        mean over words w of p(k | w) = phi_kw share_k / sum_l phi_lw share_l.

            posterior.find_topics("railway")
            posterior.find_topics("The railway was sold at a loss.", count=2)
            posterior.find_topics(["railway", "loss"])
        """
        from franchise.posterior.topic_tables import find_topics

        return find_topics(self.consensus_topics, query, count)

    def topics_over(self, by: str = "year", bins: int | Sequence[float] | None = None) -> pd.DataFrame:
        """The shares of topics (columns) over a column of the metadata that has numbers or dates.

        A share is that of a topic's observations among those of all documents in a row, mean over draws.  What a
        row lacks to one is in no consensus topic; documents without a value are left out.

            posterior.topics_over("year")                           a row for every year
            posterior.topics_over("year", bins=[1900, 1950, 2000])  [1900, 1950) and [1950, 2000)
            posterior.topics_over("date", bins="M")                 a row for every month

        Parameters
        ----------
        by : str
            The column.
        bins : int, ascending edges, str or None
            A row for every value if None; for N equal bins; for the bins between edges, each with its lower one;
            for every period of dates ("Y" for years, as pandas names them).
        """
        return self.topics_over_interval(by, bins).mean

    def topics_over_interval(
        self, by: str = "year", bins: int | Sequence[float] | None = None, level: float = 0.95
    ) -> Shares:
        """As `topics_over`: the tables `mean`, `low` and `high`, the last two with the middle of the draws."""
        from franchise.posterior.by_metadata import shares_over

        return shares_over(self.consensus_topics, by, bins, level)

    def topics_by_class(self, by: str) -> pd.DataFrame:
        """The shares of topics (columns) in every class (rows) of a column of the metadata, as `topics_over`."""
        return self.topics_by_class_interval(by).mean

    def topics_by_class_interval(self, by: str, level: float = 0.95) -> Shares:
        """As `topics_by_class`: the tables `mean`, `low` and `high`, the last two with the middle of the draws."""
        from franchise.posterior.by_metadata import shares_by_class

        return shares_by_class(self.consensus_topics, by, level)

    def topic_similarity(self) -> pd.DataFrame:
        """Return the similarity of any two topics, from 0 to 1.

        For a corpus one minus the Jensen-Shannon distance of their words; otherwise by the observations that are
        now in the one, now in the other.
        """
        from franchise.posterior.topic_tables import topic_similarity

        return topic_similarity(self.consensus_topics)

    def confusion_matrix(self) -> pd.DataFrame:
        """How well topics (columns) explain the words of topics (rows), in nats a word; for a corpus.

        C_rc = sum_w phi_rw log phi_cw (Chang & Fisher 2014)
        """
        from franchise.posterior.topic_tables import confusion_matrix

        return confusion_matrix(self.consensus_topics)

    # -- known topics --------------------------------------------------------------------------------------

    def as_known_topics(self, topics: Sequence[int] | None = None, **options: Any) -> KnownTopics:
        """Return consensus topics as a family for another fit: see `KnownTopics.from_posterior`."""
        from franchise.posterior.freeze import make_known

        return make_known(self, topics, **options)

    def known_topics(self, words: int = 10) -> pd.DataFrame:
        """Return `topics` with two more columns, for the family KnownTopics.

        `name` is the most probable known topic, or "new"; `probability` that it is that, given the topic's words,
        mean over draws.
        """
        from franchise.posterior.freeze import known_topics

        return known_topics(self, words)

    def known_shares(self) -> pd.DataFrame:
        """Return the share of each known topic in the corpus, over all draws, for the family KnownTopics.

        One row per known topic, the last ("new") for all others: `topic`, the consensus topic that has most of it,
        missing if there is none; `share`, its mean, `low` and `high`, a 90% interval over draws; `topics`, the mean
        number of topics of a draw that it is: near 1 if it was found once.
        """
        from franchise.posterior.freeze import shares_of_known

        return shares_of_known(self)

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

        Left out is what only grows (time, the best so far) and what is meant for a picture (topic shares).

        Parameters
        ----------
        held_out : Corpus, optional
            Documents that were not sampled, over the same vocabulary. The table then has a row ``held_out_score``,
            too: how well their second halves are predicted, under the draws that are kept in full; nats per word.
        """
        from franchise.diagnostics.convergence import summary

        return summary(self, held_out)

    def verdict(self) -> Verdict:
        """Whether the chains have converged, in a word, a sentence and details."""
        from franchise.diagnostics.verdict import verdict

        return verdict(self)

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
