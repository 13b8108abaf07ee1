"""check_family must see planted bugs, each under the right name, and let sound families of any kind pass."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from franchise.checks import CheckFailed
from franchise.checks.check_family import check_family
from franchise.errors import InputError
from franchise.families import (
    Ability,
    Bernoulli,
    Categorical,
    Family,
    GaussianDiagonal,
    GaussianFull,
    GaussianKnownPrecision,
    Multinomial,
    NegativeBinomial,
    Poisson,
)
from franchise.families.negative_binomial import NegativeBinomialStatistics
from franchise.kernels import family_ops
from franchise.kernels.dirichlet_ops import log_rising
from franchise.kernels.runtime.compile import helper

COUNTS = np.array([3, 0, 7, 2, 11, 5])
POINTS = np.array([[0.3, -1.2], [2.1, 0.4], [0.0, 0.9], [-1.7, 2.2], [0.8, 0.1], [0.6, -0.4]])


def with_bug(parent, **changes):
    """A family like `parent`, with statistics of its own type, some of its methods replaced."""
    own = type(f"{parent.__name__}OwnStatistics", (parent.Statistics,), {})
    methods = {
        name: method
        if name in ("draw_parameters", "draw_observations", "settings", "grow")
        else staticmethod(method)
        for name, method in changes.items()
    }
    return type(f"Broken{parent.__name__}", (parent,), {"Statistics": own, **methods})


def refused(family, observations, identity):
    with pytest.raises(CheckFailed) as caught:
        check_family(family, observations)
    message = str(caught.value)
    assert f"- {identity}: " in message, message
    assert "allowed" in message


@pytest.mark.parametrize(
    "changes",
    [
        {"take_rows": lambda prepared, which: prepared[: len(np.arange(len(prepared))[which])]},
        {"join": lambda parts: np.concatenate(parts[::-1])},
    ],
    ids=["take", "join"],
)
def test_observations_that_are_taken_out_wrongly(changes):
    family = with_bug(GaussianKnownPrecision, **changes)(2)
    refused(family, POINTS, "take and join keep observations")


def test_predictive_without_the_factorial():
    def log_predictive(statistics, observations, index, topic):
        return Poisson.log_predictive(statistics, observations, index, topic) + log_rising(
            1.0, observations[index, 0]
        )

    refused(with_bug(Poisson, log_predictive=log_predictive)(2.0, 0.5), COUNTS, "chain rule")


def test_remove_that_forgets_the_count():
    def remove(statistics, observations, index, topic):
        Poisson.remove(statistics, observations, index, topic)
        statistics.sizes[topic] += 1

    refused(with_bug(Poisson, remove=remove)(2.0, 0.5), COUNTS, "add then remove is the identity")


def test_merge_that_forgets_the_distance_of_the_means():
    def merge(statistics, source, target):
        alone = statistics.scatters[target] + statistics.scatters[source]
        GaussianKnownPrecision.merge(statistics, source, target)
        statistics.scatters[target] = alone

    refused(with_bug(GaussianKnownPrecision, merge=merge)(2), POINTS, "merge is adding all")


def test_merge_that_changes_its_source():
    def merge(statistics, source, target):
        Bernoulli.merge(statistics, source, target)
        Bernoulli.clear(statistics, source)

    refused(with_bug(Bernoulli, merge=merge)(1), [0, 1, 1, 0], "merge is adding all")


def test_clear_that_leaves_something_behind():
    def clear(statistics, topic):
        left = statistics.log_factorials[topic]
        Poisson.clear(statistics, topic)
        statistics.log_factorials[topic] = 1e-13 * left

    refused(with_bug(Poisson, clear=clear)(2.0, 0.5), COUNTS, "clear empties exactly")


def test_grow_that_loses_a_topic():
    def grow(self, statistics, capacity):
        return self.empty_statistics(capacity)

    refused(with_bug(Bernoulli, grow=grow)(1), [0, 1, 1, 0], "grow keeps everything")


def test_block_that_counts_a_shared_category_twice():
    def log_block_predictive(statistics, observations, members, bench, topic):
        total = statistics.log_coefficients[bench]
        total -= log_rising(statistics.totals[topic] + statistics.prior_mass[0], statistics.totals[bench])
        for index in members:
            for entry in range(observations.offsets[index], observations.offsets[index + 1]):
                category = observations.categories[entry]
                base = statistics.counts[category, topic] + statistics.prior[category]
                total += log_rising(base, observations.counts[entry])
        return total

    family = with_bug(Multinomial, log_block_predictive=log_block_predictive)(3)
    rows = np.array([[2, 0, 1], [1, 1, 0], [3, 3, 2], [4, 0, 0]])
    refused(family, rows, "block predictive is a ratio of marginals")


def test_block_that_does_not_put_the_bench_back():
    def log_block_predictive(statistics, observations, members, bench, topic):
        total = Categorical.log_block_predictive(statistics, observations, members, bench, topic)
        statistics.counts[observations[members[0]], bench] -= 1
        statistics.counts[observations[members[0]], bench] += 2
        return total

    family = with_bug(Categorical, log_block_predictive=log_block_predictive)(3)
    refused(family, [0, 1, 1, 2], "block predictive leaves the statistics alone")


def test_weights_that_forget_the_prior_weights():
    def fill_topic_weights(statistics, observations, index, prior_weights, limit, out):
        total = 0.0
        for topic in range(limit):
            out[topic] = math.exp(family_ops.log_predictive(statistics, observations, index, topic))
            total += out[topic]
        return total

    refused(with_bug(Bernoulli, fill_topic_weights=fill_topic_weights)(1), [0, 1, 1, 0], "fill_topic_weights")


def test_block_weights_that_treat_the_bench_as_a_topic():
    def fill_block_weights(statistics, observations, members, bench, prior_weights, limit, out):
        total = 0.0
        for topic in range(limit):
            log = family_ops.log_block_predictive(statistics, observations, members, bench, topic)
            out[topic] = prior_weights[topic] * math.exp(log)
            total += out[topic]
        return total

    refused(with_bug(Bernoulli, fill_block_weights=fill_block_weights)(1), [0, 1, 1, 0], "fill_block_weights")


def test_parameters_with_a_shape_off_by_one():
    def draw_parameters(self, statistics, limit, rng):
        return Poisson.draw_parameters(self, statistics._replace(sums=statistics.sums + 1), limit, rng)

    family = with_bug(Poisson, draw_parameters=draw_parameters)(2.0, 0.5)
    refused(family, COUNTS, "draws of parameters fit the predictive")


def test_parameters_whose_mean_ignores_how_sure_it_is():
    def draw_parameters(self, statistics, limit, rng):
        drawn = GaussianDiagonal.draw_parameters(self, statistics, limit, rng)
        counts = self.mean_count + statistics.sizes[:limit, None]
        centres = statistics.centres[:limit]
        return drawn._replace(means=centres + (drawn.means - centres) * np.sqrt(counts))

    family = with_bug(GaussianDiagonal, draw_parameters=draw_parameters)(2, mean_count=0.5)
    refused(family, POINTS, "draws of parameters fit the predictive")


def test_covariances_with_the_chi_squares_in_the_wrong_order():
    def draw_parameters(self, statistics, limit, rng):
        drawn = GaussianFull.draw_parameters(self, statistics, limit, rng)
        diagonal = np.arange(self.dimension)
        freedom = (self.degrees + statistics.sizes[:limit])[:, None] - diagonal
        whiteners = drawn.whiteners.copy()
        whiteners[:, diagonal, diagonal] = np.sqrt(rng.chisquare(freedom))
        constant = 0.5 * self.dimension * math.log(2.0 * math.pi)
        logs = np.log(whiteners[:, diagonal, diagonal]).sum(axis=1) - constant
        return drawn._replace(whiteners=whiteners, log_normalisers=logs)

    family = with_bug(GaussianFull, draw_parameters=draw_parameters)(
        2, mean_count=1.0, degrees=2.0, scale=1.0
    )
    refused(family, POINTS, "draws of parameters fit the predictive")


def test_dispersions_drawn_from_their_prior():
    def draw_parameters(self, statistics, limit, rng):
        forgotten = np.zeros_like(statistics.log_coefficients)
        return NegativeBinomial.draw_parameters(
            self, statistics._replace(log_coefficients=forgotten), limit, rng
        )

    family = with_bug(NegativeBinomial, draw_parameters=draw_parameters)(2.0, 0.5, grid_size=6)
    refused(family, COUNTS, "draws of parameters fit the predictive")


def test_a_predictive_that_never_learns_the_dispersion():
    def log_predictive(statistics, observations, index, topic):
        statistics = NegativeBinomialStatistics(
            *statistics[:2],
            np.zeros_like(statistics.log_coefficients),
            *statistics[3:],
        )
        NegativeBinomial.add(statistics, observations, index, topic)
        with_it = statistics.log_marginals[topic, 0]
        NegativeBinomial.remove(statistics, observations, index, topic)
        return with_it - statistics.log_marginals[topic, 0]

    family = with_bug(NegativeBinomial, log_predictive=log_predictive)(2.0, 0.5, grid_size=6)
    refused(family, COUNTS, "chain rule")


def test_observations_drawn_from_the_wrong_topic():
    def draw_observations(self, parameters, topics, rng, like):
        return Poisson.draw_observations(self, parameters, topics[::-1], rng, like)

    family = with_bug(Poisson, draw_observations=draw_observations)(2.0, 0.5)
    refused(family, COUNTS, "draws of observations fit the density")


def test_observations_drawn_with_topics_exchanged():
    """The form of the identity with c = 1 would not see this one."""

    def draw_observations(self, parameters, topics, rng, like):
        exchanged = len(parameters.centres) - 1 - topics
        return GaussianKnownPrecision.draw_observations(self, parameters, exchanged, rng, like)

    family = with_bug(GaussianKnownPrecision, draw_observations=draw_observations)(2)
    refused(family, POINTS, "draws of observations fit the density")


def test_observations_that_spread_too_little():
    def draw_observations(self, parameters, topics, rng, like):
        centres = parameters.centres[topics]
        return centres + 0.8 * rng.standard_normal(centres.shape)

    family = with_bug(GaussianKnownPrecision, draw_observations=draw_observations)(2)
    refused(family, POINTS, "draws follow the predictive")


class Unnormalised(NamedTuple):
    log_rates: np.ndarray
    total_rates: np.ndarray


def test_a_density_that_forgets_its_constant_everywhere():
    """Every identity but one still holds: the factor is the same for all topics."""

    def forgetting(method):
        def code(owner, observations, index, topic):
            return method(owner, observations, index, topic) + log_rising(1.0, observations[index, 0])

        return code

    def add(statistics, observations, index, topic):
        Poisson.add(statistics, observations, index, topic)
        statistics.log_factorials[topic] = 0.0

    def remove(statistics, observations, index, topic):
        Poisson.remove(statistics, observations, index, topic)
        statistics.log_factorials[topic] = 0.0

    def draw_parameters(self, statistics, limit, rng):
        return Unnormalised(*Poisson.draw_parameters(self, statistics, limit, rng))

    kind = with_bug(
        Poisson,
        add=add,
        remove=remove,
        log_predictive=forgetting(Poisson.log_predictive),
        draw_parameters=draw_parameters,
    )
    broken = type(
        "BrokenDensity",
        (kind,),
        {
            "Statistics": type("Own", (kind.Statistics,), {}),
            "Parameters": Unnormalised,
            "log_density": staticmethod(forgetting(Poisson.log_density)),
        },
    )
    with pytest.raises(CheckFailed) as caught:
        check_family(broken(2.0, 0.5), COUNTS)
    assert str(caught.value).count("\n- ") == 1
    assert "- the density is normalised: " in str(caught.value)


def test_settings_that_leave_something_out():
    def settings(self):
        return {"dimension": self.dimension, "a": self.a}

    refused(with_bug(Bernoulli, settings=settings)(1, 1.0, 3.0), [0, 1, 1], "settings make the family again")


def test_a_subclass_whose_code_kernels_would_never_run():
    class Misleading(Bernoulli):
        @staticmethod
        def log_predictive(statistics, observations, index, topic):
            return 0.0

    refused(Misleading(1), [0, 1, 1], "kernels reach the family")


def test_statistics_of_another_class_than_the_family_declares():
    class Other(Bernoulli.Statistics):
        pass

    class Misleading(Bernoulli):
        Statistics = Other

        def empty_statistics(self, capacity):
            return Bernoulli.Statistics(*super().empty_statistics(capacity))

        @staticmethod
        def log_marginal(statistics, topic):
            return 0.0

    refused(Misleading(1), [0, 1, 1], "kernels reach the family")


def test_code_that_only_works_in_plain_python():
    sound = helper(Bernoulli.log_marginal)

    def log_marginal(statistics, topic):
        power = 1
        for _ in range(50):
            power *= 3  # does not fit in 64 bits: wraps around when compiled
        return sound(statistics, topic) if float(power) > 1e20 else 0.0

    refused(with_bug(Bernoulli, log_marginal=log_marginal)(1), [0, 1, 1, 0], "compiled and plain code agree")


def test_code_that_does_not_compile_although_a_class_of_the_same_name_did():
    """As in a notebook, where a cell with a family is edited and run once more: same names, other code."""

    def clear(statistics, topic):
        for field in ("sizes", "ones"):
            getattr(statistics, field)[topic] = 0

    assert check_family(with_bug(Bernoulli)(1), [0, 1, 1, 0])["passed"].all()
    refused(with_bug(Bernoulli, clear=clear)(1), [0, 1, 1, 0], "compiled and plain code agree")


def test_exact_statistics_must_be_exact():
    class Claiming(Poisson):
        Statistics = type("ClaimingStatistics", (Poisson.Statistics,), {})
        abilities = frozenset({Ability.CONJUGATE, Ability.EXACT_STATISTICS})

    refused(Claiming(2.0, 0.5), np.array([3, 50, 7, 23, 11, 5]), "add then remove is the identity")


class ExponentialStatistics(NamedTuple):
    sizes: np.ndarray
    sums: np.ndarray


class ExponentialParameters(NamedTuple):
    rates: np.ndarray


class Exponential(Family):
    """Waiting times as a user would write them, without predictive and marginal: exp(-x phi) phi."""

    Statistics = ExponentialStatistics
    Parameters = ExponentialParameters
    abilities = frozenset()

    def prepare(self, observations):
        times = np.asarray(observations, dtype=np.float64)
        if (times <= 0).any():
            raise InputError("times must be positive")
        return times

    def empty_statistics(self, capacity):
        return self.Statistics(np.zeros(capacity, np.int64), np.zeros(capacity))

    def draw_parameters(self, statistics, limit, rng):
        return self.Parameters(rng.gamma(2.0 + statistics.sizes[:limit]) / (1.0 + statistics.sums[:limit]))

    def draw_observations(self, parameters, topics, rng, like):
        return rng.exponential(1.0 / parameters.rates[topics])

    def settings(self):
        return {}

    @staticmethod
    def add(statistics, observations, index, topic):
        statistics.sizes[topic] += 1
        statistics.sums[topic] += observations[index]

    @staticmethod
    def remove(statistics, observations, index, topic):
        statistics.sizes[topic] -= 1
        statistics.sums[topic] -= observations[index]

    @staticmethod
    def merge(statistics, source, target):
        statistics.sizes[target] += statistics.sizes[source]
        statistics.sums[target] += statistics.sums[source]

    @staticmethod
    def clear(statistics, topic):
        statistics.sizes[topic] = 0
        statistics.sums[topic] = 0.0

    @staticmethod
    def log_density(parameters, observations, index, topic):
        return math.log(parameters.rates[topic]) - parameters.rates[topic] * observations[index]


TIMES = np.array([0.3, 1.7, 0.2, 4.0, 0.9])


def test_a_family_without_predictive():
    table = check_family(Exponential(), TIMES)
    assert "parameters given observations" in set(table["check"])
    assert "the density is normalised" in set(table["check"])
    assert "chain rule" not in set(table["check"])


def test_parameters_of_a_family_without_predictive():
    def draw_parameters(self, statistics, limit, rng):
        return self.Parameters(
            rng.gamma(3.0 + statistics.sizes[:limit]) / (1.5 + statistics.sums[:limit] / 2)
        )

    refused(with_bug(Exponential, draw_parameters=draw_parameters)(), TIMES, "parameters given observations")


def test_observations_are_asked_for_when_there_are_no_examples():
    with pytest.raises(InputError, match="observations are required"):
        check_family(Exponential())
    with pytest.raises(InputError, match="at least one observation"):
        check_family(Poisson(), [])
    with pytest.raises(InputError, match="family must be a franchise Family"):
        check_family(Poisson)


def test_missing_methods_are_named():
    class Claiming(Exponential):
        abilities = frozenset({Ability.CONJUGATE})
        draw_parameters = Family.draw_parameters

    with pytest.raises(
        InputError, match=r"no log_predictive, no log_marginal, no draw_parameters.*frozenset\(\)"
    ):
        check_family(Claiming(), TIMES)


def test_a_single_observation_will_do():
    assert check_family(Bernoulli(1), [1])["passed"].all()


def test_the_same_seed_gives_the_same_table():
    first, second = (check_family(Bernoulli(1), [1, 0, 1], seed=5) for _ in range(2))
    assert first.equals(second)
