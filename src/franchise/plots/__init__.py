"""Plots, one call each: `franchise.plots.traces(posterior)` gives a matplotlib figure.

    traces, ranks       convergence of the chains
    joint_path          numbers of topics and scores of the chains, by sweep
    n_topics            the number of topics, with its uncertainty
    topic_words         the most probable words of topics, with intervals
    topic_map           topics in the plane: near if their words are similar
    similarity          similarity of topics, as a heat map
    topic_tree          similar topics joined step by step, with support
    over_time           shares of topics over a year or another number that documents have
    effects             what the prevalence of topics depends on, from posterior.effect
    exposures           topics of the groups, or of the nodes of a level above them
    document_strip      one document as a strip of topics
    segments            topics and switches, sentence after sentence (hidden topic Markov model)
    signature           mutational signatures over their channels (SBS96, DBS78, ID83)
    pictures            topics as square pictures, for bars and other grids

Every plot is two functions: `name_data` computes what is shown, without matplotlib; `name` draws it and returns the
figure, which notebooks show and `figure.savefig("name.png")` writes.  With `axes=` it draws on axes one has.
Topics are consensus topics, numbered as in `posterior.consensus()`.
Needs matplotlib: `pip install "franchise[plot]"`.
"""

from franchise.plots.document_strip import document_strip, document_strip_data
from franchise.plots.effects import effects, effects_data
from franchise.plots.joint_path import joint_path, joint_path_data
from franchise.plots.n_topics import n_topics, n_topics_data
from franchise.plots.node_exposures import exposures, exposures_data
from franchise.plots.over_time import over_time, over_time_data
from franchise.plots.ranks import ranks, ranks_data
from franchise.plots.segments import segments, segments_data
from franchise.plots.signature import signature, signature_data
from franchise.plots.similarity import similarity, similarity_data
from franchise.plots.topic_images import pictures, pictures_data
from franchise.plots.topic_map import topic_map, topic_map_data
from franchise.plots.topic_words import topic_words, topic_words_data
from franchise.plots.traces import traces, traces_data
from franchise.plots.tree import topic_tree, topic_tree_data

__all__ = [
    "document_strip",
    "document_strip_data",
    "effects",
    "effects_data",
    "exposures",
    "exposures_data",
    "joint_path",
    "joint_path_data",
    "n_topics",
    "n_topics_data",
    "over_time",
    "over_time_data",
    "pictures",
    "pictures_data",
    "ranks",
    "ranks_data",
    "segments",
    "segments_data",
    "signature",
    "signature_data",
    "similarity",
    "similarity_data",
    "topic_map",
    "topic_map_data",
    "topic_tree",
    "topic_tree_data",
    "topic_words",
    "topic_words_data",
    "traces",
    "traces_data",
]
