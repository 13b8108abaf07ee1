"""Gibbs sampling of hidden topic Markov models: from a model to its posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from franchise.data.corpus import Corpus
from franchise.data.extend import Extended
from franchise.htmm.fitting import Sampling, start_state
from franchise.htmm.htmm_chain import HTMMChain, HTMMDraw, state_from_arrays
from franchise.htmm.model import FiniteModel, InfiniteModel, Segments
from franchise.htmm.more_documents import continued_arrays
from franchise.htmm.sentence_arrays import Prepared
from franchise.parallel.engine import BlockExecutor, Engine
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.priors import number_or_gamma, plain_number
from franchise.running.chain import AnyChain
from franchise.running.chain_run import ChainRun, DrawPlan
from franchise.running.kept_draws import KeptDraw
from franchise.running.run import Run, RunOptions
from franchise.running.starts import GivenState, InitialState, start_streams
from franchise.validation import check_integer, check_positive


def sample_segments(
    model: FiniteModel | InfiniteModel, corpus: Corpus, asked: Sampling, seed: int, engine: Engine
) -> HTMMPosterior:
    """Run the chains."""
    plan = DrawPlan(draws=asked.draws, warmup=asked.warmup, thin=asked.thin, keep_labels=False)
    options = RunOptions.checked(engine, None, asked.progress, asked.time_limit, asked.checkpoint_interval)
    executor = options.engine.executor
    initial_states = [
        GivenState(partial(start_state, model, asked, start_streams(seed, number), executor))
        for number in range(asked.chains)
    ]
    setup = HTMMProblem(corpus, model, seed)
    return setup.make_posterior(Run.sample(setup, plan, initial_states, options, asked.run_dir))


@dataclass(frozen=True)
class HTMMProblem:
    """Data, model and settings of the chains: see `franchise.running.run.Problem`."""

    data: Corpus
    model: FiniteModel | InfiniteModel
    seed: int

    model_name: ClassVar[str] = "htmm"
    kind_of_draw: ClassVar[type[KeptDraw]] = HTMMDraw

    def settings(self) -> dict[str, Any]:
        """Return the number of topics and the priors as plain values."""
        model = self.model
        if isinstance(model, FiniteModel):
            own = {"n_topics": model.n_topics, "document_prior": plain_number(model.document_prior)}
        else:
            own = {"n_topics": None, "alpha": plain_number(model.alpha), "gamma": plain_number(model.gamma)}
        above = {"word_prior": plain_number(model.word_prior), "switch_prior": list(model.switch_prior)}
        base = {} if model.prepared.base_measure is None else {"base_measure": "corpus"}
        return {**own, **above, **base}

    @classmethod
    def from_settings(cls, settings: dict[str, Any], corpus: Corpus) -> HTMMProblem:
        """Return the setup that has these settings."""
        prepared = Prepared.of(corpus, settings.get("base_measure", "uniform"))

        def prior(name: str) -> Any:
            return number_or_gamma(name, settings[name])

        first, second = (check_positive("switch_prior", number) for number in settings["switch_prior"])
        model: FiniteModel | InfiniteModel
        if settings["n_topics"] is None:
            model = InfiniteModel(
                prepared, prior("alpha"), prior("gamma"), prior("word_prior"), (first, second)
            )
        else:
            topics = check_integer("n_topics", settings["n_topics"], minimum=1)
            model = FiniteModel(
                prepared, topics, prior("document_prior"), prior("word_prior"), (first, second)
            )
        return cls(corpus, model, check_integer("seed", settings["seed"], minimum=0))

    @property
    def labels_per_draw(self) -> int:
        """Number of sentences."""
        return self.model.prepared.n_sentences

    def chain(self, number: int, warmup: int) -> HTMMChain:
        """Return a chain that has no state yet."""
        return HTMMChain(self.model, None, self.seed, number, warmup)

    def continued(
        self, extended: Extended, chains: Sequence[ChainRun], seed: int, engine: Engine
    ) -> tuple[HTMMProblem, list[InitialState]]:
        """Return the problem with more documents, and the initial states that continue some chains."""
        corpus, base = extended.data, self.model.prepared.base_measure
        assert isinstance(corpus, Corpus)
        whole = Prepared.of(corpus, "uniform" if base is None else "corpus")
        setup = HTMMProblem(corpus, replace(self.model, prepared=whole), seed)
        return setup, [
            GivenState(partial(self._continued, setup.model, run.chain, seed, engine.executor))
            for run in chains
        ]

    def _continued(
        self, model: FiniteModel | InfiniteModel, chain: AnyChain, seed: int, executor: BlockExecutor
    ) -> Segments:
        """Return the state of a chain with more documents, under the model of all of them."""
        arrays = continued_arrays(self.model, chain, model.prepared, seed, executor)
        return state_from_arrays(model, arrays, executor)

    def make_posterior(self, run: Run) -> HTMMPosterior:
        """Return the posterior."""
        return HTMMPosterior.from_run(run, self.data, self.model, self.seed)
