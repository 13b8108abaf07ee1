"""The state of a chain, in three views, with exact conversions between them."""

from franchise.model.prepared_data import PreparedData
from franchise.model.state.base import CellTables, State
from franchise.model.state.cell_counts import CellCounts
from franchise.model.state.seating import Seating
from franchise.model.state.weights import Weights

__all__ = ["CellCounts", "CellTables", "PreparedData", "Seating", "State", "Weights"]
