"""The contract of a likelihood family, and defaults for its optional methods.

A family defines the distribution of the observations of one topic, F(phi), and the prior of a topic's parameter, H.
It is one class in one file:

* two named tuples of arrays, at the level of the module: *Statistics*, which summarise the observations
  of each topic, and *Parameters*, a drawn phi of each topic.  They have one slot per topic, on any axis, and also
  contain the hyperparameters.
* static methods that run inside kernels, compiled: the verbs of `franchise.kernels.family_ops`.  Required:
  `add`, `remove`, `merge`, `clear`, `log_predictive`, `log_marginal`, `log_density`.  The `fill_...` verbs
  have defaults here, which a family may replace by something faster with the same meaning.
* ordinary methods, in NumPy: `prepare`, `empty_statistics`, `draw_parameters`, `draw_observations`,
  `settings`.

Optional features of a family are its `abilities` (`families/abilities.py`).  A class declares some of them, and has
the others if it defines a method:

    class Coins(fr.Family):
        abilities = frozenset({fr.Ability.CONJUGATE, fr.Ability.EXACT_STATISTICS})

A family whose parameters cannot be integrated out declares ``abilities = frozenset()``.  It needs neither
`log_predictive` nor `log_marginal`.  Where its `draw_parameters` is too slow for every sweep, it has a Metropolis
step, `move_parameters`.  Samplers that draw parameters accept it, such as "parallel".  With `propose_parameters`
and `log_proposal_weights` its topics can be split and merged, too.  See `families/gaussian_independent.py`.

`franchise.check_family` tests all of this: the chain rule, that adding and removing cancel, that draws fit the
density, and more.  `families/poisson.py` is a good example.

Compiled code must be plain: numbers, arrays, loops, the `math` module, calls to other compiled functions.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from franchise.families.abilities import (
    OLD_FLAGS,
    Ability,
    OldFlag,
    adopt_old_flags,
    adopt_old_names,
    find_abilities,
)
from franchise.families.arguments import plain
from franchise.kernels import family_ops
from franchise.kernels.random.weights import exponentiate
from franchise.kernels.recount import fill_log_marginals, recount
from franchise.parallel.communicator import SINGLE_PROCESS, Communicator
from franchise.parallel.engine import BlockExecutor
from franchise.parallel.threads import CALLING_THREAD
from franchise.priors import Gamma

StatsT = TypeVar("StatsT", bound=Iterable[np.ndarray])
"""The named tuple of a family's statistics."""

ParamsT = TypeVar("ParamsT", bound=Iterable[np.ndarray])
"""The named tuple of a family's parameters."""

DataT = TypeVar("DataT")
"""What a family's `prepare` returns: an array, or a named tuple of arrays."""

Arrays: TypeAlias = tuple[np.ndarray, ...]
"""Statistics or parameters of any family."""

Rows: TypeAlias = np.ndarray | slice
"""Which observations: their places, or a slice of them."""


def _weights_by_logs(log_verb):  # type: ignore[no-untyped-def]
    """Return a verb that computes weights from logs, with 1 for the largest density of a possible topic."""

    def fill(owner, observations, index, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Fill weights from logs, so that the largest density among topics that can be drawn is one.

        Parameters
        ----------
        owner : Statistics or Parameters
            Statistics of the topics, for predictive densities; or their parameters.
        observations : array, or named tuple of arrays
            What `prepare` returned.
        index : int
            Row of the observation.
        prior_weights : float64 array
            The weight of each topic before the observation; 0 for topics that cannot be drawn.
        limit : int
            Number of slots.
        out : float64 array
            Filled with prior weights times densities, up to a common factor.

        Returns
        -------
        float
            The sum of the weights.
        """
        largest = -math.inf
        for topic in range(limit):
            if prior_weights[topic] > 0.0:
                out[topic] = log_verb(owner, observations, index, topic)
                largest = max(largest, out[topic])
        return exponentiate(prior_weights, largest, limit, out)

    return fill


class Family(ABC, Generic[StatsT, ParamsT, DataT]):
    """A likelihood with its prior; subclass it to write your own.

    A class provides two named tuples of arrays, `Statistics` and `Parameters`, the abstract methods below,
    and compiled operations: static methods `add`, `remove`, `merge`, `clear`, `log_predictive`,
    `log_marginal` and `log_density`. Their arguments are the statistics (or parameters), what `prepare`
    returned, the row of an observation, and the slot of a topic.  `franchise/kernels/family_ops.py` defines
    each operation, docs/how-to/own-family.md has an example, and `franchise.check_family` tests a family.

    Examples
    --------
    >>> family = fr.Poisson(2.0, 0.5)
    >>> isinstance(family, fr.Family), fr.Ability.CONJUGATE in family.abilities
    (True, True)
    >>> family.count(family.prepare([3, 0, 7]))
    3
    """

    Statistics: ClassVar[type]
    """Named tuple of arrays: what is known of the observations in each topic."""

    Parameters: ClassVar[type]
    """Named tuple of arrays: a drawn parameter of each topic (phi_k)."""

    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.CONJUGATE})
    """What it can do: as declared, and what follows from the methods of the class."""

    size: int
    """Number of categories; only of families with IS_CATEGORICAL or COUNT_ROWS."""

    conjugate, exact_statistics, sparse, of_words = (OldFlag(ability) for ability in OLD_FLAGS.values())

    @property
    def learned_prior(self) -> Gamma | None:
        """The prior of the topics' prior, where that is learned (see `families/dirichlet_prior.py`)."""
        return None

    def __init_subclass__(cls, **keywords: object) -> None:
        """Find the abilities of the class; tell the kernels which class these statistics and parameters have."""
        super().__init_subclass__(**keywords)
        adopt_old_names(cls, {"take": ("take_rows", lambda method: method)})
        cls.abilities = find_abilities(cls, Family, adopt_old_flags(cls, cls.abilities))
        for name in ("Statistics", "Parameters"):
            if name in cls.__dict__:
                family_ops.register(cls.__dict__[name], cls)

    # -- what a family provides, in NumPy ------------------------------------------------------------------

    def for_data(self, observations: ArrayLike) -> Family[StatsT, ParamsT, DataT]:
        """Return the family to use for raw observations, before `prepare`; itself, unless it learns a shape.

        Parameters
        ----------
        observations : array-like
            The observations, as the family takes them.

        Returns
        -------
        Family
            This family, or one with the number of columns of the data.
        """
        return self

    def check_vocabulary(self, vocabulary: Sequence[str]) -> None:
        """Raise an error if the family is for other words than those of a corpus; most are for any.

        Parameters
        ----------
        vocabulary : sequence of str
            The words of the corpus.

        Raises
        ------
        InputError
            If the words differ.
        """

    @abstractmethod
    def prepare(self, observations: ArrayLike) -> DataT:
        """Check the observations and put them in the form that kernels read.

        Parameters
        ----------
        observations : array-like
            The observations, one row each.

        Returns
        -------
        array, or named tuple of arrays
            The prepared observations.

        Raises
        ------
        InputError
            If they do not fit the family.
        """

    def count(self, prepared: DataT) -> int:
        """Return the number of observations in what `prepare` returned.

        Parameters
        ----------
        prepared : array, or named tuple of arrays
            What `prepare` returned.

        Returns
        -------
        int
            Number of observations.
        """
        array: Any = prepared
        return len(array)

    @staticmethod
    def take_rows(prepared: DataT, which: Rows) -> DataT:
        """Return some of what `prepare` returned. This default is for arrays.

        Parameters
        ----------
        prepared : array, or named tuple of arrays
            What `prepare` returned.
        which : int array or slice
            Which observations.

        Returns
        -------
        array, or named tuple of arrays
            These observations, in the same form.
        """
        array: Any = prepared
        return array[which]

    @staticmethod
    def join(parts: Sequence[DataT]) -> DataT:
        """Return parts of what `prepare` returned, one after the other. This default is for arrays.

        Parameters
        ----------
        parts : sequence
            Parts of what `prepare` returned.

        Returns
        -------
        array, or named tuple of arrays
            All of them, in the same form.
        """
        arrays: Any = parts
        return np.concatenate(arrays)  # type: ignore[return-value]

    @abstractmethod
    def empty_statistics(self, capacity: int) -> StatsT:
        """Return the statistics of `capacity` empty topics.

        Parameters
        ----------
        capacity : int
            Number of slots.

        Returns
        -------
        Statistics
            Statistics without observations.
        """

    def draw_parameters(self, statistics: StatsT, limit: int, rng: np.random.Generator) -> ParamsT:
        """Draw phi_k given its observations, for the slots k < limit; from the prior H if there are none.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        limit : int
            Number of slots.
        rng : Generator
            Source of the draws.

        Returns
        -------
        named tuple of arrays
            One draw per slot.
        """
        raise NotImplementedError

    def move_parameters(
        self, statistics: StatsT, parameters: ParamsT, limit: int, rng: np.random.Generator
    ) -> ParamsT:
        """Move phi_k, for the slots k < limit, by a step that leaves its posterior invariant.

        Only for a family that is not conjugate: its parameters are kept, topics along the first axis, and moved in
        every sweep, for example by Metropolis steps. Slots without observations get draws from H. The default is
        for families whose `draw_parameters` is exact: a new draw.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        parameters : Parameters
            The present parameters.
        limit : int
            Number of slots.
        rng : Generator
            Source of the draws.

        Returns
        -------
        named tuple of arrays
            The new parameters.
        """
        return self.draw_parameters(statistics, limit, rng)

    def propose_parameters(self, statistics: StatsT, limit: int, rng: np.random.Generator) -> ParamsT:
        """Draw phi_k, for the slots k < limit, from a density g near its posterior that can be evaluated.

        Only for a family that is not conjugate, and only for splits and merges (`LaunchSplitMerge`); topics
        along the first axis. `log_proposal_weights` goes with it.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        limit : int
            Number of slots.
        rng : Generator
            Source of the draws.

        Returns
        -------
        named tuple of arrays
            One draw per slot.
        """
        raise NotImplementedError

    def log_proposal_weights(self, statistics: StatsT, parameters: ParamsT, limit: int) -> np.ndarray:
        """Return log p(x_k, phi_k) - log g(phi_k | x_k) for the slots k < limit; if g is exact, the log marginal.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        parameters : Parameters
            What `propose_parameters` drew.
        limit : int
            Number of slots.

        Returns
        -------
        float64 array (limit,)
            The log weights.
        """
        raise NotImplementedError

    def likeness(
        self, statistics: StatsT, topic: int, other_statistics: StatsT, others: np.ndarray
    ) -> np.ndarray | None:
        """Return how similar a topic is to each of some others, from 0 to 1.

        Splits and merges (`LaunchSplitMerge`) try similar topics more often because of it.

        Parameters
        ----------
        statistics : Statistics
            Statistics that contain the topic.
        topic : int
            Its slot.
        other_statistics : Statistics
            Statistics that contain the others.
        others : int array
            Their slots.

        Returns
        -------
        float64 array, or None
            One number per other topic; None if the family has no such measure.
        """
        return None

    def named_parameters(self, parameters: ParamsT) -> dict[str, np.ndarray]:
        """Return parameters as users read them, for `posterior.topic_parameters`.

        Parameters
        ----------
        parameters : Parameters
            Parameters of the topics.

        Returns
        -------
        dict of str to float64 arrays (K,) or (K, D)
            Numbers of each topic, or of each topic and column, by name.
        """
        raise NotImplementedError

    def log_prior_density(self, parameters: ParamsT, topic: int, statistics: StatsT) -> float:
        """Return log H(phi_k) under the prior in the statistics.

        Only the published moves of "subcluster" need it.

        Parameters
        ----------
        parameters : Parameters
            Parameters of the topics.
        topic : int
            Slot of the topic.
        statistics : Statistics
            Statistics, which contain the prior.

        Returns
        -------
        float
            The log density.
        """
        raise NotImplementedError

    def moments(self, parameters: ParamsT) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the mean observation of each topic, given its parameters, and the covariance.

        Tables of topics and `means_`, `covariances_` of the estimator use them.

        Parameters
        ----------
        parameters : Parameters
            Parameters of the topics.

        Returns
        -------
        means : float64 array (K, D)
            The means.
        covariances : float64 array, or None
            Covariances (K, D, D); variances (K, D) where dimensions are independent, or (K,) where they are all the
            same; None where the mean determines them.
        """
        raise NotImplementedError

    def draw_observations(
        self, parameters: ParamsT, topics: np.ndarray, rng: np.random.Generator, like: DataT | None
    ) -> DataT:
        """Draw one observation from F(phi_k) for each k in `topics`, in the prepared form.

        Parameters
        ----------
        parameters : Parameters
            Parameters of the topics.
        topics : int array (n,)
            A slot for each observation.
        rng : Generator
            Source of the draws.
        like : array, named tuple of arrays, or None
            Prepared observations that provide what the model does not explain, such as the total of a count
            vector: row i of the result is like row i of these. None allows any.

        Returns
        -------
        array, or named tuple of arrays
            The observations.
        """
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """Return the arguments that make this family again, as plain numbers, lists and strings.

        The default is for families that keep every argument as an attribute of the same name.

        Returns
        -------
        dict
            Values by the names of arguments.
        """
        return {name: plain(getattr(self, name)) for name in inspect.signature(type(self)).parameters}

    # -- topics over categories: families with IS_CATEGORICAL answer these ------------------------------------

    def prior_vector(self) -> np.ndarray:
        """Return the Dirichlet prior eta of a new topic, float64 (size,); the mean of a learned one.

        Returns
        -------
        float64 array (size,)
            One number per category.
        """
        raise NotImplementedError

    def word_weights(self, counts: np.ndarray, prior: float | None = None) -> np.ndarray:
        """Return the Dirichlet weights of the words of topics with these counts.

        Parameters
        ----------
        counts : array (K, V)
            The words of each topic.
        prior : float, optional
            The current value of a learned prior [default: `prior_vector`].

        Returns
        -------
        float64 array (K, V)
            The weights.
        """
        return counts + (self.prior_vector() if prior is None else prior)

    # -- a prior that is learned: families that have one (see `families/dirichlet_prior.py`) answer these ----------

    @staticmethod
    def prior_value(statistics: StatsT) -> float:
        """Return the current value of a learned prior.

        Parameters
        ----------
        statistics : Statistics
            Statistics, which contain the prior.

        Returns
        -------
        float
            The value.
        """
        raise NotImplementedError

    @staticmethod
    def set_prior_value(statistics: StatsT, value: float | np.ndarray) -> None:
        """Change the value of the prior.

        Parameters
        ----------
        statistics : Statistics
            Statistics, which contain the prior.
        value : float or array (size,)
            One number, or one for each category.
        """
        raise NotImplementedError

    def log_likelihood_by_prior(self, statistics: StatsT, limit: int) -> Callable[[float], float]:
        """Return the log of p(x | z) as a function of a learned prior, up to a constant.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        limit : int
            Number of slots.

        Returns
        -------
        callable
            From a value of the prior to the log likelihood.
        """
        raise NotImplementedError

    @staticmethod
    def sum_statistics(statistics: StatsT, comm: Communicator) -> None:
        """Replace exact statistics of this process by their sums over all processes.

        Not for statistics that are rounded: processes count those one after the other.

        Parameters
        ----------
        statistics : Statistics
            Statistics of this process, which are changed.
        comm : Communicator
            The processes.
        """
        raise NotImplementedError

    @classmethod
    def has_exact_sums(cls) -> bool:
        """Return whether statistics of several processes add up exactly (`sum_statistics`).

        Returns
        -------
        bool
            Whether the family has the ability SUMS_STATISTICS.
        """
        return Ability.SUMS_STATISTICS in cls.abilities

    @classmethod
    def can_take_rows(cls, prepared: DataT) -> bool:
        """Return whether what `prepare` returned can be split across processes.

        Parameters
        ----------
        prepared : array, or named tuple of arrays
            What `prepare` returned.

        Returns
        -------
        bool
            Whether `take_rows` works.
        """
        return isinstance(prepared, np.ndarray) or Ability.TAKES_ROWS in cls.abilities

    @classmethod
    def recount(cls, statistics: StatsT, observations: DataT, topics: np.ndarray, sizes: np.ndarray) -> None:
        """Count statistics again from the topics of observations, in place.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics, which are changed.
        observations : array, or named tuple of arrays
            What `prepare` returned.
        topics : int array (N,)
            The slot of each observation; -1 for none.
        sizes : int64 array
            The number of observations of each topic, which is changed.
        """
        recount(statistics, observations, topics, sizes)

    # -- what it gets for free -----------------------------------------------------------------------------

    def grow(self, statistics: StatsT, capacity: int) -> StatsT:
        """Return the same statistics with room for `capacity` topics.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        capacity : int
            Number of slots.

        Returns
        -------
        Statistics
            A copy with more slots.
        """
        grown = self.empty_statistics(capacity)
        for old, new in zip(statistics, grown, strict=True):
            if isinstance(new, np.ndarray):
                new[tuple(slice(length) for length in old.shape)] = old
        return grown

    @classmethod
    def log_marginals(
        cls,
        statistics: StatsT,
        slots: int,
        executor: BlockExecutor = CALLING_THREAD,
        comm: Communicator = SINGLE_PROCESS,
    ) -> np.ndarray:
        """Return the log marginal likelihoods of the topics in the first slots.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        slots : int
            Number of slots.
        executor : BlockExecutor
            Runs blocks of work [default: the calling thread].
        comm : Communicator
            The processes that share the data [default: this one alone].

        Returns
        -------
        float64 array (slots,)
            One number per topic.
        """
        marginals = np.zeros(slots)
        fill_log_marginals(statistics, marginals)
        return marginals

    def log_marginal_of(self, prepared: DataT, indices: Iterable[int]) -> float:
        """Return the log marginal likelihood of some observations together, as one topic.

        Parameters
        ----------
        prepared : array, or named tuple of arrays
            What `prepare` returned.
        indices : iterable of int
            Which observations.

        Returns
        -------
        float
            The log marginal likelihood.
        """
        statistics = self.empty_statistics(1)
        for index in indices:
            family_ops.add(statistics, prepared, index, 0)
        return float(family_ops.log_marginal(statistics, 0))

    def __repr__(self) -> str:
        """Show the family as the call that makes it."""
        inside = ", ".join(f"{name}={_short(value)}" for name, value in self.settings().items())
        return f"{type(self).__name__}({inside})"

    # -- defaults of the verbs, compiled -------------------------------------------------------------------

    fill_topic_weights = staticmethod(_weights_by_logs(family_ops.log_predictive))
    fill_density_weights = staticmethod(_weights_by_logs(family_ops.log_density))

    @staticmethod
    def log_block_predictive(statistics, observations, members, bench, topic):  # type: ignore[no-untyped-def]
        """Add the members one after another, by the chain rule, then take them out again."""
        total = 0.0
        for index in members:
            total += family_ops.log_predictive(statistics, observations, index, topic)
            family_ops.add(statistics, observations, index, topic)
        for index in members[::-1]:
            family_ops.remove(statistics, observations, index, topic)
        return total

    @staticmethod
    def accumulate(statistics, observations, index, topic):  # type: ignore[no-untyped-def]
        """Add the observation; families with costly derived numbers leave these to `finish`.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        observations : array, or named tuple of arrays
            What `prepare` returned.
        index : int
            Row of the observation.
        topic : int
            Slot of the topic.
        """
        family_ops.add(statistics, observations, index, topic)

    @staticmethod
    def finish(statistics, topic):  # type: ignore[no-untyped-def]
        """Do nothing: `accumulate` has left nothing to do.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        topic : int
            Slot of the topic.
        """

    @staticmethod
    def begin_topic(statistics, observations, members, topic):  # type: ignore[no-untyped-def]
        """Do nothing: most families have nothing to choose for a new topic.

        Parameters
        ----------
        statistics : Statistics
            Statistics of the topics.
        observations : array, or named tuple of arrays
            What `prepare` returned.
        members : int array
            The observations that the topic has just got.
        topic : int
            Slot of the topic.
        """

    @staticmethod
    def fill_block_weights(statistics, observations, members, bench, prior_weights, limit, out):  # type: ignore[no-untyped-def]
        """Fill weights from logs, as in `fill_topic_weights`."""
        largest = -math.inf
        for topic in range(limit):
            if prior_weights[topic] > 0.0:
                if topic == bench:
                    out[topic] = family_ops.log_marginal(statistics, bench)
                else:
                    out[topic] = family_ops.log_block_predictive(
                        statistics, observations, members, bench, topic
                    )
                largest = max(largest, out[topic])
        return exponentiate(prior_weights, largest, limit, out)

    @staticmethod
    def fill_log_marginals(statistics, limit, out):  # type: ignore[no-untyped-def]
        """Compute one topic after another."""
        for topic in range(limit):
            out[topic] = family_ops.log_marginal(statistics, topic)


class Example(NamedTuple):
    """A family with observations that fit it, for generic tests; every family's module has some.

    Parameters
    ----------
    family : Family
        The family.
    observations : array-like or sparse matrix
        Observations, as the family takes them.

    Examples
    --------
    >>> fr.families.Example(fr.Poisson(2.0, 0.5), [3, 0, 7]).family
    Poisson(shape=2.0, rate=0.5, dimension=None)
    """

    family: Family
    observations: Any  # as the family takes them, sparse matrices among them


def _short(value: object) -> str:
    """Return a setting as text: numbers of vectors with four digits, and long texts cut."""
    if isinstance(value, list):
        value = _rounded(value)
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _rounded(value: Any) -> Any:
    return [_rounded(each) for each in value] if isinstance(value, list) else _four_digits(value)


def _four_digits(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
