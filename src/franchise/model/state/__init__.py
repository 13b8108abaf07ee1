"""The state of a chain, in three views, with exact conversions between them."""

from franchise.model.hdp_model import PreparedData
from franchise.model.state.base import CellTables, State, Weights
from franchise.model.state.views import CellCounts, Seating

__all__ = ["CellCounts", "CellTables", "PreparedData", "Seating", "State", "Weights"]
