"""Which studies of ants can be compared? A Poisson mixture of the made-up counts of Frank et al. (2020).

Three studies of four conditions each. All controls were made with one rate, and so were the two conditions whose
temperature was changed; a good answer joins them across studies.

The report runs 500 sweeps, drops the first 50 and counts how many clusters each of the other 450 has. We do
the same, beside its table, with the priors of the notebook it was printed from: concentrations of 1, and rates ~
Gamma(25, 1), the three studies as the groups of the model. `franchise reproduce frank` has more of it.
"""

from itertools import combinations

import numpy as np

import franchise as fr

REPORTED = {4: 54, 5: 154, 6: 138, 7: 73, 8: 25, 9: 6}

conditions = fr.datasets.load("ants")
condition_of_trial = conditions.group_of_observation
studies = fr.Groups(conditions.observations, np.array(conditions.metadata["study"])[condition_of_trial])
posterior = fr.sample(
    studies,
    fr.Poisson(shape=25, rate=1),
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
    """Chance that a trial of one condition and a trial of another are in the same cluster."""
    assert posterior.labels is not None
    labels = posterior.labels[0]
    mine, theirs = (labels[:, condition_of_trial == condition] for condition in (one, other))
    return float(np.mean(mine[:, :, None] == theirs[:, None, :]))


print("\nDo trials share a cluster across studies?")
for changed in ("control", "temperature"):
    members = [number for number, name in enumerate(conditions.metadata["condition"]) if name == changed]
    chances = [sharing(one, other) for one, other in combinations(members, 2)]
    print(f"  {changed:12} {np.mean(chances):.2f}")
together = [sharing(one, other) for one, other in combinations(range(conditions.n_groups), 2)]
print(f"  {'any two':12} {np.mean(together):.2f}")
