"""Gibbs sampling of hidden topic Markov models: from a model to its posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from franchise.data.corpus import Corpus
from franchise.htmm.fitting import Sampling, start_state
from franchise.htmm.htmm_chain import HTMMChain, room_for_draws
from franchise.htmm.model import FiniteModel, InfiniteModel
from franchise.htmm.sentence_arrays import Prepared
from franchise.parallel.engine import Engine
from franchise.posterior.htmm_posterior import HTMMPosterior
from franchise.priors import number_or_gamma, plain_number
from franchise.running.chain_interface import AnyChain
from franchise.running.chain_run import DrawPlan
from franchise.running.initial_state import GivenState
from franchise.running.kept_draws import KeptDraws
from franchise.running.run import Run, RunOptions
from franchise.running.starts import start_streams
from franchise.storage.run_store import check_new
from franchise.validation import check_integer, check_positive


def sample_segments(
    model: FiniteModel | InfiniteModel, corpus: Corpus, asked: Sampling, seed: int, engine: Engine
) -> HTMMPosterior:
    """Run the chains."""
    plan = DrawPlan(draws=asked.draws, warmup=asked.warmup, thin=asked.thin, keep_labels=False)
    options = RunOptions.checked(engine, None, asked.progress, asked.time_limit, asked.checkpoint_interval)
    if asked.run_dir is not None:
        check_new("run_dir", asked.run_dir)

    setup = HTMMProblem(corpus, model, seed)

    def begin(number: int) -> AnyChain:
        state = start_state(model, asked, start_streams(seed, number), options.engine.executor)
        return options.engine.place(setup.chain(number, asked.warmup), GivenState(state))

    with options.engine:
        run = Run.begin(setup, plan, options.engine.map(begin, range(asked.chains)), asked.run_dir)
        with run.locked():
            posterior: HTMMPosterior = run.go(options)
    return posterior


@dataclass(frozen=True)
class HTMMProblem:
    """What chains over segments draw from: see `franchise.running.run.Problem`."""

    data: Corpus
    model: FiniteModel | InfiniteModel
    seed: int

    model_name: ClassVar[str] = "htmm"

    def settings(self) -> dict[str, Any]:
        """The number of topics and the priors."""
        model = self.model
        if isinstance(model, FiniteModel):
            own = {"n_topics": model.n_topics, "document_prior": plain_number(model.document_prior)}
        else:
            own = {"n_topics": None, "alpha": plain_number(model.alpha), "gamma": plain_number(model.gamma)}
        above = {"word_prior": plain_number(model.word_prior), "switch_prior": list(model.switch_prior)}
        return {**own, **above}

    @classmethod
    def from_settings(cls, settings: dict[str, Any], corpus: Corpus) -> HTMMProblem:
        """The setup that has these settings."""
        prepared = Prepared.of(corpus)

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

    def new_kept_draws(self) -> KeptDraws:
        """Room for draws."""
        return room_for_draws(self.model.prepared.n_sentences)

    def chain(self, number: int, warmup: int) -> HTMMChain:
        """Return a chain that has no state yet."""
        return HTMMChain(self.model, None, self.seed, number, warmup)

    def make_posterior(self, run: Run) -> HTMMPosterior:
        """The posterior."""
        return HTMMPosterior.from_run(run, self.data, self.model, self.seed)
