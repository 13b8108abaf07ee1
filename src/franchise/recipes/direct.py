"""The sampler "direct": direct assignment (Teh et al., 2006, section 5.3)."""

from franchise.moves.direct_assignment import DirectAssignment
from franchise.recipes.base import Recipe, moves_above_topics, repeated_if_tiny
from franchise.state.weights import Weights

DIRECT = Recipe(
    name="direct",
    moves=lambda model: repeated_if_tiny(
        model, [DirectAssignment(), *moves_above_topics(model, in_weights_view=True)]
    ),
    view=Weights,
    start=None,
    exact="HDP",
    parallel=False,
    opens_topics=True,
    non_conjugate=False,
    local_splits=False,
    global_splits=False,
    what="collapsed Gibbs by observations: topics given shared weights",
)
