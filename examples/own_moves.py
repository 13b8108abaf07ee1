"""A sampler of one's own: moves put together, run, and compared with a named sampler.

A sampler is a list of moves, applied in turn in every sweep. Each leaves the posterior as it is, so any mix
that is fixed in advance, or drawn without looking at the state, does too: the two samplers below must agree.
"""

import franchise as fr
from franchise.moves import Concentrations, CrfGibbs, DirectAssignment, TopicWeights, at_random, every

corpus = fr.synthetic.from_hdp(n_groups=30, group_size=20, vocabulary_size=10, prior=0.2, seed=1).data
family = fr.Categorical(corpus.vocabulary_size, prior=0.2)

own = [
    at_random((CrfGibbs(), 0.6), (DirectAssignment(), 0.4)),  # table by table, or observation by observation
    TopicWeights(),  # the views differ; the state is converted where needed
    every(5, Concentrations()),  # alpha and gamma change slowly: every fifth sweep will do
]

for name, sampler in (("crf", "crf"), ("our own", own)):
    posterior = fr.sample(corpus, family, sampler=sampler, draws=1000, warmup=200, seed=1)
    row = posterior.summary().loc["n_topics"]
    print(f"{name:8} {row['mean']:.2f} topics, Monte Carlo error {row['mcse_mean']:.2f}")
