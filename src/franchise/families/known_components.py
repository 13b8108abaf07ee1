"""`KnownTopics` while the component of each topic is given: the likelihood within a `KnownSweep`.

It has the layout of `Categorical`, so the kernels for categories run on it.  The loops and formulas are in
`kernels/known_components_sweep.py`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from franchise.families.abilities import Ability
from franchise.families.dirichlet_prior import OfCategories
from franchise.families.mixed_dirichlet import KnownTopicsStatistics
from franchise.kernels import known_components_sweep as kernels
from franchise.kernels.dirichlet_ops import SHORT_BLOCK

if TYPE_CHECKING:
    from franchise.families.known_topics import KnownTopics


_SMALL = 1e-12
"""Products of 16 probabilities above it, divided by the sizes of topics, do not underflow."""


class KnownComponentsStatistics(NamedTuple):
    """What is known of each topic, and its component; C slots, V categories, P components."""

    counts: np.ndarray  # float64 (V, C): alpha_cw - eta_w + g_c n_kw; of a vacant slot, n_kw
    totals: np.ndarray  # float64 (C,): n_k
    inverse_mass: np.ndarray  # float64 (C,): 1 / (alpha_c + g_c n_k)
    prior: np.ndarray  # float64 (V,): eta_w
    slots: np.ndarray  # float64 (4, C): of topics, see `kernels/known_components_sweep.py`
    parts: np.ndarray  # float64 (7, P): of components, the same
    bases: np.ndarray  # float64 (V, P): alpha_tw
    opening: np.ndarray  # float64 (V,): the predictive probabilities of a new topic
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

    @cached_property
    def _components(self) -> KnownComponentsStatistics:
        """What does not depend on topics; no slots."""
        one, eta = self.known.empty_statistics(1), self.known.prior
        beyond = one.base - eta[:, None]
        while (
            lost := beyond + eta[:, None] <= 0.0
        ).any():  # of probabilities far below eta, rounding leaves zero
            beyond[lost] = np.nextafter(beyond[lost], math.inf)
        bases = beyond + eta[:, None]
        steps = SHORT_BLOCK if (bases / one.mass).min() > _SMALL else 2
        is_plain = (beyond == 0.0).all(axis=0) & (one.learns > 0.0)
        room, all_steps = np.zeros(len(one.mass)), np.full(len(one.mass), steps)
        return KnownComponentsStatistics(
            counts=np.zeros((self.size, 0)),
            totals=np.zeros(0),
            inverse_mass=np.zeros(0),
            prior=eta.copy(),
            slots=np.zeros((4, 0)),
            parts=np.array([one.learns, one.mass, one.weights, one.log_weights, is_plain, all_steps, room]),
            bases=bases,
            opening=one.base @ (one.weights / one.mass),
            rng_state=np.zeros(4, np.uint64),
        )

    def empty_statistics(self, capacity: int) -> KnownComponentsStatistics:
        """No observations, and no components, in any of `capacity` topics."""
        slots = np.ones((4, capacity))
        slots[kernels.COMPONENTS] = -1.0
        return self._components._replace(
            counts=np.zeros((self.size, capacity)),
            totals=np.zeros(capacity),
            inverse_mass=np.ones(capacity),
            slots=slots,
            parts=self._components.parts.copy(),
            rng_state=np.zeros(4, np.uint64),
        )

    def given(
        self, statistics: KnownTopicsStatistics, components: np.ndarray, rng_state: np.ndarray
    ) -> KnownComponentsStatistics:
        """Return the statistics of topics given their components, int (C,), -1 in vacant slots.

        `rng_state` is for the components of topics that open.
        """
        made = self.empty_statistics(0)
        has, parts, totals = components >= 0, made.parts, statistics.totals.copy()
        learns = np.where(has, parts[kernels.SLOPES, components], 1.0)
        masses = np.where(has, parts[kernels.PART_MASSES, components], 1.0)
        counts = statistics.counts.astype(np.float64)
        shifted = np.flatnonzero(has & (parts[kernels.IS_PLAIN, components] == 0.0))
        beyond = made.bases[:, components[shifted]] - made.prior[:, None]
        counts[:, shifted] = counts[:, shifted] * learns[shifted] + beyond
        sizes = masses + learns * totals
        slots = np.array([learns, sizes, masses, components])
        return made._replace(
            counts=counts, totals=totals, inverse_mass=1.0 / sizes, slots=slots, rng_state=rng_state
        )

    # -- compiled ------------------------------------------------------------------------------------------

    @staticmethod
    def add(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Raise n_kw and n_k by one; a frozen topic keeps its probabilities."""
        statistics.counts[observations[index], topic] += statistics.slots[kernels.LEARNS, topic]
        statistics.totals[topic] += 1.0
        kernels.set_size(statistics, topic)

    @staticmethod
    def remove(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Lower n_kw and n_k by one."""
        statistics.counts[observations[index], topic] -= statistics.slots[kernels.LEARNS, topic]
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
        return weight * statistics.opening[category]

    @staticmethod
    def fill_block_weights(statistics, observations, members, bench, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Fill weights with products of predictives."""
        return kernels.fill_block(statistics, observations, members, bench, prior_weights, limit, out)
