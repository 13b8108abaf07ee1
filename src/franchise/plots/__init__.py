"""Plots, one call each: `franchise.plots.traces(posterior)` gives a matplotlib figure.

    traces, ranks       have the chains converged?
    n_topics            how many topics there are, and how sure that is
    joint_path          the way of the chains through numbers of topics and scores

Every plot is two functions: `name_data` computes what is shown, without matplotlib; `name` draws it and returns the
figure, which notebooks show and `figure.savefig("name.png")` writes.  With `axes=` it draws on axes one has.
Needs matplotlib: `pip install "franchise[plot]"`.
"""

from franchise.plots.joint_path import joint_path, joint_path_data
from franchise.plots.n_topics import n_topics, n_topics_data
from franchise.plots.ranks import ranks, ranks_data
from franchise.plots.traces import traces, traces_data

__all__ = [
    "joint_path",
    "joint_path_data",
    "n_topics",
    "n_topics_data",
    "ranks",
    "ranks_data",
    "traces",
    "traces_data",
]
