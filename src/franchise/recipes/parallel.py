"""The sampler "parallel": document-collapsed sweeps over blocks (algorithms 7.3)."""

from franchise.model import Model
from franchise.moves.base import Move
from franchise.moves.compose import Composed, at_random
from franchise.moves.documents import DocumentSweep, SettledSweep
from franchise.recipes.base import Recipe, moves_above_topics, repeated_if_tiny
from franchise.state.weights import Weights

FEW = 1000
"""With so few observations too few topics would have a frozen one for settled sweeps to be of use."""


def sweeps(model: Model) -> Move | Composed:
    """Settled sweeps, which are quick and let small topics grow; now and then one that opens and closes topics."""
    if model.data.n_observations <= FEW:
        return DocumentSweep()
    return at_random((SettledSweep(), 7.0), (DocumentSweep(), 1.0))


PARALLEL = Recipe(
    name="parallel",
    moves=lambda model: repeated_if_tiny(
        model, [sweeps(model), *moves_above_topics(model, in_weights_view=True)]
    ),
    view=Weights,
    start=None,
    exact="HDP",
    parallel=True,
    opens_topics=True,
    non_conjugate=False,
    local_splits=False,
    global_splits=False,
    what="blocks of documents side by side: topics drawn, documents' weights integrated out",
)
