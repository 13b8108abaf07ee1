"""From checked settings to findings: EM, Gibbs sampling, new documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from franchise.cluster.remote_chain import host
from franchise.data.corpus import Corpus
from franchise.htmm import gibbs_finite as finite
from franchise.htmm import gibbs_hdp as infinite
from franchise.htmm.em import LOWEST, Fit, Priors, find_start, fit
from franchise.htmm.htmm_chain import HTMMChain, room_for_draws
from franchise.htmm.model import FiniteModel, InfiniteModel, start_of
from franchise.htmm.new_documents import (
    completed_perplexity,
    draw_documents,
    fit_documents,
    fitted_perplexity,
    words_of_documents,
)
from franchise.htmm.results import HTMMResults
from franchise.htmm.sentence_arrays import Prepared
from franchise.htmm.state import Segments
from franchise.htmm.viterbi import best_path, decode
from franchise.kernels.htmm_em import Expectations, Parameters
from franchise.kernels.htmm_gibbs import Finite
from franchise.kernels.random.streams import STREAMS, Streams
from franchise.posterior.htmm_posterior import HTMMPosterior, ends_of, even_rows
from franchise.posterior.matching import NONE
from franchise.priors import number_or_gamma, plain_number
from franchise.running.chain_run import CHECKPOINT_INTERVAL, DrawPlan
from franchise.running.initial import start_streams
from franchise.running.initial_state import GivenState
from franchise.running.kept_draws import KeptDraws
from franchise.running.progress import make_progress
from franchise.running.run import Run, RunOptions
from franchise.storage.run_store import check_new
from franchise.validation import check_integer, check_positive

if TYPE_CHECKING:
    import pandas as pd

_DRAWS_FOR_NEW = 10
"""So many draws of a fit are used for new documents."""

_SWEEPS_FOR_NEW = (10, 20)
"""Sweeps over new documents given each of them: burn-in, kept."""

_USUAL_START = 10
"""Topics to start with where their number is learned."""


class EmSettings(NamedTuple):
    """What a fit by EM is asked for."""

    prepared: Prepared
    n_topics: int
    priors: Priors
    starts: int
    tolerance: float
    max_iterations: int
    progress: bool | None


class Sampling(NamedTuple):
    """What Gibbs sampling is asked for."""

    draws: int
    warmup: int
    thin: int
    chains: int
    start: str | int
    starts: int  # of the fits that chains start from
    progress: bool | None
    run_dir: Any = None
    time_limit: float | None = None
    checkpoint_interval: float = CHECKPOINT_INTERVAL


# --- EM -----------------------------------------------------------------------------------------------------


def fit_em(settings: EmSettings, seed: int, engine: Any) -> Fit:
    """The best of some starts, climbed to its summit; topics from the largest to the smallest."""
    words = settings.prepared.n_words
    shown = make_progress(settings.progress, 1, settings.max_iterations, [0], words, "word")

    def on_progress(step: int, log_likelihood: float) -> None:
        values = {
            "n_topics": settings.n_topics,
            "log_likelihood_per_observation": log_likelihood / max(1, words),
        }
        shown.update(0, step + 1, values)

    with shown:
        found = fit(
            settings.prepared,
            settings.n_topics,
            settings.priors,
            np.random.Generator(np.random.Philox(seed)),
            engine,
            starts=settings.starts,
            tolerance=settings.tolerance,
            max_steps=settings.max_iterations,
            on_progress=on_progress,
        )
    order = np.argsort(-_words_of(settings.prepared, found.expectations), kind="stable")
    return found.ordered(order)


def findings_of(settings: EmSettings, found: Fit, decoding: str, engine: Any) -> HTMMResults:
    """What a fit has found."""
    return _findings(settings.prepared, found.parameters, found.expectations, decoding, engine)


def _words_of(prepared: Prepared, expectations: Expectations) -> np.ndarray:
    """Expected words of every topic."""
    return np.diff(prepared.data.tokens) @ expectations.topics


def _findings(
    prepared: Prepared, parameters: Parameters, expectations: Expectations, decoding: str, engine: Any
) -> HTMMResults:
    topics = decode(prepared, parameters, decoding, engine).topics
    return HTMMResults(
        topic_words=np.exp(parameters.log_topics).T,
        proportions=parameters.proportions,
        switch=parameters.switch,
        sentence_topic=topics,
        sentence_probability=np.minimum(
            expectations.topics[np.arange(len(topics)), topics], 1.0
        ),  # but for rounding
        switch_probability=np.minimum(expectations.switches, 1.0),
        words_per_topic=_words_of(prepared, expectations),
    )


# --- Gibbs sampling -----------------------------------------------------------------------------------------


def sample_segments(
    model: FiniteModel | InfiniteModel, corpus: Corpus, asked: Sampling, seed: int, engine: Any
) -> HTMMPosterior:
    """Run the chains."""
    plan = DrawPlan(draws=asked.draws, warmup=asked.warmup, thin=asked.thin, keep_labels=False)
    options = RunOptions.checked(engine, None, asked.progress, asked.time_limit, asked.checkpoint_interval)
    if asked.run_dir is not None:
        check_new("run_dir", asked.run_dir)

    setup = HTMMProblem(corpus, model, seed)

    def begin(number: int) -> Any:
        state = start_state(model, asked, start_streams(seed, number), options.engine.local)
        return host(
            options.engine, setup.chain(number, asked.warmup, options.engine.local), GivenState(state)
        )

    with options.engine:
        run = Run.begin(setup, plan, options.engine.local.map(begin, range(asked.chains)), asked.run_dir)
        with run.locked():
            posterior: HTMMPosterior = run.go(options)
    return posterior


@dataclass(frozen=True)
class HTMMProblem:
    """What chains over segments draw from: see `franchise.running.run.Setup`."""

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

    def chain(self, number: int, warmup: int, engine: Any) -> HTMMChain:
        """A chain that an origin has yet to give a state."""
        return HTMMChain(self.model, None, self.seed, number, warmup, engine)

    def make_posterior(self, run: Run) -> HTMMPosterior:
        """The posterior."""
        return HTMMPosterior.from_run(run, self.data, self.model, self.seed)


def start_state(
    model: FiniteModel | InfiniteModel, asked: Sampling, streams: Streams, engine: Any
) -> Segments:
    """Where a chain starts."""
    if isinstance(model, InfiniteModel):
        topics = asked.start if isinstance(asked.start, int) else _USUAL_START
        return infinite.start_at_random(model, topics, streams, engine)
    if asked.start == "random":
        return finite.start_at_random(model, streams, engine)
    priors = Priors(
        max(1.0, start_of(model.document_prior)),
        max(1.01, start_of(model.word_prior)),
        (max(1.0, model.switch_prior[0]), max(1.0, model.switch_prior[1])),
    )
    log_topics = find_start(model.prepared, model.n_topics, priors, asked.starts, streams.generator(), engine)
    parameters, _ = fit_documents(model.prepared, log_topics, 0.5, priors.document, engine, max_steps=5)
    path = best_path(model.prepared, parameters, engine)
    return finite.start_from(model, path.topics, path.switches, engine)


def with_intervals(table: pd.DataFrame, posterior: HTMMPosterior, level: float) -> pd.DataFrame:
    """A table of documents and topics with the ends of the posterior's intervals."""
    import pandas as pd

    rng = Streams(posterior.seed, 0, 0, STREAMS.htmm_intervals).generator()
    ends = ends_of(level)
    low, high = np.empty(table.shape), np.empty(table.shape)
    for begin in range(0, len(table), 64):
        documents = np.arange(begin, min(begin + 64, len(table)))
        low[documents], high[documents] = np.quantile(
            posterior.proportion_draws(documents, rng), ends, axis=0
        )
    parts = {"mean": table.to_numpy(), "low": low, "high": high}
    columns = pd.MultiIndex.from_product([table.columns, list(parts)], names=["topic", "of"])
    stacked = np.stack(list(parts.values()), axis=2).reshape(len(table), -1)
    return pd.DataFrame(stacked, index=table.index, columns=columns)


# --- new documents ------------------------------------------------------------------------------------------


def prior_of_documents(posterior: HTMMPosterior) -> float:
    """The prior of the proportions of new documents where these are fitted: what was learned, but at least 1."""
    if isinstance(posterior.model, InfiniteModel):
        return 1.0
    return max(1.0, float(posterior.trace["document_prior"].mean()))


def perplexity(
    findings: HTMMResults, prepared: Prepared, prior: float, completed: bool, engine: Any
) -> float:
    """Of new documents, completed or with proportions fitted on the same words."""
    score = completed_perplexity if completed else fitted_perplexity
    return score(prepared, _logs(findings.topic_words.T), findings.switch, prior, engine)


def _logs(weights: np.ndarray) -> np.ndarray:
    """Logs, but nothing below `LOWEST`."""
    with np.errstate(divide="ignore"):
        return np.ascontiguousarray(np.maximum(np.log(weights), LOWEST))


def infer_by_em(
    findings: HTMMResults, prepared: Prepared, prior: float, decoding: str, engine: Any
) -> HTMMResults:
    """Topics of new documents whose proportions are fitted."""
    logs = _logs(findings.topic_words.T)
    parameters, expected = fit_documents(prepared, logs, findings.switch, prior, engine)
    return _findings(prepared, parameters, expected, decoding, engine)


def infer_by_draws(posterior: HTMMPosterior, prepared: Prepared, seed: int, engine: Any) -> HTMMResults:
    """Topics of new documents, drawn given some draws of the fit; what is in topics that match none is left out."""
    topics = posterior.reference.n_topics
    frequencies = np.zeros((prepared.n_sentences, topics))
    proportions = np.zeros((prepared.n_documents, topics))
    switches = np.zeros(prepared.n_sentences)
    chosen = even_rows(list(zip(posterior.all_draws, posterior.matches, strict=True)), _DRAWS_FOR_NEW)
    for number, (draw, match) in enumerate(chosen):
        given = given_draw(posterior, draw)
        streams = Streams(seed, number, 0, STREAMS.new_documents)
        words = words_of_documents(prepared, streams, sum(_SWEEPS_FOR_NEW))
        burn_in, kept = _SWEEPS_FOR_NEW
        drawn = draw_documents(prepared, given, words, engine, burn_in=burn_in, kept=kept)
        has = np.flatnonzero(match != NONE)
        frequencies[:, match[has]] += drawn.topics[:, has]
        proportions[:, match[has]] += drawn.proportions[:, has]
        switches += drawn.switches
    frequencies /= len(chosen)
    best = frequencies.argmax(axis=1)
    share = frequencies[np.arange(len(best)), best]
    shares = proportions / proportions.sum(axis=1, keepdims=True)
    return HTMMResults(
        topic_words=posterior.findings.topic_words,
        proportions=shares,
        switch=posterior.findings.switch,
        sentence_topic=np.where(share > 0.0, best, NONE),
        sentence_probability=share,
        switch_probability=switches / len(chosen),
        words_per_topic=np.diff(prepared.data.tokens) @ frequencies,
    )


def given_draw(posterior: HTMMPosterior, draw: Any) -> Finite:
    """Topics, their prior weights and the switch probability of a draw; unseen topics as one with even words."""
    weights = posterior.count_words(draw) + draw.word_prior
    logs = np.log(weights / weights.sum(axis=1, keepdims=True))
    prior = posterior.topic_prior(draw)
    if prior[-1] > 0.0:
        logs = np.vstack([logs, np.full(logs.shape[1], -np.log(logs.shape[1]))])
    else:
        prior = prior[:-1]
    return Finite(np.ascontiguousarray(logs.T), prior, draw.switch_probability)
