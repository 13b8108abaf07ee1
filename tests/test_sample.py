"""The contract of `franchise.sample` and of the posterior it returns.

Traced quantities are defined in docs/theory/diagnostics.md#sec-traced.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.special import gammaln

import franchise as fr
from franchise import validation
from franchise.checks.enumeration import canonical
from franchise.moves import Concentrations, CrfGibbs, DirectAssignment, TopicPrior, TopicWeights
from franchise.running import chain_run as running
from tests.running.runs import assert_same, assert_same_traces

RNG = np.random.default_rng(3)
CORPUS = fr.Corpus.from_matrix(RNG.poisson(0.9, (9, 6)))
COUNTS = RNG.poisson(RNG.choice([1.0, 12.0], 30))
LABELS = RNG.choice(["north", "south", "east"], 30)
GROUPS = fr.Groups(COUNTS, LABELS)

ALWAYS = [
    "n_topics",
    "n_large_topics",
    "n_tables",
    "log_joint",
    "log_likelihood_per_observation",
    "best_log_likelihood_per_observation",
    *(f"share_of_largest_{count}" for count in range(1, 11)),
    "alpha",
    "gamma",
    "topic_entropy",
    "co_assignment",
    "seconds",
]
SAMPLERS = ["crf", "direct", "split-merge", "slice", "parallel", "subcluster", "finite"]
OF_MOVES = {
    "split-merge": [
        "split_tries",
        "splits",
        "merge_tries",
        "merges",
        "split_merge_tables",
        "split_merge_observations",
    ],
    "subcluster": [
        f"subcluster_{name}{kind}"
        for name in ("merge", "split", "global_merge", "global_split")
        for kind in ("_tries", "s")
    ],
    "parallel": ["launch_split_tries", "launch_splits", "launch_merge_tries", "launch_merges"],
}


def sample(data=CORPUS, family=None, **settings):
    if family is None and not isinstance(data, fr.Corpus):
        family = fr.Poisson(1.0, 0.2)
    return fr.sample(data, family, **{"draws": 6, "warmup": 4, "chains": 2, "seed": 1, **settings})


# --- traces -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_names_shapes_and_types_of_traces(sampler):
    posterior = sample(sampler=sampler, chains=3)
    for trace, length in ((posterior.trace, 6), (posterior.warmup_trace, 4)):
        assert set(trace) == {*ALWAYS, *OF_MOVES.get(sampler, [])}
        for name, values in trace.items():
            assert values.shape == (3, length)
            assert values.dtype == (np.int64 if name in ("n_topics", "n_tables") else np.float64)
            assert np.isfinite(values).all()
    assert posterior.n_chains == 3
    assert posterior.n_draws == 6


def test_a_learned_prior_is_traced():
    posterior = sample(family=fr.Categorical(6, fr.Gamma(1.0, 1.0)), sampler="direct")
    assert set(posterior.trace) == {*ALWAYS, "prior"}
    assert len(np.unique(posterior.trace["prior"])) == 12
    assert (posterior.trace["prior"] > 0).all()


def test_the_defaults_are_those_of_the_contract():
    import inspect

    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(fr.sample).parameters.items()
        if name != "data"
    }
    assert defaults == {
        "family": None,
        "sampler": "auto",
        "alpha": fr.Gamma(0.5, 0.01),
        "gamma": fr.Gamma(1, 1),
        "alpha_per": "level",
        "draws": 500,
        "warmup": 500,
        "thin": 1,
        "chains": 4,
        "seed": 0,
        "start": None,
        "finite_topics": 100,
        "keep_labels": False,
        "engine": None,
        "workers": None,
        "progress": None,
        "run_dir": None,
        "time_limit": None,
        "checkpoint_interval": 60.0,
    }


def test_thinning_keeps_every_so_manyth_sweep():
    """The draws of a thinned run are draws of the unthinned one; the warm-up is traced sweep by sweep."""
    whole, thinned = sample(draws=12, keep_labels=True), sample(draws=4, thin=3, keep_labels=True)
    assert_same_traces(thinned.warmup_trace, whole.warmup_trace)
    for name in ALWAYS[:-1]:
        np.testing.assert_array_equal(thinned.trace[name], whole.trace[name][:, 2::3])
    np.testing.assert_array_equal(thinned.labels, whole.labels[:, 2::3])


def test_the_warm_up_goes_over_into_the_draws():
    """The sweeps are the same, wherever the warm-up ends."""
    late, early = (sample(sampler="crf", warmup=warmup, draws=10 - warmup) for warmup in (7, 2))
    for name in ALWAYS[:-1]:
        one = np.hstack([late.warmup_trace[name], late.trace[name]])
        np.testing.assert_array_equal(one, np.hstack([early.warmup_trace[name], early.trace[name]]))


def test_no_warm_up():
    posterior = sample(warmup=0)
    assert posterior.trace["n_topics"].shape == (2, 6)
    assert all(values.shape == (2, 0) for values in posterior.warmup_trace.values())


def test_no_warm_up_is_a_trace_of_length_zero():
    assert sample(warmup=0).warmup_trace["n_topics"].shape == (2, 0)


def test_seconds_grow():
    posterior = sample()
    seconds = np.hstack([posterior.warmup_trace["seconds"], posterior.trace["seconds"]])
    assert (np.diff(seconds, axis=1) > 0).all()
    assert posterior.seconds == seconds[:, -1].max()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_fixed_concentrations_are_traced(sampler):
    posterior = sample(sampler=sampler, alpha=0.7, gamma=2)
    for trace in (posterior.trace, posterior.warmup_trace):
        np.testing.assert_array_equal(trace["alpha"], 0.7)
        np.testing.assert_array_equal(trace["gamma"], 2.0)
    learned = sample(sampler=sampler, alpha=0.7, gamma=fr.Gamma(1.0, 1.0))
    np.testing.assert_array_equal(learned.trace["alpha"], 0.7)
    assert len(np.unique(learned.trace["gamma"])) == 12


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_log_likelihood_and_joint_are_those_of_the_labels(sampler):
    """By the naive twins, for every draw; the joint with the tables of the snapshot."""
    from tests.naive.families import Poisson
    from tests.naive.posterior import log_likelihood_of_partition

    posterior = sample(GROUPS, sampler=sampler, chains=1, keep_labels=True, alpha=1.0)
    for draw, labels in enumerate(posterior.labels[0]):
        expected = log_likelihood_of_partition(labels.tolist(), COUNTS.tolist(), Poisson(1.0, 0.2))
        measured = posterior.trace["log_likelihood_per_observation"][0, draw]
        assert measured * 30 == pytest.approx(expected, rel=1e-9)
        gamma = posterior.trace["gamma"][0, draw]
        rest = posterior.trace["log_joint"][0, draw] - expected - fr.Gamma(1, 1).log_density(gamma)
        assert rest < 0.0  # log p(z, m) of something that has a probability


# --- labels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_many_words(sampler):
    """Beyond some thousand words categories are gone over in blocks, in every sampler."""
    size = 2500
    words = np.random.default_rng(8).integers(size, size=(6, 300))
    corpus = fr.Corpus.from_tokens(list(words), [str(word) for word in range(size)])
    options = {
        "sampler": sampler,
        "draws": 3,
        "warmup": 3,
        "chains": 1,
        "keep_labels": True,
        "finite_topics": 5,
    }
    posterior = fr.sample(corpus, fr.Categorical(size, 0.2), workers=2, **options)
    for draw, labels in enumerate(posterior.labels[0]):
        counts = np.zeros((labels.max() + 1, size))
        np.add.at(counts, (labels, corpus.observations), 1)
        terms = gammaln(counts + 0.2).sum() - counts.size * gammaln(0.2)
        masses = gammaln(size * 0.2) * len(counts) - gammaln(counts.sum(axis=1) + size * 0.2).sum()
        expected = (terms + masses) / corpus.n_tokens
        assert np.isclose(posterior.trace["log_likelihood_per_observation"][0, draw], expected, rtol=1e-9)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_labels(sampler):
    posterior = sample(sampler=sampler, keep_labels=True)
    labels = posterior.labels
    assert labels.dtype == np.int32
    assert labels.shape == (2, 6, CORPUS.n_observations)
    for chain in range(2):
        for draw in range(6):
            topics = posterior.trace["n_topics"][chain, draw]
            assert np.unique(labels[chain, draw]).tolist() == list(range(topics))
    assert sample(sampler=sampler).labels is None


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_labels_are_in_input_order(sampler):
    """Shuffled observations give the labels of the grouped ones, shuffled: the sampler sees the same data."""
    order = np.argsort(GROUPS.group_of_observation, kind="stable")
    grouped = fr.Groups(COUNTS[order], LABELS[order])
    assert not np.array_equal(order, np.arange(30))
    one = sample(GROUPS, sampler=sampler, keep_labels=True)
    two = sample(grouped, sampler=sampler, keep_labels=True)
    np.testing.assert_array_equal(one.labels[..., order], two.labels)
    for chain in range(2):
        for draw in range(6):
            assert canonical(one.labels[chain, draw][order]) == canonical(two.labels[chain, draw])
    assert_same_traces(one.trace, two.trace)


def test_labels_that_will_not_fit_are_refused_at_once(monkeypatch, tmp_path):
    needed = 4 * 6 * 2 * CORPUS.n_observations
    monkeypatch.setattr(validation, "available_memory", lambda: needed - 1)
    with pytest.raises(fr.InputError, match=r"keep_labels=True needs.*2 chains x 6 draws.*are free"):
        sample(keep_labels=True, run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert sample().labels is None


def test_the_memory_asked_for_is_the_memory_used():
    """What is needed at most, measured, is no more than what the check counts (and a little)."""
    import tracemalloc

    corpus = fr.Corpus.from_matrix(np.full((40, 50), 5))
    settings = {
        "draws": 40,
        "warmup": 0,
        "chains": 2,
        "keep_labels": True,
        "alpha": 1.0,
        "gamma": 1.0,
        "start": 1,
    }
    counted = 4 * 40 * 2 * corpus.n_observations
    sample(corpus, **{**settings, "draws": 1})
    tracemalloc.start()
    sample(corpus, **settings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * counted + 2**21


def test_labels_of_more_draws_that_will_not_fit_are_refused(monkeypatch, tmp_path):
    sample(keep_labels=True, run_dir=tmp_path / "run")
    monkeypatch.setattr(validation, "available_memory", lambda: 4 * 100 * 2 * CORPUS.n_observations - 1)
    with pytest.raises(fr.InputError, match="keep_labels"):
        fr.resume(tmp_path / "run", draws=100)


def test_the_memory_of_this_machine_is_known(monkeypatch):
    assert 2**24 < validation.available_memory() < 2**50
    monkeypatch.setattr("builtins.open", lambda *_: (_ for _ in ()).throw(OSError()))
    assert 2**24 < validation.available_memory() < 2**50


# --- seeds, chains, workers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("data", [CORPUS, GROUPS], ids=["corpus", "groups"])
def test_same_seed_same_draws(data, sampler):
    settings = {"sampler": sampler, "keep_labels": True}
    one = sample(data, **settings)
    assert_same(one, sample(data, **settings))
    assert not np.array_equal(one.labels, sample(data, seed=2, **settings).labels)


def test_chains_are_different():
    posterior = sample(chains=4, keep_labels=True)
    assert len({labels.tobytes() for labels in posterior.labels}) == 4


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_workers_change_nothing(sampler):
    settings = {"sampler": sampler, "chains": 4, "keep_labels": True}
    alone = sample(workers=1, **settings)
    for workers in (2, 3, 8):
        assert_same(sample(workers=workers, **settings), alone)
    assert_same(sample(engine=fr.engines.Threads(4), **settings), alone)
    assert_same(sample(**settings), alone)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_chain_does_not_depend_on_the_others(sampler):
    """One chain, two chains, four chains: the first is always the same."""
    four = sample(sampler=sampler, chains=4, keep_labels=True)
    for chains in (1, 2):
        fewer = sample(sampler=sampler, chains=chains, keep_labels=True)
        np.testing.assert_array_equal(fewer.labels, four.labels[:chains])
        for name in ALWAYS[:-1]:
            np.testing.assert_array_equal(fewer.trace[name], four.trace[name][:chains])


def test_a_seed_that_is_drawn_is_recorded():
    one = sample(seed=None, keep_labels=True)
    assert isinstance(one.seed, int)
    assert_same(one, sample(seed=one.seed, keep_labels=True))
    assert sample(seed=None).seed != one.seed


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_empty_documents_have_no_influence(sampler):
    """Bit for bit: they take part in no draw, and streams do not count groups."""
    matrix = CORPUS.to_matrix().toarray()
    padded = np.zeros((2 * len(matrix) + 1, 6), int)
    padded[1::2] = matrix
    settings = {"sampler": sampler, "keep_labels": True}
    one, two = sample(**settings), sample(fr.Corpus.from_matrix(padded), **settings)
    np.testing.assert_array_equal(one.labels, two.labels)
    for name in ALWAYS[:-1]:
        if name == "log_joint":  # a sum over groups, empty ones included, up to rounding
            np.testing.assert_allclose(one.trace[name], two.trace[name], rtol=1e-12)
        else:
            np.testing.assert_array_equal(one.trace[name], two.trace[name])
    documents = two.document_topics().to_numpy()
    assert len(documents) == len(padded)
    np.testing.assert_allclose(documents[1::2], one.document_topics().to_numpy())


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_single_observation(sampler):
    posterior = sample(fr.Groups([3], ["only"]), sampler=sampler, keep_labels=True)
    assert (posterior.trace["n_topics"] == 1).all()
    assert (posterior.labels == 0).all()
    assert posterior.document_topics().to_numpy().sum() == pytest.approx(1.0)


# --- time limit, progress -----------------------------------------------------------------------------------


def test_a_time_limit_ends_the_run():
    begun = time.perf_counter()
    with pytest.warns(UserWarning, match="time limit reached"):
        posterior = sample(draws=10**7, warmup=10, time_limit=0.3)
    assert time.perf_counter() - begun < 10.0
    assert 1 <= posterior.n_draws < 10**7
    assert posterior.trace["alpha"].shape == (2, posterior.n_draws)


def test_a_time_limit_in_the_warm_up_gives_one_draw(monkeypatch):
    monkeypatch.setattr(running.StopSignal, "out_of_time", property(lambda self: True))
    with pytest.warns(UserWarning, match=r"1 of 6 draws.*after 0 warm-up sweeps"):
        posterior = sample(time_limit=1.0, warmup=10**6, thin=2, keep_labels=True)
    assert posterior.n_draws == 1
    assert posterior.labels.shape[:2] == (2, 1)
    assert "Posterior" in repr(posterior)


def test_a_time_limit_that_is_not_reached_changes_nothing(recwarn):
    assert_same(sample(time_limit=1000.0), sample())
    assert not recwarn


def test_silent_unless_asked(capfd):
    sample()
    sample(progress=False)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == ""


def test_progress_says_what_is_going_on(capsys):
    posterior = sample(progress=True)
    shown = capsys.readouterr().out
    for word in ("chain 0", "chain 1", "10/10", "topics", "nats/word", "words/s"):
        assert word in shown
    assert_same(posterior, sample())
    sample(GROUPS, progress=True)
    assert "nats/observation" in capsys.readouterr().out


# --- samplers -----------------------------------------------------------------------------------------------


def test_the_automatic_choice_is_one_of_the_names():
    posterior = sample()
    assert posterior.sampler in fr.sampler_table()["name"].tolist()
    assert_same(posterior, sample(sampler=posterior.sampler))


def test_a_sampler_of_moves_is_that_of_its_name():
    crf = sample(sampler="crf", keep_labels=True)
    moves = sample(sampler=[CrfGibbs(), Concentrations()], keep_labels=True)
    np.testing.assert_array_equal(crf.labels, moves.labels)
    assert moves.sampler == "moves"
    single = sample(sampler=fr.moves.in_turn(DirectAssignment(), Concentrations()), keep_labels=True)
    assert single.trace["n_topics"].shape == (2, 6)


def test_views_can_be_mixed_in_one_run():
    mixed = [
        CrfGibbs(),
        DirectAssignment(),
        fr.moves.at_random((CrfGibbs(tables=False), 0.5), (TopicWeights(), 0.5)),
        Concentrations(),
        TopicPrior(),
    ]
    posterior = sample(family=fr.Categorical(6, fr.Gamma(1, 1)), sampler=mixed, draws=30, keep_labels=True)
    for state in posterior.states:
        state.check_consistency(posterior.model.data, posterior.family)
    np.testing.assert_array_equal(posterior.labels.max(axis=2) + 1, posterior.trace["n_topics"])


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize(
    ("data", "family"),
    [
        (fr.Groups(RNG.integers(0, 2, (12, 3)), [0, 1] * 6), fr.Bernoulli(3)),
        (fr.Groups(RNG.poisson(2.0, (12, 4)), [0, 1] * 6), fr.Multinomial(4, fr.Gamma(1, 1))),
        (fr.Groups(RNG.normal(size=12), [0, 1] * 6), fr.GaussianKnownPrecision(1)),
        (fr.Groups(RNG.normal(size=(12, 2)), [0, 1] * 6), fr.GaussianDiagonal(2)),
        (fr.Groups(RNG.normal(size=(12, 2)), [0, 1] * 6), fr.GaussianFull(2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_family_runs(data, family, sampler):
    posterior = sample(data, family, sampler=sampler, draws=8, keep_labels=True)
    assert np.isfinite(posterior.trace["log_joint"]).all()
    for state in posterior.states:
        state.check_consistency(posterior.model.data, posterior.family)


def test_the_family_of_a_corpus_is_categorical():
    posterior = sample()
    assert isinstance(posterior.family, fr.Categorical)
    assert posterior.family.size == CORPUS.vocabulary_size
    assert_same(posterior, sample(family=fr.Categorical(6)))


def test_moves_that_leave_a_learned_concentration_alone_are_said_to():
    """alpha and gamma are learned unless said otherwise; a sampler without a move for them keeps them fixed."""
    with pytest.warns(UserWarning, match="alpha"):
        sample(sampler=[DirectAssignment(), TopicWeights()])


# --- the posterior ------------------------------------------------------------------------------------------


def test_repr():
    text = repr(sample())
    for word in (
        "2 chains x 6 draws",
        "Corpus(9 documents",
        "'direct'",
        "topics:",
        "log likelihood",
        ".summary()",
    ):
        assert word in text


def test_topics_of_one_draw():
    posterior = sample(chains=2)
    for chain in (0, 1):
        table = posterior.draw(chain).topics(words=3)
        assert len(table) == posterior.trace["n_topics"][chain, -1]
        assert table.index.tolist() == [f"d{place}" for place in range(len(table))]
        assert table["observations"].is_monotonic_decreasing
        assert table["observations"].sum() == CORPUS.n_observations
        assert table["share"].sum() == pytest.approx(1.0)
        assert table["groups"].between(1, 9).all()
        assert all(1 <= len(words.split()) <= 3 for words in table["words"])
    assert "words" not in sample(GROUPS).draw().topics()


def test_a_draw_of_a_chain_is_its_last_one():
    posterior = sample(keep_labels=True, draws=5)
    last = posterior.draw(0)
    sizes = np.sort(np.bincount(posterior.labels[0, -1]))[::-1]
    np.testing.assert_array_equal(last.topics()["observations"], sizes)
    np.testing.assert_array_equal(np.bincount(last.labels), sizes)
    assert (last.chain, last.number) == (0, 4)
    largest = posterior.labels[0, -1] == np.bincount(posterior.labels[0, -1]).argmax()
    np.testing.assert_array_equal(last.labels == 0, largest)
    counts = np.bincount(CORPUS.observations[largest], minlength=6)
    assert counts[CORPUS.vocabulary.index(last.topics(words=1)["words"]["d0"])] == counts.max()
    assert posterior.draw(chain=1, draw=2).number == 2


def test_a_draw_is_one_of_all_chains_if_nothing_is_said():
    central = sample(draws=5).draw()
    assert f"chain {central.chain}, draw {central.number})" in repr(central)
    assert central.document_topics().columns.tolist() == [*central.names, "unseen"]
    assert central.infer(CORPUS).columns.tolist() == [*central.names, "unseen"]


def test_topics_by_chain_are_deprecated_and_still_work():
    posterior = sample(chains=2)
    with pytest.warns(DeprecationWarning, match=r"draw\(chain=\.\.\.\)\.topics\(\)"):
        table = posterior.topics(words=3, chain=1)
    assert table.index.tolist() == list(range(len(table)))
    assert table["observations"].tolist() == posterior.draw(1).topics()["observations"].tolist()
    with pytest.warns(DeprecationWarning, match="document_topics"):
        documents = posterior.document_topics(chain=1)
    assert documents.columns.tolist() == [*range(len(table)), "unseen"]
    with pytest.warns(DeprecationWarning, match="consensus_topics"):
        assert posterior.matched is posterior.consensus_topics


@pytest.mark.parametrize("data", [CORPUS, GROUPS], ids=["corpus", "groups"])
def test_new_groups_like_the_old_have_their_topics(data):
    posterior = sample(data, draws=5)
    table = posterior.infer(data)
    assert table.index.tolist() == list(data.group_names)
    assert table.columns.tolist() == posterior.document_topics().columns.tolist()
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    other = GROUPS if data is CORPUS else CORPUS
    with pytest.raises(fr.InputError, match=f"data must be {type(data).__name__}"):
        posterior.infer(other)


@pytest.mark.parametrize("data", [CORPUS, GROUPS], ids=["corpus", "groups"])
def test_document_topics(data):
    posterior = sample(data, keep_labels=True, draws=5)
    table = posterior.draw(1).document_topics()
    topics = posterior.trace["n_topics"][1, -1]
    assert table.shape == (data.n_groups, topics + 1)
    assert table.columns.tolist() == [*(f"d{place}" for place in range(topics)), "unseen"]
    assert table.index.tolist() == list(data.group_names)
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert (table.to_numpy() > 0).all()
    # by hand: (n_jk + alpha m_k / (m + gamma)) / (n_j + alpha), topics from the largest to the smallest
    snapshot = posterior.snapshots[1][-1]
    order = np.argsort(-np.bincount(snapshot.labels), kind="stable")
    alpha, beta = (
        snapshot.alpha,
        snapshot.tables_per_topic / (snapshot.tables_per_topic.sum() + snapshot.gamma),
    )
    first = data.to_grouped_order(posterior.labels[1, -1])[: data.offsets[1]]
    expected = (np.bincount(first, minlength=topics) + alpha * beta) / (len(first) + alpha)
    np.testing.assert_allclose(table.iloc[0, :-1].to_numpy(dtype=float), expected[order])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: p.draw(2), ["chain", "0 to 1", "2"]),
        (lambda p: p.draw(-1), ["chain", "-1"]),
        (lambda p: p.chain(2), ["chain", "0 to 1", "2"]),
        (lambda p: p.draw(0, 6), ["draw", "5", "6"]),
        (lambda p: p.topics(words=0), ["words", "0"]),
        (lambda p: p.draw("a"), ["chain", "'a'"]),
    ],
)
def test_wrong_questions(call, words):
    with pytest.raises(fr.InputError) as caught:
        call(sample())
    for word in words:
        assert word in str(caught.value)


def test_summary():
    table = sample(draws=20).summary()
    assert {"n_topics", "log_joint", "alpha", "gamma"} <= set(table.index)
    assert table.loc["gamma", ["prior 5%", "prior 95%"]].tolist() == pytest.approx([0.0513, 2.996], rel=1e-3)
    assert table.loc["n_topics", ["prior 5%", "prior 95%"]].isna().all()
    assert "seconds" not in table.index


def test_data_are_left_alone():
    matrix = RNG.poisson(1.0, (4, 5))
    before, corpus = matrix.copy(), fr.Corpus.from_matrix(matrix)
    observations = corpus.observations.copy()
    sample(corpus)
    np.testing.assert_array_equal(matrix, before)
    np.testing.assert_array_equal(corpus.observations, observations)
