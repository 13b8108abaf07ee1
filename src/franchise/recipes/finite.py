"""The sampler "finite": the finite symmetric Dirichlet model of a given order (algorithms 5)."""

from franchise.model import Model, usual_topics
from franchise.moves.base import Move
from franchise.moves.compose import Composed
from franchise.moves.finite import FiniteConcentrations, FiniteSweep
from franchise.moves.topic_prior import TopicPrior
from franchise.recipes.base import Recipe, repeated_if_tiny
from franchise.state.weights import Weights


def finite_moves(model: Model) -> list[Move | Composed]:
    """Sweeps over all topics, and what stands above them."""
    topics = model.finite_topics
    moves: list[Move | Composed] = [FiniteSweep(topics), FiniteConcentrations(topics)]
    if model.family.learned_prior is not None:
        moves.append(TopicPrior())
    return repeated_if_tiny(model, moves)


FINITE = Recipe(
    name="finite",
    moves=finite_moves,
    view=Weights,
    start=lambda model: min(model.finite_topics, usual_topics(model.n_observations)),
    exact="finite symmetric Dirichlet",
    parallel=True,
    opens_topics=False,
    non_conjugate=True,
    local_splits=False,
    global_splits=False,
    what="a given number of topics (finite_topics), some of them empty: approximates the HDP",
)
