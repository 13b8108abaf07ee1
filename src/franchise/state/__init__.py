"""The state of a chain, in two views, with exact conversions between them."""

from franchise.state.base import CellTables, PreparedData, State
from franchise.state.seating import Seating
from franchise.state.weights import Weights

__all__ = ["CellTables", "PreparedData", "Seating", "State", "Weights"]
