"""Two topics that are nearly identical, taken for one: who tells them apart, and when?

    python examples/similar_topics.py

The data are Wang & Blei's: five topics over twelve words, the first two with the same words but for one. The
chains start with these two as one. Gibbs sampling moves word by word and table by table; split-merge also tries
to split a topic in two, moving all its tables at once.
"""

import numpy as np

import franchise as fr
from franchise.moves import Concentrations, CrfGibbs, SplitMerge

planted = fr.synthetic.five_topics(seed=4)
as_one = np.where(planted.labels == 1, 0, planted.labels)
samplers = {
    "Gibbs": [CrfGibbs(), Concentrations()],
    "Gibbs and split-merge": [CrfGibbs(), SplitMerge(n_proposals=1), Concentrations()],
}
for name, moves in samplers.items():
    posterior = fr.sample(
        planted.data,
        fr.Categorical(12, prior=0.5),
        sampler=moves,
        start=as_one,
        draws=100,
        warmup=0,
        chains=1,
    )
    in_four = posterior.trace["share_of_largest_4"][0]  # near 1 while there are but four topics
    apart = np.flatnonzero(in_four < 0.95)
    when = f"from sweep {apart[0] + 1} on" if len(apart) else f"not in {len(in_four)} sweeps"
    print(f"{name}: five topics {when}")
