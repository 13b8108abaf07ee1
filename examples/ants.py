"""Which studies of ants can be compared? A Poisson mixture of the made-up counts of Frank et al. (2020).

Three studies of four conditions each: 12 groups of counts. All controls were made with one rate, and so were
the two groups whose temperature was changed; a good answer joins them across studies.

The report runs 500 sweeps, drops the first 50 and counts how many clusters each of the other 450 has. We do
the same, beside its table. It does not print its priors: ours are concentrations of 1, and rates ~
Gamma(1, 0.03), whose mean, 33, is about that of the counts.
"""

from itertools import combinations

import numpy as np

import franchise as fr

REPORTED = {4: 54, 5: 154, 6: 138, 7: 73, 8: 25, 9: 6}

groups = fr.datasets.load("ants")
posterior = fr.sample(
    groups,
    fr.Poisson(shape=1, rate=0.03),
    sampler="crf",
    alpha=1.0,
    gamma=1.0,
    warmup=50,
    draws=450,
    chains=1,
    keep_labels=True,
)

clusters = posterior.trace["n_topics"][0]
print("Clusters   draws of 450   in the report")
for number in range(min(clusters.min(), 4), clusters.max() + 1):
    print(f"{number:8}   {np.sum(clusters == number):12}   {REPORTED.get(number, 0):13}")


def sharing(one: int, other: int) -> float:
    """Chance that a trial of one group and a trial of another are in the same cluster."""
    assert posterior.labels is not None
    labels = posterior.labels[0]
    mine, theirs = (labels[:, groups.group_of_observation == group] for group in (one, other))
    return float(np.mean(mine[:, :, None] == theirs[:, None, :]))


print("\nDo trials share a cluster across studies?")
for condition in ("control", "temperature"):
    members = [group for group, name in enumerate(groups.metadata["condition"]) if name == condition]
    chances = [sharing(one, other) for one, other in combinations(members, 2)]
    print(f"  {condition:12} {np.mean(chances):.2f}")
together = [sharing(one, other) for one, other in combinations(range(groups.n_groups), 2)]
print(f"  {'any two':12} {np.mean(together):.2f}")
