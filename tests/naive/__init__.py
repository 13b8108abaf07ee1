"""Naive twins: the slow, obvious versions that the fast kernels are judged by.

Everything here is plain dictionaries, lists and loops, written from the papers and the pages of docs/theory/,
and meant to be read beside the formulas. Nothing here
imports the package under test.

Conventions shared by all modules
---------------------------------
observations : list, one entry per observation, all groups in one flat list
groups : list of the same length, the group of each observation (any hashable; groups may be interleaved)
labels : sequence of the same length, the topic of each observation (any hashable; `None` = taken out)
alpha, gamma : concentrations of the group level and of the top level
family : an object of `tests.naive.families`
rng : `numpy.random.Generator`
"""
