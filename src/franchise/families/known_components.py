"""`KnownTopics` while the component of each topic is given: the likelihood within a `KnownSweep`.

It has the layout of `Categorical`, so the kernels for categories run on it.  The loops and formulas are in
`kernels/known_sweep.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.families.abilities import Ability
from franchise.families.dirichlet_prior import OfCategories
from franchise.families.mixed_dirichlet import KnownTopicsStatistics
from franchise.kernels import known_sweep as kernels

if TYPE_CHECKING:
    from franchise.families.known_topics import KnownTopics


class KnownComponentsStatistics(NamedTuple):
    """What is known of each topic, and its component; C slots, V categories, P components."""

    counts: np.ndarray  # float64 (V, C): alpha_cw - eta_w + g_c n_kw; of a vacant slot, n_kw
    totals: np.ndarray  # float64 (C,): n_k
    sizes: np.ndarray  # float64 (C,): alpha_c + g_c n_k
    inverse_mass: np.ndarray  # float64 (C,): 1 / sizes
    components: np.ndarray  # int64 (C,): c; -1 in vacant slots
    learns: np.ndarray  # float64 (C,): g_c; 1 in vacant slots
    masses: np.ndarray  # float64 (C,): alpha_c; 1 in vacant slots
    prior: np.ndarray  # float64 (V,): eta_w
    new: np.ndarray  # float64 (V,): the predictive probabilities of a new topic
    bases: np.ndarray  # float64 (V, P): alpha_tw
    part_learns: np.ndarray  # float64 (P,): g_t
    part_mass: np.ndarray  # float64 (P,): alpha_t
    is_plain: np.ndarray  # bool (P,): whether alpha_tw = eta_w for all w
    weights: np.ndarray  # float64 (P,): w_t
    log_weights: np.ndarray  # float64 (P,): log w_t
    room: np.ndarray  # float64 (P,): for a number per component
    rng_state: np.ndarray  # uint64 (4,): of the draws of components


class KnownComponents(OfCategories[Any]):
    """The likelihood of known topics, given the component of each topic."""

    Statistics = KnownComponentsStatistics
    abilities = frozenset({Ability.CONJUGATE, Ability.IS_CATEGORICAL})

    def __init__(self, known: KnownTopics) -> None:
        self.known = known
        self.size = known.size

    def prepare(self, observations: ArrayLike) -> np.ndarray:
        """Category ids, as for the known topics."""
        return self.known.prepare(observations)

    def settings(self) -> dict[str, Any]:
        """The settings of the known topics."""
        return self.known.settings()

    def empty_statistics(self, capacity: int) -> KnownComponentsStatistics:
        """No observations, and no components, in any of `capacity` topics."""
        one, eta = self.known.empty_statistics(1), self.known.prior
        beyond = one.base - eta[:, None]
        while (lost := beyond + eta[:, None] <= 0.0).any():  # of probabilities far below eta, rounding leaves zero
            beyond[lost] = np.nextafter(beyond[lost], math.inf)
        return KnownComponentsStatistics(
            counts=np.zeros((self.size, capacity)),
            totals=np.zeros(capacity),
            sizes=np.ones(capacity),
            inverse_mass=np.ones(capacity),
            components=np.full(capacity, -1),
            learns=np.ones(capacity),
            masses=np.ones(capacity),
            prior=eta.copy(),
            new=one.base @ (one.weights / one.mass),
            bases=beyond + eta[:, None],
            part_learns=one.learns,
            part_mass=one.mass,
            is_plain=(beyond == 0.0).all(axis=0) & (one.learns > 0.0),
            weights=one.weights,
            log_weights=one.log_weights,
            room=np.zeros(one.base.shape[1]),
            rng_state=np.zeros(4, np.uint64),
        )

    def given(
        self, statistics: KnownTopicsStatistics, components: np.ndarray, rng_state: np.ndarray
    ) -> KnownComponentsStatistics:
        """Return the statistics of topics given their components, int (C,), -1 in vacant slots.

        `rng_state` is for the components of topics that open.
        """
        made = self.empty_statistics(0)._replace(rng_state=rng_state)
        has = components >= 0
        learns = np.where(has, made.part_learns[components], 1.0)
        masses = np.where(has, made.part_mass[components], 1.0)
        sizes = masses + learns * statistics.totals
        counts = statistics.counts.astype(np.float64)
        for topic in np.flatnonzero(has & ~made.is_plain[components]):
            counts[:, topic] *= learns[topic]
            counts[:, topic] += made.bases[:, components[topic]] - made.prior
        return made._replace(
            counts=counts,
            totals=statistics.totals.copy(),
            sizes=sizes,
            inverse_mass=1.0 / sizes,
            components=components,
            learns=learns,
            masses=masses,
        )

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Raise n_kw and n_k by one; a frozen topic keeps its probabilities."""
        statistics.counts[observations[index], topic] += statistics.learns[topic]
        statistics.totals[topic] += 1.0
        kernels.set_size(statistics, topic)

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Lower n_kw and n_k by one."""
        statistics.counts[observations[index], topic] -= statistics.learns[topic]
        statistics.totals[topic] -= 1.0
        kernels.set_size(statistics, topic)

    @staticmethod
    def clear(statistics, topic):  # type: ignore[no-untyped-def]
        """No observations and no component."""
        kernels.vacate(statistics, topic)

    @staticmethod
    def begin_topic(statistics, observations, members, topic):  # type: ignore[no-untyped-def]
        """Draw the component of a new topic given its first observations."""
        part = kernels.draw_component(statistics, observations, members, topic)
        kernels.give_component(statistics, observations, members, topic, part)

    @staticmethod
    def weigh_new(statistics, category, weight):  # type: ignore[no-untyped-def]
        """Weight times the sum over t of w_t alpha_tw / alpha_t."""
        return weight * statistics.new[category]

    @staticmethod
    def fill_block_weights(statistics, observations, members, bench, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Fill weights with products of predictives."""
        return kernels.fill_block(statistics, observations, members, bench, prior_weights, limit, out)
