"""The verbs of a family, as kernels speak them.

A kernel never knows which family it works for.  It holds the family's statistics, a named tuple of flat
arrays with one place (*slot*) a topic, and speaks the verbs below.  Which code a verb runs is decided by the
*type* of the named tuple: in compiled code when the kernel is compiled (so nothing is decided inside a loop,
and compiled code can be kept on disk), in plain Python when it is called.

A family is registered by `register`, which `franchise.families.Family` calls for every subclass; its static
methods of the same names are the code.  What each verb must do is said in its docstring here; `observations`
is always what the family's `prepare` returned, `index` a row of it, `topic` a slot.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import overload

_FAMILY_OF: dict[type, type] = {}


def register(tuple_class: type, family_class: type) -> None:
    """From now on, verbs on `tuple_class` run the static methods of `family_class`.

    Compiled code is found again by the *name* of a tuple class.  One that is called like an earlier one, such
    as a class of a notebook cell that was edited and run again, must not get the code of that one, so it gets
    a name of its own.
    """
    taken = {known.__name__ for known in _FAMILY_OF if known is not tuple_class}
    name, number = tuple_class.__name__, 2
    while tuple_class.__name__ in taken:
        tuple_class.__name__ = f"{name}_{number}"
        number += 1
    _FAMILY_OF[tuple_class] = family_class


def family_of(tuple_class: type) -> Any:
    """The class whose static methods the verbs run for `tuple_class`; None if there is none."""
    return _FAMILY_OF.get(tuple_class)


_OF_STATISTICS_OR_PARAMETERS = {
    "fill_weights": ("fill_topic_weights", "fill_density_weights"),
    "log_weight": ("log_predictive", "log_density"),
}


def _code_of(tuple_class: type, verb: str) -> Any:
    """The static method that a verb runs for a class."""
    family: Any = _FAMILY_OF[tuple_class]
    of_statistics, of_parameters = _OF_STATISTICS_OR_PARAMETERS.get(verb, (verb, verb))
    is_statistics = tuple_class is getattr(family, "Statistics", None)
    return getattr(family, of_statistics if is_statistics else of_parameters)


def _verb(stub):
    """Turn a documented stub into a function that runs the code of the family of its first argument."""
    name = stub.__name__

    def call(owner, *arguments):
        return _code_of(type(owner), name)(owner, *arguments)

    call.__name__, call.__doc__, call.__module__ = name, stub.__doc__, stub.__module__

    @overload(call, strict=False, jit_options={"no_cfunc_wrapper": True})
    def choose(owner, *arguments):
        if isinstance(owner, types.BaseNamedTuple) and owner.instance_class in _FAMILY_OF:
            return _code_of(owner.instance_class, name)
        return None

    return call


@_verb
def add(statistics, observations, index, topic):
    """Put one observation into a topic."""


@_verb
def accumulate(statistics, observations, index, topic):
    """Put one of many observations into a topic: what follows from them is worked out once, by `finish`.

    The default is `add`.
    """


@_verb
def finish(statistics, topic):
    """Work out what `accumulate` has left; by default there is nothing."""


@_verb
def remove(statistics, observations, index, topic):
    """Take one observation, which is in the topic, out of it."""


@_verb
def begin_topic(statistics, observations, members, topic):
    """Choose what else there is to a topic that has just got its first observations, `members`; mostly nothing."""


@_verb
def weigh_new(statistics, category, weight):
    """The weight of a new topic times the predictive probability of a category; for sparse kernels."""


@_verb
def merge(statistics, source, target):
    """Put all of topic `source` into topic `target`; `source` stays as it is."""


@_verb
def clear(statistics, topic):
    """Make the topic empty, exactly, whatever rounding has left in it."""


@_verb
def log_predictive(statistics, observations, index, topic):
    """Log predictive density of an observation that is not in the topic, log f_k(x); of an empty topic, f_new."""


@_verb
def log_marginal(statistics, topic):
    """Log marginal likelihood of all observations in the topic, its parameter integrated out; 0 if empty."""


@_verb
def log_density(parameters, observations, index, topic):
    """Log density of an observation given the parameter of a topic, log f(x; phi_k)."""


@_verb
def fill_topic_weights(statistics, observations, index, prior_weights, limit, out):
    """Fill ``out[k]`` with ``prior_weights[k] * f_k(x)``, k < limit, up to a common factor; return their sum.

    Zero prior weight gives zero. The default works in logs; a family may do better.
    """


@_verb
def log_weight(owner, observations, index, topic):
    """`log_predictive` of statistics, `log_density` of parameters."""


@_verb
def fill_weights(owner, observations, index, prior_weights, limit, out):
    """`fill_topic_weights` of statistics; `fill_density_weights` of parameters, with f(x; phi_k) for f_k(x).

    The parameter of a topic with zero prior weight is not looked at.
    """


@_verb
def log_block_predictive(statistics, observations, members, bench, topic):
    """Log predictive density of several observations jointly.

    The observations `members` are not in the topic; they have been put into the otherwise empty slot `bench`.
    """


@_verb
def fill_block_weights(statistics, observations, members, bench, prior_weights, limit, out):
    """Fill ``out[k]`` with ``prior_weights[k]`` times the joint predictive of `members`, as above, k < limit.

    Up to a common factor; returns their sum. Zero prior weight gives zero. ``out[bench]`` is for a new topic:
    the marginal likelihood of the members by themselves.
    """


@_verb
def fill_log_marginals(statistics, limit, out):
    """Fill ``out[k]`` with the log marginal likelihood of topic k, for k < limit."""
