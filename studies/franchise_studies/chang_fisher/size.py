"""How much of the study is run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """Numbers of draws and chains, and how long each chain runs, in seconds."""

    visits: int  # draws of a long run that is held against the enumeration
    bars_documents: int
    picture_sweeps: int  # of figure 3(a)
    seeds: int  # of figures 3(b) and 3(d)
    moves_seconds: float  # of a chain of figure 3(b)
    algorithms_seconds: float  # of a chain of figure 3(d)
    timed_sweeps: int  # of figure 3(c)
    warmup: int  # sweeps of warm-up of the sampler "parallel"
    documents: int | None  # at most this many of AP and of NIPS
    starts: tuple[int, ...]  # topics that chains on AP start from
    long_seconds: float  # of chains on AP: the samplers that matter most
    short_seconds: float  # the others
    small_prior_seconds: float  # of those at the smaller eta
    probe_seconds: float  # those of which only acceptance is wanted
    switch_seconds: float  # of a chain of figure 4(b)
    order: int  # of the finite model on AP
    tries: int  # global moves whose ratio is taken apart, of each kind and start
    enron: tuple[int, int]  # documents and terms of the synthetic corpus
    large_starts: tuple[int, ...]
    large_seconds: float  # of a chain of figure 6
    large_order: int
    large_warmup: int


FULL = Size(
    visits=20_000,
    bars_documents=200,
    picture_sweeps=300,
    seeds=5,
    moves_seconds=20.0,
    algorithms_seconds=30.0,
    timed_sweeps=200,
    warmup=500,
    documents=None,
    starts=(1, 25, 50, 75),
    long_seconds=600.0,
    short_seconds=180.0,
    small_prior_seconds=600.0,
    probe_seconds=30.0,
    switch_seconds=60.0,
    order=100,
    tries=20,
    enron=(39_861, 28_102),
    large_starts=(1, 50),
    large_seconds=60.0,
    large_order=200,
    large_warmup=100,
)
QUICK = Size(
    visits=200,
    bars_documents=60,
    picture_sweeps=60,
    seeds=1,
    moves_seconds=0.7,
    algorithms_seconds=1.0,
    timed_sweeps=20,
    warmup=20,
    documents=200,
    starts=(1, 15),
    long_seconds=1.0,
    short_seconds=0.6,
    small_prior_seconds=1.0,
    probe_seconds=0.4,
    switch_seconds=0.4,
    order=30,
    tries=3,
    enron=(300, 1000),
    large_starts=(1, 15),
    large_seconds=0.5,
    large_order=40,
    large_warmup=20,
)
