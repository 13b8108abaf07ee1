"""More data for a fitted model: `update` continues the chains with them, and `compare` shows what has changed.

    new = posterior.update(texts)        old and new documents together
    posterior.compare(new)               topics before and after

Each chain continues from its last state (`warm_start`).  Topics that match keep their numbers, names and merges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.extend import Extended, extend_corpus, extend_groups, extend_texts
from franchise.data.groups import Groups
from franchise.data.sharded.sharded_corpus import MappedCorpus
from franchise.data.text_options import Tokenizer
from franchise.errors import InputError
from franchise.parallel.engine import Engine
from franchise.posterior.consensus import Consensus
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.match_draws import mapped
from franchise.posterior.stored_numbers import TopicEdits, keep_numbers
from franchise.running.run import Run, RunOptions, check_plan
from franchise.storage.run_directory import UPDATED_FROM
from franchise.validation import PathLike, check_integer, describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.base import Posterior

SHORTER = 4
"""The warm-up of an update is this many times shorter than that of the run."""


class UpdateTables(PosteriorContract[DrawT]):
    """More data for a fitted model, and topics before and after."""

    def update(
        self,
        data: object,
        *,
        names: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        new_words: bool = True,
        tokenizer: Tokenizer | None = None,
        draws: int | None = None,
        warmup: int | None = None,
        seed: int | None = None,
        engine: Engine | str | None = None,
        workers: int | None = None,
        progress: bool | None = None,
        run_dir: PathLike | None = None,
        time_limit: float | None = None,
        checkpoint_interval: float = 60.0,
    ) -> Self:
        """Add documents to a fitted model, and sample the posterior of old and new ones together.

        Every chain continues from its last state: old documents keep their topics, and new ones begin with topics
        of that state.  The sweeps that follow are those of an ordinary run over all documents, so the draws are of
        its posterior; the start only shortens the warm-up.  Topics that match keep their numbers, names and merges.

        Texts are read with the settings of the corpus.  Old words stay, even if they no longer satisfy `min_df` or
        `max_df`.  A word is new if it satisfies these among old and new documents; it then counts in old documents,
        too.  Where the corpus has not kept its texts, only new documents count.

        Parameters
        ----------
        data : sequence of str, Corpus or Groups
            New texts, or new data of the kind that was sampled.  All words of a Corpus are added.  Observations of
            Groups join the group with the same label.
        names : sequence, optional
            Names of new texts [default: numbered on].
        metadata : mapping of names to sequences, or DataFrame, optional
            Facts about new texts, one entry per text. Columns that old or new documents lack are missing there.
        new_words : bool, default True
            Whether to add words to the vocabulary. With False, unknown words are ignored.
        tokenizer : callable, optional
            The tokenizer of the corpus; needed if it has one and was loaded from disk.
        draws : int, optional
            Kept draws per chain [default: as in the run].
        warmup : int, optional
            Sweeps before the first kept draw [default: a quarter of the run's].
        seed : int, optional
            Seed of the draws [default: one more than the seed of the run, as the states depend on the random
            numbers of that].
        engine : "ray", Engine or None, default None
            Where it runs: None is ``franchise.engines.Threads(workers)``, "ray" a cluster. The draws are the same.
        workers : int, optional
            Number of threads [default: all cores].
        progress : bool, optional
            Whether to show progress [default: only on a terminal].
        run_dir : path, optional
            New directory for the new run and its checkpoints [default: nothing is stored]. When an interrupted run
            is resumed, it reads the numbers of topics from the run directory of this posterior.
        time_limit : float, optional
            Seconds after which every chain stops with the draws so far [default: no limit].
        checkpoint_interval : float, default 60.0
            Seconds between two checkpoints of a chain, with `run_dir`.

        Returns
        -------
        Posterior
            A posterior of the same class over old and new data. This posterior and its run do not change.

        Raises
        ------
        InputError
            If the data do not fit the training data, the posterior is of one chain (`chain`), or an argument is out
            of range.

        Examples
        --------
        >>> new = posterior.update(["A storm rocks the harbour.", "Fresh bread!"], draws=10, progress=False)
        >>> new.data.n_documents
        26
        """
        run = self._run_to_update
        plan = run.plan
        draws = plan.draws if draws is None else draws
        warmup = -(-plan.warmup // SHORTER) if warmup is None else warmup
        new_plan = check_plan(draws, warmup, plan.thin, plan.keep_labels)
        seed = check_integer("seed", self.seed + 1 if seed is None else seed, minimum=0)
        options = RunOptions.checked(engine, workers, progress, time_limit, checkpoint_interval)
        extended = self._extended(data, names, metadata, new_words, tokenizer)
        setup, initial_states = run.setup.continued(extended, run.chains, seed, options.engine)
        facts: dict[str, object] = {}
        if run.folder is not None:
            facts[UPDATED_FROM] = {"run": str(run.folder.path.resolve()), **cast(Any, self).numbers()}
        made = setup.make_posterior(Run.sample(setup, new_plan, initial_states, options, run_dir, **facts))
        return cast(Self, with_numbers_of(self, made))

    @property
    def _run_to_update(self) -> Run:
        if self.run is None:
            raise InputError(
                "this posterior has no chains to continue, as it is of one chain or was not produced by sampling. "
                "Use the posterior of all chains."
            )
        return self.run

    def _extended(
        self,
        data: object,
        names: Iterable[Any] | None,
        metadata: Mapping[str, Iterable[Any]] | None,
        new_words: bool,
        tokenizer: Tokenizer | None,
    ) -> Extended:
        """Return old and new data together."""
        old = self.data
        has_facts = any(fact is not None for fact in (names, metadata, tokenizer))
        if isinstance(data, (Corpus, Groups)) and has_facts:
            raise InputError(
                "names, metadata and tokenizer are for texts; got them with a Corpus or Groups. Remove them, or "
                "give them when you create the data."
            )
        if isinstance(old, MappedCorpus):
            raise InputError(
                "the documents of this run are in shards, to which none can be added. Write new shards and fit "
                "again."
            )
        if isinstance(old, Groups):
            return extend_groups(old, data)
        assert isinstance(old, Corpus)
        if isinstance(data, Corpus):
            return extend_corpus(old, data, new_words)
        if isinstance(data, (str, bytes, Mapping, Groups)) or not isinstance(data, Iterable):
            raise InputError(
                f"data must be a list of texts, or a Corpus; got {describe(data)}. Pass a list: [text, ...]."
            )
        return extend_texts(
            old, data, names=names, metadata=metadata, tokenizer=tokenizer, new_words=new_words
        )

    def compare(self, after: object) -> pd.DataFrame:
        """Return the topics of this posterior and of a later one, matched one to one.

        Topics are matched as by `match_fits`: by their words, or by shared observations.

        Parameters
        ----------
        after : Posterior
            The other posterior, such as `update` returns.

        Returns
        -------
        DataFrame
            One row per topic: `change` ("kept", "new" or "vanished"); `topic_before` and `topic`, its numbers;
            its `label`; `share_before` and `share` of the observations; `similarity` from 0 to 1; and for a corpus
            its `words`.  Topics of `after` come first, from the largest to the smallest.

        Raises
        ------
        InputError
            If `after` is no posterior, or its data are not comparable (see `match_fits`).

        Examples
        --------
        >>> new = posterior.update(texts[:2], draws=10, progress=False)
        >>> posterior.compare(new)[["change", "topic_before", "topic"]].head(2)
          change  topic_before  topic
        0   kept             0      0
        1   kept             1      1
        """
        import pandas as pd

        from franchise.posterior.match_fits import match_fits

        both = match_fits(after, self)
        gone, is_new = both["topic"].isna(), both["other_topic"].isna()
        columns = {
            "change": np.select([gone, is_new], ["vanished", "new"], "kept"),
            "topic_before": both["other_topic"],
            "topic": both["topic"],
            "label": both["label"].where(~gone, both["other_label"]),
            "share_before": both["other_share"],
            "share": both["share"],
            "similarity": both["similarity"],
        }
        if "words" in both:
            columns["words"] = both["words"].where(~gone, both["other_words"])
        table = pd.DataFrame(columns)
        return table.sort_values(["share", "share_before"], ascending=False, ignore_index=True)


def with_numbers_of(before: PosteriorContract[Any], after: Posterior[Any]) -> Posterior[Any]:
    """Return a posterior with the numbers, names, merges and rules of the matching topics of an earlier one."""
    from franchise.posterior.match_fits import match_consensus

    old = before.consensus_topics
    unedited = replace(
        old,
        matches=old.matches if old.before_edits is None else old.before_edits,
        given_labels={},
        before_edits=None,
    )
    after = replace(after, changes=TopicEdits(rules=old.rules))  # type: ignore[type-var]
    found = Consensus.of(after)
    old_of_new = match_consensus(found, unedited)[0]
    numbers, new_of_old = keep_numbers(old_of_new, unedited.topic_count)
    edits = old.changes.carried(new_of_old, found.topic_count)
    consensus = edits.apply(found.with_matches(mapped(found.matches, numbers)))
    consensus.store_numbers()
    return after._changed(consensus)
