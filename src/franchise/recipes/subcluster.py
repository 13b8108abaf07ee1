"""The sampler "subcluster": sub-cluster splits, as published (Chang & Fisher; algorithms page, section 6)."""

from franchise.moves.subclusters import SubclusterSweep
from franchise.recipes.base import Recipe, moves_above_topics
from franchise.state.weights import Weights

SUBCLUSTER = Recipe(
    name="subcluster",
    moves=lambda model: [SubclusterSweep(), *moves_above_topics(model, in_weights_view=True)],
    view=Weights,
    start=None,
    exact="approximate",
    parallel=True,
    opens_topics=True,
    non_conjugate=False,
    local_splits=True,
    global_splits=True,
    what="blocked sweeps over the topics there are; splits by sub-topics learned all along; for warm-up",
)
