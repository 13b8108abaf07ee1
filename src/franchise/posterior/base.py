"""The posterior of either model: tables of results, manual edits, storage, and more draws."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from franchise.posterior.level_tables import LevelTables
from franchise.posterior.match_known import ReferenceTables
from franchise.posterior.name_topics import asked_names
from franchise.posterior.point_partition import point_partition
from franchise.posterior.stored_numbers import NO_EDITS, SETTING, Numbering, TopicEdits, numbers_to_plain
from franchise.posterior.topic_groups import TopicGroups, reduced
from franchise.posterior.topic_tables import TopicTables
from franchise.posterior.update_tables import UpdateTables
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
    TopicGroups[DrawT],
    DocumentTables[DrawT],
    MetadataTables[DrawT],
    EffectTables[DrawT],
    ExportTables[DrawT],
    KnownTopicTables[DrawT],
    ReferenceTables[DrawT],
    LevelTables[DrawT],
    UpdateTables[DrawT],
):
    """Draws of either model, with tables, plots and reports of their topics.

        posterior.verdict()                       have the chains converged?
        posterior.topics()                        topics and their shares, with intervals
        posterior.with_consensus(min_chains=2)    the same under other rules for topics
        posterior.reduce_topics(12)               the same with 12 groups of topics
        posterior.representative_documents(3)     what is topic 3 about?
        posterior.find_topics("railway")          which topics are about railways?
        posterior.topics_over("year")             when were they discussed?
        posterior.effect("~ party + s(year)")     what does their prevalence depend on?
        posterior.match_known("COSMIC.txt")       which of them are published signatures?
        posterior.exposures("patient")            which topics do the patients have, with intervals?
        posterior = posterior.set_labels({3: "trade"}).merge_topics([[5, 9]])
        posterior.report("report.html")           one page with everything, for a browser
        posterior.export("tables")                all tables, as CSV, Excel or Parquet

    Topics are the *consensus topics* of all draws and chains, with the same numbers in every table, plot, report,
    command and estimator.  `draw()` gives the topics of one draw, `chain(k)` the consensus topics within one chain.

    Examples
    --------
    >>> posterior.topics(words=1)[["chains", "words"]]
           chains  words
    topic
    0           2  ships
    1           2  bread
    >>> posterior.topics_by_class("kind").round(1)
    topic    0    1
    kind
    both   0.6  0.4
    bread  0.0  1.0
    sea    1.0  0.0
    """

    def point_partition(self) -> np.ndarray:
        """Return one partition of all observations: the one with the least expected variation of information.

            VI(c, z) = [sum_k f(n_k.) + sum_l f(n_.l) - 2 sum_kl f(n_kl)] / N

        with f(n) = n log n and n_kl the observations in cluster k of c and l of z (Wade & Ghahramani 2018). Its
        mean over draws z is minimal. Use it where every observation needs one cluster, such as for a map. Where
        uncertainty matters, ``consensus_topics.label_probabilities()`` has more. The docstring of
        ``franchise.posterior.point_partition`` describes the search.

        Returns
        -------
        int64 array (N,)
            The cluster of every observation in input order, numbered from the largest.  They are not the consensus
            topics: every observation is in one.

        Examples
        --------
        >>> posterior.point_partition()[:12]  # the first document
        array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        """
        consensus = self.consensus_topics
        found = point_partition(consensus.draws, consensus.most_probable_topic().topic)
        partition: np.ndarray = self.data.to_input_order(found.labels)
        return partition

    # -- changes by hand -----------------------------------------------------------------------------------

    def set_labels(self, labels: Mapping[int, str]) -> Self:
        """Return the same posterior with topics named by hand; `save` stores the names.

        Other topics keep their automatic labels. With more draws, names stay with the topics that match.  A name
        that another topic has gets a number, with a warning.

        Parameters
        ----------
        labels : dict of int to str
            Names of topics, such as ``{0: "war"}``. An empty name restores the automatic label.

        Returns
        -------
        Posterior
            A posterior of the same class. This one does not change.

        Raises
        ------
        InputError
            If there is no such topic, or a name is no text.

        Examples
        --------
        >>> posterior.set_labels({0: "shipping"}).topics().loc[0, "label"]
        'shipping'
        """
        return self._changed(self.consensus_topics.with_labels(labels))

    def label_topics(
        self,
        hook: Callable[[list[str], list[str]], str],
        topics: Iterable[int] | None = None,
        *,
        words: int = 20,
        documents: int = 5,
    ) -> Self:
        """Return the same posterior with topics named by a function, such as one that asks a language model.

        Names go the way of `set_labels`: they are stored by `save`, and no two are the same.  Names that were set
        by hand stay, unless their topics are listed in `topics`.

        Parameters
        ----------
        hook : callable
            ``hook(words, documents)`` returns the name of a topic.  `words` is a list of its most relevant words,
            `documents` a list of excerpts of its most typical documents, empty if the corpus has no texts.
        topics : iterable of int, optional
            Topics to name [default: all without a name by hand].
        words : int, default 20
            Number of words that the function gets.
        documents : int, default 5
            The largest number of documents that it gets.

        Returns
        -------
        Posterior
            A posterior of the same class. This one does not change.

        Raises
        ------
        InputError
            If topics have no words, there is no such topic, or the function fails or returns no name; the message
            has the number of the topic.

        Examples
        --------
        >>> named = posterior.label_topics(lambda words, documents: f"about {words[0]}")
        >>> named.topics()["label"].tolist()
        ['about ships', 'about bread']
        """
        return self.set_labels(asked_names(self, hook, topics, words, documents))

    def reduce_topics(self, n: int | None) -> Self:
        """Return the same posterior with n topics, each a group of consensus topics; nothing is fitted again.

        Groups are those of `topic_hierarchy` where n are left.  They are numbered by size, and every table, plot
        and report shows them as topics.  `topics` has the numbers of their members and their support, and
        `topic_groups` the members with their names, words and support; these keep their numbers.  A topic of
        general words that has much of the data is a group of its own.  A warning names a group that has most of the
        data.  Kept by `save`; with more draws or other
        rules, members that are new are groups of their own.

        Parameters
        ----------
        n : int or None
            Number of groups, at most the number of consensus topics.  A second call starts from the members again;
            None makes them the topics again.

        Returns
        -------
        Posterior
            A posterior of the same class. This one does not change.

        Raises
        ------
        InputError
            If n is out of range, topics have no words and there is a single group of observations, or the
            posterior is of one chain (`chain`).

        Examples
        --------
        >>> posterior.reduce_topics(1).topics(words=2)[["members", "words"]]
              members        words
        topic
        0         0 1  ships bread
        """
        self._check_all_chains("reduce_topics")
        return self._changed(reduced(self.consensus_topics, n))

    def merge_topics(self, groups: Sequence[Sequence[int]]) -> Self:
        """Return the same posterior with some consensus topics merged; `save` stores the merges.

        Draws stay as they are; topics are numbered by size again.

        Parameters
        ----------
        groups : sequence of sequences of int
            Topics to merge, such as ``[[0, 3], [5, 6]]``.

        Returns
        -------
        Posterior
            A posterior of the same class. This one does not change.

        Raises
        ------
        InputError
            If there is no such topic, a topic occurs twice, or a group has a single topic.

        Examples
        --------
        >>> len(posterior.merge_topics([[0, 1]]).topics())
        1
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

        Similar topics are merged. Then topics with too little support are excluded (`left_over` lists them), and
        the others are numbered by size again. The rules apply to the matched topics, not to the result of earlier
        rules. Names and merges by hand stay if their topics do. `save` stores the rules; with more draws they are
        applied again.

        Parameters
        ----------
        merge_cosine : float, optional
            Merge topics until no two mean distributions over words or categories have a larger cosine: the most
            similar first; a merged topic is represented by its mean (centroid linkage). For the families
            Categorical, KnownTopics and Multinomial, and for an HTMM [default: no merging].
        min_share : float, default 0.0
            Smallest share of the observations, mean over all draws.
        min_draws : float, default 0.0
            Smallest share of all draws that have the topic.
        min_chains : int, default 0
            Smallest number of chains that have the topic in a quarter of their draws or more.
        min_groups : int, default 0
            Smallest number of documents or groups with the topic, mean over the draws that have it.

        Returns
        -------
        Posterior
            A posterior of the same class. This one does not change.

        Raises
        ------
        InputError
            If no topic satisfies the rules, or the posterior is of one chain (`chain`).

        Examples
        --------
        >>> len(clusters.with_consensus(min_share=0.2, min_chains=2).topics())
        2
        """
        rules = ConsensusRules(merge_cosine, min_share, min_draws, min_chains, min_groups).checked()
        self._check_all_chains("with_consensus")
        found = self.consensus_topics.under(rules)
        if found.topic_count == 0:
            raise InputError(f"no consensus topic satisfies the rules. {found.note} Use lower limits.")
        return self._changed(found)

    def reset_topics(self) -> Self:
        """Return the same posterior with topics as they were matched: without names, merges, groups and rules.

        Returns
        -------
        Posterior
            A posterior of the same class. This one does not change.

        Raises
        ------
        InputError
            If the posterior is of one chain (`chain`).

        Examples
        --------
        >>> posterior.merge_topics([[0, 1]]).reset_topics().topics(words=1)["words"].tolist()
        ['ships', 'bread']
        """
        self._check_all_chains("reset_topics")
        return self._changed(self.consensus_topics.without_edits())

    def left_over(self) -> pd.DataFrame:
        """Return the topics and observations outside the consensus topics, by reason.

        Returns
        -------
        DataFrame
            One row per reason: the number of `topics` that the rules of `with_consensus` exclude, and their `share`
            of the observations. The last row is for topics of single draws without a match; they are not counted.

        Examples
        --------
        >>> posterior.left_over()["topics"].tolist()
        [0, 0, 0, 0, <NA>]
        """
        return self.consensus_topics.left_over_table()

    def named(self, vocabulary: Sequence[str]) -> Self:
        """Return the same posterior with other names for the words of its topics.

        Parameters
        ----------
        vocabulary : sequence of str
            One name per word of the vocabulary, in the same order.

        Returns
        -------
        Posterior
            A posterior of the same class. This one does not change.

        Examples
        --------
        >>> capitals = posterior.named([word.upper() for word in corpus.vocabulary])
        >>> capitals.topics(words=1)["words"].tolist()
        ['SHIPS', 'BREAD']
        """
        return self._changed(self.consensus_topics.with_names(vocabulary))

    def _check_all_chains(self, method: str) -> None:
        if self.consensus_topics.whole is not None:
            raise InputError(
                f"the posterior of one chain uses the consensus of all chains. Call {method} before chain."
            )

    def _changed(self, consensus: Consensus) -> Self:
        posterior: Self = replace(self, changes=consensus.changes, numbering=consensus.numbering)  # type: ignore[type-var]
        vars(posterior)["consensus_topics"] = replace(consensus, posterior=posterior)
        return posterior

    def numbers(self) -> dict[str, Any]:
        """Return the numbers and edits of topics as plain values for run.json; empty before topics are matched.

        Returns
        -------
        dict
            One entry, "consensus", or none.

        Examples
        --------
        >>> topics = posterior.topics()
        >>> list(posterior.numbers())
        ['consensus']
        """
        if self.changes == NO_EDITS and self.numbering is None and "consensus_topics" not in vars(self):
            return {}
        consensus = self.consensus_topics
        return {SETTING: numbers_to_plain(consensus.numbering, consensus.changes)}

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return the same posterior with topics numbered, named and merged as in the settings of a run.

        Parameters
        ----------
        settings : dict
            Settings of run.json, such as `numbers` returns. Others are ignored.

        Returns
        -------
        Posterior
            A posterior of the same class. This one does not change.

        Examples
        --------
        >>> settings = posterior.set_labels({0: "shipping"}).numbers()
        >>> posterior.with_settings(settings).topics().loc[0, "label"]
        'shipping'
        """
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
                f"{self.n_draws} now, and version 0.1 stored no topic numbers. Names and merges are ignored; "
                "repeat them.",
                stacklevel=3,
            )
            return self
        return replace(self, changes=TopicEdits.from_plain(plain))  # type: ignore[type-var]

    # -- implemented elsewhere -------------------------------------------------------------------------------------

    def summary(self, held_out: Corpus | None = None) -> pd.DataFrame:
        """Return mean, standard deviation, R-hat and effective sample size of traces (by ArviZ), with notes.

        Sampled parameters, such as alpha, have the 5% and 95% quantiles of their prior beside the posterior
        quantiles. The table omits monotone traces (time, the best likelihood so far) and topic shares.

        Parameters
        ----------
        held_out : Corpus, optional
            Documents that were not sampled, over the same vocabulary. The table then has a row
            ``held_out_score``, too: the mean log probability per word of their second halves, in nats, under
            the stored draws.

        Returns
        -------
        DataFrame
            One row per quantity; see `franchise.diagnostics.summary` for the columns.

        Examples
        --------
        >>> posterior.summary().columns.tolist()[:4]
        ['mean', 'sd', '5%', '95%']
        """
        from franchise.diagnostics.convergence import summary

        return summary(self, held_out)

    def verdict(self, compare: bool = False) -> Verdict:
        """Judge whether the chains have converged: a level, a sentence and details.

        Parameters
        ----------
        compare : bool, default False
            Whether to compare the chains if they disagree or have not converged: which topics they share, and which
            chains predict better. This takes seconds.

        Returns
        -------
        Verdict
            A level such as "converged", one sentence, details, and the table of `summary`.

        Examples
        --------
        >>> posterior.verdict().level == "converged"  # 10 draws per chain are too few
        False
        """
        from franchise.diagnostics.verdict import verdict

        return verdict(self, compare)

    def stacking_weights(self) -> pd.DataFrame:
        """Return weights of the chains by their predictions, for chains that disagree.

        Yao, Vehtari & Gelman (2022), with importance sampling leave-one-out of single observations.

        Returns
        -------
        DataFrame
            One row per chain: `weight`; `log_score`, nats per observation; `difference` from the best chain, with
            its standard `error`. See `franchise.diagnostics.compare_chains`.

        Raises
        ------
        InputError
            If the posterior is of a hidden topic Markov model, or its family is not conjugate.

        Examples
        --------
        >>> round(posterior.stacking_weights()["weight"].sum().item(), 6)
        1.0
        """
        return self._compared_chains.copy()

    @cached_property
    def _compared_chains(self) -> pd.DataFrame:
        from franchise.diagnostics.compare_chains import compare_chains

        return compare_chains(self)

    def to_arviz(self) -> Any:
        """Return the traces in the form that ArviZ takes, for its plots and statistics.

        Returns
        -------
        DataTree
            See `franchise.diagnostics.to_arviz`.

        Raises
        ------
        InputError
            If arviz-base is not installed.

        Examples
        --------
        >>> posterior.to_arviz()["posterior"]["n_topics"].shape
        (2, 10)
        """
        from franchise.diagnostics import to_arviz

        return to_arviz(self)

    def to_pyldavis(self) -> dict[str, Any]:
        """Return the arguments of ``pyLDAvis.prepare`` for the consensus topics.

        Returns
        -------
        dict
            See `franchise.diagnostics.to_pyldavis`.

        Raises
        ------
        InputError
            If topics have no words, or if no topic recurs in the draws.

        Examples
        --------
        >>> page = pyLDAvis.prepare(**posterior.to_pyldavis())  # doctest: +SKIP
        """
        from franchise.diagnostics import to_pyldavis

        return to_pyldavis(self)

    def report(self, path: PathLike, **options: Any) -> Path:
        """Write the results as one HTML file that opens offline in any browser.

        Parameters
        ----------
        path : path
            The file to write, such as "report.html"; an existing file is replaced.
        **options : dict
            The options `title`, `documents`, `seed` and `progress` of `franchise.report.write_report`.

        Returns
        -------
        Path
            Path of the file.

        Raises
        ------
        InputError
            If `path` is a folder or the file cannot be written there, or an option is out of range.

        Examples
        --------
        >>> posterior.report("report.html", title="Sea and bread").name
        'report.html'
        """
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
        **more : dict
            Further settings for run.json, plain values.

        Raises
        ------
        InputError
            If the folder has files, or the posterior is of one chain (`chain`) and so has no states.

        Examples
        --------
        >>> posterior.save("saved")
        >>> fr.load("saved").n_draws
        10
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
        """Continue the chains for more draws. The result equals that of a longer run.

        Parameters
        ----------
        draws : int
            Further draws per chain. If a time limit stopped chains at different draws, they end with equally many.
        engine : "ray", Engine or None, default None
            Where it runs: None is ``franchise.engines.Threads(workers)``, "ray" a cluster. The draws are the
            same.
        workers : int, optional
            Number of threads [default: all cores].
        progress : bool, optional
            Whether to show progress [default: only on a terminal].
        time_limit : float, optional
            Seconds after which every chain stops with the draws so far [default: no limit].

        Returns
        -------
        Posterior
            A posterior of the same class with all draws, earlier ones included. This posterior and its run
            directory do not change.

        Raises
        ------
        InputError
            If the posterior is of one chain (`chain`), or an argument is out of range.

        Examples
        --------
        >>> posterior.extend(5, progress=False).n_draws
        15
        """
        options = RunOptions.checked(engine, workers, progress, time_limit)
        with options.engine:
            run = self._checked_run.extended(check_integer("draws", draws, minimum=1), options.engine)
            run.go(options)
        posterior: Self = run.setup.make_posterior(run)
        return posterior.with_settings(self.numbers())

    def continue_(self, draws: int, **arguments: Any) -> Self:
        """Deprecated: the old name of `extend`.

        Parameters
        ----------
        draws : int
            Further draws per chain.
        **arguments : dict
            The other arguments of `extend`.

        Returns
        -------
        Posterior
            A posterior of the same class with all draws.

        Examples
        --------
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     posterior.continue_(1, progress=False).n_draws
        11
        """
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
