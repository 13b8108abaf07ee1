"""The state of a chain, in three views, with exact conversions between them."""

from franchise.state.base import CellTables, PreparedData, State
from franchise.state.counts import CellCounts
from franchise.state.seating import Seating
from franchise.state.weights import Weights

__all__ = ["CellCounts", "CellTables", "PreparedData", "Seating", "State", "Weights"]
