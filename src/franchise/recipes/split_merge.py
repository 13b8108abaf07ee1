"""The sampler "split-merge": CRF Gibbs with splits and merges of whole topics (Wang & Blei)."""

from franchise.moves.crf_gibbs import CrfGibbs
from franchise.moves.split_merge import SplitMerge
from franchise.recipes.base import Recipe, moves_above_topics, repeated_if_tiny
from franchise.state.seating import Seating

SPLIT_MERGE = Recipe(
    name="split-merge",
    moves=lambda model: repeated_if_tiny(
        model, [CrfGibbs(), SplitMerge(), *moves_above_topics(model, in_weights_view=False)]
    ),
    view=Seating,
    start=lambda model: "sequential",
    exact="HDP",
    parallel=False,
    opens_topics=True,
    non_conjugate=False,
    local_splits=True,
    global_splits=False,
    what="crf, and one split or merge of whole topics tried in each sweep; starts sequentially",
)
