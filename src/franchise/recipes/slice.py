"""The sampler "slice": slices over tables and topics (Amini et al., put right; algorithms page, section 8)."""

from franchise.moves.slice_sweep import SliceSweep
from franchise.recipes.base import Recipe, moves_above_topics, repeated_if_tiny
from franchise.state.seating import Seating

SLICE = Recipe(
    name="slice",
    moves=lambda model: repeated_if_tiny(
        model, [SliceSweep(), *moves_above_topics(model, in_weights_view=False)]
    ),
    view=Seating,
    start=None,
    exact="HDP",
    parallel=True,
    opens_topics=True,
    non_conjugate=True,
    local_splits=False,
    global_splits=False,
    what="blocks of groups side by side: topics of tables and seats of observations, over what slices admit",
)
