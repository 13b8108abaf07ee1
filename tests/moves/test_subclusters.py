"""The sub-cluster sampler: its ratios against the twin, the same bits anywhere, its state kept throughout."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import franchise as fr
from franchise.checks.statistics import SMALLEST_P
from franchise.kernels.random.streams import Streams
from franchise.model.hdp_model import Model
from franchise.model.state import PreparedData, Weights
from franchise.model.state.base import no_subtopics
from franchise.moves import (
    Concentrations,
    DocumentSweep,
    GuardedSweep,
    RestrictedSweep,
    SubclusterSweep,
    TopicWeights,
    during_warmup,
    every,
    in_turn,
)
from franchise.moves.block_sweep import SweepContext
from franchise.moves.restricted import draw_parameters, joined
from franchise.moves.subcluster import global_moves as global_subclusters
from franchise.moves.subcluster.hastings import (
    log_pick_ratio_global,
    log_pick_ratio_local,
    modes_of_tables,
)
from franchise.moves.subcluster.subcluster_draws import Sweep, monitor
from franchise.moves.subcluster.subcluster_sweep import evaluate_merges, evaluate_splits, score_pairs
from franchise.parallel import Threads
from tests.moves.test_document_sweep import corpus, draws, groups, same, small_blocks  # noqa: F401 (a fixture)
from tests.naive import subcluster as twin

SEEDS = range(6)


# --- ratios, term by term, against the twin -------------------------------------------------------------------


def random_problem(seed: int, topics: int) -> tuple[twin.Problem, twin.Weights, np.ndarray]:
    """16 observations in 3 groups, 4 words; every topic has both sides."""
    rng = np.random.default_rng(seed)
    problem = twin.Problem(
        groups=np.sort(np.arange(16) % 3),
        words=rng.integers(4, size=16),
        alpha=rng.uniform(0.5, 3.0),
        gamma=rng.uniform(0.3, 2.0),
        eta=rng.uniform(0.2, 1.5),
        vocabulary=4,
    )
    labels = np.arange(16) % topics
    sides = (np.arange(16) // topics) % 2
    order = rng.permutation(16)
    beta = rng.dirichlet(np.ones(topics + 1))
    return problem, twin.Weights(labels[order], beta[:-1], float(beta[-1])), sides[order]


def sweep_of(problem: twin.Problem, weights: twin.Weights, sides: np.ndarray, seed: int) -> Sweep:
    """The same state in the package, all sub-topics ready."""
    family = fr.Categorical(problem.vocabulary, problem.eta)
    data = PreparedData.of(problem.words, np.append(0, np.cumsum(np.bincount(problem.groups))), family)
    state = Weights.from_topics(data, family, weights.labels, problem.alpha, problem.gamma)
    state.topic_weights[: len(weights.beta)] = weights.beta
    state.unseen_weight[0] = weights.beta_u
    state.subtopics = no_subtopics(16, state.capacity)
    state.subtopics.sides[:] = sides
    state.subtopics.left_shares[: len(weights.beta)] = 0.3
    state.subtopics.ready[: len(weights.beta)] = True
    model = Model(data, family, problem.alpha, problem.gamma)
    return Sweep(SweepContext(model, state, Streams(seed, 0, 1, 0), Threads(1)))


@pytest.mark.parametrize("seed", SEEDS)
def test_modes_of_tables(seed):
    for topics in (1, 2, 7):
        expected = [twin.proposed_tables(count, topics) for count in range(40)]
        assert modes_of_tables(39, topics).tolist() == expected


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("topics", [1, 2, 4])
def test_ratio_of_a_local_split(seed, topics):
    problem, weights, sides = random_problem(seed, topics)
    sweep = sweep_of(problem, weights, sides, seed)
    for topic, (log_ratio, share) in enumerate(evaluate_splits(sweep, list(range(topics)))):
        expected = twin.log_local_split(weights, sides, topic, share, 0.0, problem)
        assert log_ratio + log_pick_ratio_local(topics) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_ratio_of_a_local_merge(seed):
    problem, weights, sides = random_problem(seed, 4)
    sweep = sweep_of(problem, weights, sides, seed)
    sweep.draw_given()
    pairs = [(2, 0), (1, 3)]
    log_q = score_pairs(sweep, pairs)
    phi = np.exp(sweep.parameters.log_probabilities)
    for pair, log_ratio in zip(pairs, evaluate_merges(sweep, pairs), strict=True):
        undoing = twin.log_probability_of_undoing(weights.labels, pair, sweep.shares, phi, problem)
        assert log_q[list(pair)].sum() == pytest.approx(undoing, abs=1e-9)
        ours = -(log_ratio - log_q[list(pair)].sum() + log_pick_ratio_local(3))
        assert ours == pytest.approx(twin.log_local_merge(weights, pair, undoing, problem), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_split_times_the_merge_that_undoes_it_is_one(seed):
    """With the same q, and the K of the smaller number of topics in both directions."""
    problem, weights, sides = random_problem(seed, 3)
    [(log_split, share)] = evaluate_splits(sweep_of(problem, weights, sides, seed), [1])
    after = twin.after_local_split(weights, sides, 1, share)
    [log_undone] = evaluate_merges(sweep_of(problem, after, sides, seed), [(1, 3)])
    assert log_undone == pytest.approx(log_split, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_probability_of_the_sides_drawn(seed):
    problem, weights, sides = random_problem(seed, 2)
    sweep = sweep_of(problem, weights, sides, seed)
    sweep.draw_given()
    sweep.draw_topics_and_sides()
    labels, drawn = sweep.state.topic_of_observation, sweep.subtopics.sides
    phi = np.exp(sweep.sub_parameters.log_probabilities).reshape(-1, 2, 4)
    left = sweep.lefts
    sub_pi = np.stack([left, 1.0 - left], axis=2)
    for topic in np.unique(labels):
        expected = twin.log_probability_of_sides(labels, drawn, topic, sub_pi, phi, problem)
        assert sweep.log_q[topic] == pytest.approx(expected, abs=1e-9)


class Spy:
    """Keeps the results of a function, for a look behind the scenes."""

    def __init__(self, monkeypatch, name: str) -> None:
        self.function, self.results = getattr(global_subclusters, name), []
        monkeypatch.setattr(global_subclusters, name, self)

    def __call__(self, *arguments):
        self.results.append((arguments, self.function(*arguments)))
        return self.results[-1][1]


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("move", ["split", "merge"])
def test_ratio_of_a_global_move(monkeypatch, move, seed, balanced):
    """By parts (14), from the probabilities that were used; and these against plain products."""
    problem, weights, sides = random_problem(seed, 3)
    sweep = sweep_of(problem, weights, sides, seed)
    spies = {
        name: Spy(monkeypatch, name)
        for name in ("propose", "score", "log_ratio_but_for_parameter", "log_of_merged_parameter")
    }
    getattr(global_subclusters, f"try_global_{move}")(sweep, balanced)
    proposal = spies["propose"].results[0][1]
    assert proposal is not None
    (_, parameters, log_shares, columns), log_reverse = spies["score"].results[0]
    arguments, log_topic = spies["log_of_merged_parameter"].results[0]
    reverse = global_subclusters.Temporary(parameters, np.exp(log_shares))
    assert log_reverse == pytest.approx(log_product(reverse, columns, problem), abs=1e-9)
    forward = spies["propose"].results[0][0][1]
    assert proposal.log_q == pytest.approx(log_product(forward, proposal.labels, problem), abs=1e-9)
    after = twin.Weights(proposal.labels, proposal.arrangement.weights, proposal.arrangement.unseen)
    phi = np.exp(arguments[1].log_probabilities[arguments[2]])
    split, whole = arguments[3]
    density = twin.log_ratio_of_merged_topic if balanced else twin.log_density_of_merged_topic
    expected_topic = density(phi, np.where(split, 0, 9), (0,), np.where(whole, 0, 9), 0, problem)
    assert log_topic == pytest.approx(expected_topic, abs=1e-9)
    ratio_of = twin.log_global_split if move == "split" else twin.log_global_merge
    expected = ratio_of(weights, after, proposal.log_q, log_reverse, log_topic, problem)
    ours = spies["log_ratio_but_for_parameter"].results[0][1] + (log_topic if move == "split" else -log_topic)
    assert ours == pytest.approx(expected, abs=1e-8)


def log_product(temporary, columns, problem) -> float:
    """log of the product over observations of pi~ f / (sum of pi~ f)."""
    phi = np.exp(temporary.parameters.log_probabilities)
    weights = temporary.shares[problem.groups] * phi[:, problem.words].T
    return float(np.log(weights[np.arange(16), columns] / weights.sum(axis=1)).sum())


def test_ratios_of_picks():
    for topics in (1, 2, 3, 8):
        local = twin.probability_of_local_merge(topics + 1) / twin.probability_of_local_split(topics)
        assert log_pick_ratio_local(topics) == pytest.approx(math.log(local))
        globally = twin.probability_of_global_merge(topics + 1) / twin.probability_of_global_split(topics)
        assert log_pick_ratio_global(topics) == pytest.approx(math.log(globally))


# --- conditionals -----------------------------------------------------------------------------------------------


def test_weights_of_groups_and_sub_topics_have_their_laws():
    """(2) and (7): the shares of a group in one topic among two, and its left sub-topic."""
    problem, weights, sides = random_problem(1, 2)
    group = problem.groups == 0
    shares, lefts = [], []
    for seed in range(1500):
        sweep = sweep_of(problem, weights, sides, seed)
        sweep.draw_given()
        shares.append(sweep.shares[0, 0] / sweep.shares[0, :2].sum())
        lefts.append(sweep.lefts[0, 0])
    counts = [(group & (weights.labels == topic)).sum() for topic in (0, 1)]
    law = stats.beta(*(problem.alpha * weights.beta + counts))
    assert stats.kstest(shares, law.cdf).pvalue > SMALLEST_P
    of_topic = sides[group & (weights.labels == 0)]
    law = stats.beta(problem.alpha * 0.3 + (of_topic == 0).sum(), problem.alpha * 0.7 + (of_topic == 1).sum())
    assert stats.kstest(lefts, law.cdf).pvalue > SMALLEST_P


def test_weights_of_sub_topics_have_their_law():
    """(6), (10): with one observation on each side there is one table on each."""
    problem = twin.Problem(np.array([0, 0]), np.array([0, 1]), 1.0, 1.7, 0.5, 2)
    family = fr.Categorical(2, 0.5)
    data = PreparedData.of(problem.words, np.array([0, 2]), family)
    drawn = []
    for seed in range(1500):
        state = Weights.from_topics(data, family, np.zeros(2, int), 1.0, 1.7)
        sweep = Sweep(SweepContext(Model(data, family, 1.0, 1.7), state, Streams(seed, 0, 1, 0), Threads(1)))
        sweep.subtopics.sides[:] = [0, 1]
        sweep.finish()
        drawn.append(sweep.subtopics.left_shares[0])
    assert stats.kstest(drawn, stats.beta(2.7, 2.7).cdf).pvalue > SMALLEST_P


def test_sub_topics_have_burned_in_when_their_likelihood_no_longer_rises():
    subtopics, topics = no_subtopics(5, 4), np.array([1, 3])
    monitor(subtopics, topics, np.array([-3.0, -3.0]))
    assert not subtopics.ready.any()
    monitor(subtopics, topics, np.array([-2.0, -3.5]))
    assert subtopics.ready.tolist() == [False, False, False, True]
    monitor(subtopics, topics, np.array([-2.81, -9.0]))
    assert subtopics.ready.tolist() == [False, True, False, True]
    subtopics.forget(1)
    assert subtopics.ready.tolist() == [False, False, False, True]


def test_parameters_of_several_kinds_are_joined():
    for family in (
        fr.Categorical(3),
        fr.GaussianKnownPrecision(2),
        fr.Poisson(),
        fr.GaussianFull(2, 0.0, scale=1.0),
    ):
        rng = np.random.default_rng(0)
        first, second = (family.draw_parameters(family.empty_statistics(n), n, rng) for n in (4, 2))
        both = joined((first, np.array([3, 1])), (second, np.array([0])))
        for one, other, result in zip(first, second, both, strict=True):
            if len(one) == 4:
                np.testing.assert_array_equal(result, [one[3], one[1], other[0]])
            else:
                np.testing.assert_array_equal(result, one)


def test_parameters_by_rows_have_the_law_of_the_family():
    data = corpus(30)
    family = fr.Categorical(300, 0.2)
    prepared = PreparedData.of(data.observations, data.offsets, family)
    labels = np.arange(data.n_tokens) % 3
    state = Weights.from_topics(prepared, family, labels, 1.0, 1.0)
    drawn = []
    for seed in range(400):
        work = SweepContext(Model(prepared, family, 1.0, 1.0), state, Streams(seed, 0, 1, 0), Threads(1))
        rows = draw_parameters(work, state.statistics, np.array([0, 1, 2, 4]), 5, 7)
        np.testing.assert_allclose(rows.probabilities.sum(axis=0), [1, 1, 1, 0, 1], atol=1e-4)
        drawn.append(rows.probabilities[:50, 1].sum())
    counts = state.statistics.counts[:, 1]
    law = stats.beta(0.2 * 50 + counts[:50].sum(), 0.2 * 250 + counts[50:].sum())
    assert stats.kstest(drawn, law.cdf).pvalue > SMALLEST_P


# --- the sampler as a whole ------------------------------------------------------------------------------------

SAMPLERS = [
    "subcluster",
    [SubclusterSweep(("deterministic",)), Concentrations()],
    [SubclusterSweep(("local", "balanced")), Concentrations()],
    [RestrictedSweep(), Concentrations()],
    [GuardedSweep(), Concentrations()],
]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_same_bits_on_any_number_of_threads(small_blocks, sampler):  # noqa: F811
    data, family = corpus(), fr.Categorical(300, 0.1)
    alone = draws(data, family, sampler, 1, draws=12)
    for workers in (2, 3, 8):
        same(alone, draws(data, family, sampler, workers, draws=12))
    assert not np.array_equal(alone.labels, draws(data, family, sampler, 2, draws=12, seed=6).labels)


@pytest.mark.parametrize("kind", ["poisson", "gaussian"])
def test_same_bits_for_other_families(small_blocks, kind):  # noqa: F811
    data, family = groups(kind)
    alone = draws(data, family, "subcluster", 1, draws=40)
    same(alone, draws(data, family, "subcluster", 3, draws=40))
    assert alone.trace["subcluster_global_split_tries"].sum() > 0


def test_an_interrupted_run_goes_on_with_its_sub_topics(tmp_path):
    data, family = corpus(), fr.Categorical(300, 0.3)
    settings = {"sampler": "subcluster", "warmup": 4, "chains": 1, "seed": 3, "start": 2, "keep_labels": True}
    whole = fr.sample(data, family, draws=30, progress=False, **settings)
    fr.sample(data, family, draws=11, run_dir=tmp_path / "run", progress=False, **settings)
    same(whole, fr.resume(tmp_path / "run", draws=30, progress=False))
    assert whole.trace["subcluster_split_tries"].sum() > 0


@pytest.mark.parametrize("moves", [("local",), ("deterministic",), ("global",), ("balanced",)], ids=str)
def test_the_state_is_consistent_after_every_sweep(small_blocks, moves):  # noqa: F811
    data, family, state = corpus(40), fr.Categorical(300, 0.3), 3
    for sweep in range(12):
        settings = {"draws": 1, "warmup": 0, "seed": sweep, "start": state}
        posterior = draws(data, family, [SubclusterSweep(moves), TopicWeights()], 2, **settings)
        state = posterior.states[0]
        state.check_consistency(posterior.model.data, family)
        has_subtopics = ~np.isnan(state.subtopics.left_shares)
        np.testing.assert_array_equal(has_subtopics, state.observations_per_topic > 0)


def bars(moves: tuple[str, ...], start: int, draws: int) -> fr.Posterior:
    """Documents mix all ten bars: alpha = 10."""
    return fr.sample(
        fr.synthetic.bars(0).data,
        fr.Categorical(25, 0.1),
        sampler=[SubclusterSweep(moves), TopicWeights()],
        alpha=10.0,
        gamma=1.0,
        draws=draws,
        warmup=0,
        chains=1,
        start=start,
    )


@pytest.mark.slow
def test_bars_are_found_from_one_topic():
    posterior = bars(("local",), start=1, draws=500)
    assert posterior.trace["n_topics"][0, 0] == 1
    assert posterior.trace["n_topics"][0, -1] >= 8
    assert posterior.trace["subcluster_splits"].sum() >= 8


def test_learning_sub_topics_alone_keeps_the_topics():
    posterior = bars((), start=5, draws=80)
    assert (posterior.trace["n_topics"] <= 5).all()
    assert posterior.states[0].subtopics.ready.any()


def test_it_goes_with_other_moves_and_as_a_warm_up():
    data, family = corpus(), fr.Categorical(300, 0.1)
    mixed = [
        during_warmup(SubclusterSweep()),
        DocumentSweep(),
        every(3, fr.moves.CrfGibbs()),
        Concentrations(),
    ]
    posterior = draws(data, family, mixed, 2, warmup=30, draws=6)
    assert "subcluster_split_tries" not in posterior.trace
    assert posterior.warmup_trace["subcluster_split_tries"].sum() > 0


def test_switching_samplers_keeps_the_state():
    data, family = corpus(), fr.Categorical(300, 0.1)
    first = draws(data, family, "subcluster", 2, draws=5)
    for sampler in ("parallel", "direct", "crf", "slice", "finite"):
        nothing = in_turn(during_warmup(Concentrations()))
        kept = draws(data, family, [nothing], 2, start=first.states[0], draws=1, warmup=0)
        np.testing.assert_array_equal(kept.labels[0, 0], first.labels[0, -1])
        moved = draws(data, family, sampler, 2, start=first.states[0], draws=1, warmup=0)
        assert (moved.labels[0, 0] == first.labels[0, -1]).mean() > 0.2


def test_it_is_labelled_approximate():
    table = fr.sampler_table().set_index("name")
    assert table.loc["subcluster", "exact"] == "approximate"
    assert table.loc["slice", "exact"] == "HDP"
    assert "Approximate" in SubclusterSweep.__doc__


def test_bad_settings_are_refused():
    with pytest.raises(fr.InputError, match="SubclusterSweep: moves must be one of"):
        SubclusterSweep(("sideways",))
    with pytest.raises(fr.InputError, match="'local' or 'deterministic', not both"):
        SubclusterSweep(("local", "deterministic"))
    data = fr.Groups([1, 2, 3], [0, 0, 1])
    with pytest.raises(fr.InputError, match="prior density of a topic's parameter"):
        fr.sample(data, fr.Poisson(), sampler=[SubclusterSweep()], draws=2, progress=False)
    with pytest.raises(fr.InputError, match="needs a conjugate family"):
        fr.sample(data, fr.GaussianIndependent(1), sampler="subcluster", draws=2, progress=False)
