"""The sampler "crf": Gibbs sampling in the Chinese restaurant franchise (Teh et al., 2006, section 5.1)."""

from franchise.moves.crf_gibbs import CrfGibbs
from franchise.recipes.base import Recipe, moves_above_topics, repeated_if_tiny
from franchise.state.seating import Seating

CRF = Recipe(
    name="crf",
    moves=lambda model: repeated_if_tiny(
        model, [CrfGibbs(), *moves_above_topics(model, in_weights_view=False)]
    ),
    view=Seating,
    start=None,
    exact="HDP",
    parallel=False,
    opens_topics=True,
    non_conjugate=False,
    local_splits=False,
    global_splits=False,
    what="collapsed Gibbs by tables: seats of observations, topics of tables",
)
