"""Bugs planted in the samplers of hidden topic Markov models."""

from __future__ import annotations

import functools
from dataclasses import replace
from unittest import mock

import numpy as np

from franchise.htmm import collapsed
from franchise.htmm import gibbs_finite as finite
from franchise.htmm import gibbs_hdp as infinite
from franchise.htmm import gibbs_steps as sweeping
from franchise.htmm.model import Segments
from franchise.kernels import htmm_collapsed as collapsed_kernels
from franchise.kernels import htmm_gibbs as segments
from franchise.model.state.views import draw_topic_weights
from franchise.moves import TableGibbs
from tests.exactness.mutation import mutated
from tests.planted_bugs.planting import in_move

KERNEL_BUGS = {
    "stays counted": (finite, "draw_finite", "if drawn.switches[sentence]:", "if True:"),
    "first sentences left out": (
        finite,
        "draw_finite",
        "for sentence in range(data.documents[document], data.documents[document + 1]):",
        "for sentence in range(data.documents[document] + 1, data.documents[document + 1]):",
    ),
    "a switch costs nothing": (
        finite,
        "draw_finite",
        "entering[topic] = given.switch * proportions[topic]",
        "entering[topic] = proportions[topic]",
    ),
    "what was before is forgotten": (
        finite,
        "draw_finite",
        "(1.0 - given.switch) * before[topic])",
        "(1.0 - given.switch))",
    ),
}

COLLAPSED_BUGS = {
    "stays without the draws of the document": ("sweep_runs", "* (draws + mass) *", "* mass *"),
    "a closed topic takes its weight along": ("sweep_runs", "runs.unseen[0] += runs.weights[topic]", "pass"),
    "words of a run do not count for one another": (
        "sweep_runs",
        "logs[row[topic] + already]",
        "logs[row[topic]]",
    ),
    "a run's words stay in its topic": ("sweep_runs", "logs[row[own] - 1]", "logs[row[own]]"),
    "boundaries moved without totals": (
        "shift_boundaries",
        "gained -= tables.rising[after + words] - tables.rising[after]",
        "pass",
    ),
    "boundaries never at the end": (
        "shift_boundaries",
        "choices = end - begin - 1",
        "choices = end - begin - 2",
    ),
}


@functools.cache
def wrong_kernel(name: str):
    """The kernel with one of the bugs."""
    _, kernel, old, new = KERNEL_BUGS[name]
    return mutated(segments, kernel, (old, new))


def in_collapsed(name: str):
    """Plant one of the bugs of the collapsed sweep."""
    kernel, old, new = COLLAPSED_BUGS[name]
    return mock.patch.object(collapsed, kernel, mutated(collapsed_kernels, kernel, (old, new)))


def in_kernel(name: str):
    """Plant one of the bugs of kernels."""
    module, kernel, *_ = KERNEL_BUGS[name]
    return mock.patch.object(module, kernel, wrong_kernel(name))


def stays_counted():
    """Count stays among the draws of a document's topics."""

    def switches_by_topic(self, flat):
        places = flat.document_of_sentence * self.topic_count + self.topics
        return np.bincount(places, minlength=flat.n_documents * self.topic_count).reshape(
            flat.n_documents, -1
        )

    return mock.patch.object(Segments, "switches_by_topic", switches_by_topic)


def firsts_counted():
    """Count first sentences, which always draw a topic, as switches."""
    draw = sweeping.draw_switch_probability

    def with_firsts(state, flat, prior, rng, *comm):
        return draw(state, flat, (prior[0] + flat.n_sentences - flat.later_sentences, prior[1]), rng, *comm)

    return mock.patch.object(sweeping, "draw_switch_probability", with_firsts)


def all_sentences_draw(lengths: list[list[int]]):
    """Draw alpha given all sentences of documents with these lengths, not only those that drew a topic."""
    draw = infinite.draw_group_concentration

    def by_all(alpha, table_count, sizes, prior, rng, engine):
        return draw(alpha, table_count, np.array(list(map(len, lengths))), prior, rng, engine)

    return mock.patch.object(infinite, "draw_group_concentration", by_all)


def runs_in_one_document():
    """Take the runs of all documents for those of one."""
    runs_of = infinite.runs_of

    def in_one(*arguments):
        data = runs_of(*arguments)
        return replace(data, offsets=data.offsets[[0, -1]])

    return mock.patch.object(infinite, "runs_of", in_one)


# --- table moves over runs -------------------------------------------------------------------------------------


class SeatedWithoutAlpha(TableGibbs):
    """Runs sit down as if alpha were one."""

    def step(self, model, state, streams, executor):
        state.group_concentration, alpha = 1.0, state.group_concentration
        report = super().step(model, state, streams, executor)
        state.group_concentration = alpha
        return report


class WeightsByRuns(TableGibbs):
    """The topic weights are drawn given the runs of every topic in place of its tables."""

    def step(self, model, state, streams, executor):
        report = super().step(model, state, streams, executor)
        state.topic_weights, state.unseen_weight = draw_topic_weights(
            state.observations_per_topic, state.top_concentration, streams.generator()
        )
        return report


def words_counted_once():
    """Take a word that occurs several times in a run for one that occurs once."""
    runs_of = infinite.runs_of

    def once(*arguments):
        data = runs_of(*arguments)
        rows = data.observations
        ones, totals = np.ones_like(rows.counts), np.diff(rows.offsets)
        return replace(data, observations=rows._replace(counts=ones, totals=totals))

    return mock.patch.object(infinite, "runs_of", once)


TABLE_BUGS = {
    "seated without alpha": functools.partial(in_move, TableGibbs, SeatedWithoutAlpha),
    "weights given runs": functools.partial(in_move, TableGibbs, WeightsByRuns),
    "words counted once": words_counted_once,
    "runs taken for one document": runs_in_one_document,
}


def in_tables(name: str):
    """Plant one of the bugs of table moves over runs."""
    return TABLE_BUGS[name]()


def weights_before_gamma():
    """Draw the topic weights given the tables and the gamma from before, then gamma."""
    draw_gamma, draw_weights = infinite.draw_top_concentration, infinite.draw_topic_weights
    before = []

    def gamma(value, *arguments):
        before[:] = [value]
        return draw_gamma(value, *arguments)

    return mock.patch.multiple(
        infinite,
        draw_top_concentration=gamma,
        draw_topic_weights=lambda tables, _, rng: draw_weights(tables, before[0], rng),
    )
