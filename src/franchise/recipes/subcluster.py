"""The sampler "subcluster": sub-cluster splits, as published (Chang & Fisher; algorithms page, section 6)."""

from franchise.model import Model
from franchise.moves.base import Move
from franchise.moves.compose import Composed
from franchise.moves.subclusters import BALANCED, GLOBAL, LOCAL, SubclusterSweep, has_prior_density
from franchise.recipes.base import Recipe, moves_above_topics
from franchise.state.weights import Weights


def subcluster_moves(model: Model) -> list[Move | Composed]:
    """The published moves; where the family has no prior density for the global ones, these balanced."""
    moves = (LOCAL, GLOBAL) if has_prior_density(model.family) else (LOCAL, BALANCED)
    return [SubclusterSweep(moves), *moves_above_topics(model, in_weights_view=True)]


SUBCLUSTER = Recipe(
    name="subcluster",
    moves=subcluster_moves,
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
