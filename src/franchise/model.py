"""What is sampled: the data as moves see them, the family, and what is believed of the concentrations."""

from __future__ import annotations

from dataclasses import dataclass

from franchise.families.base import Family
from franchise.priors import Gamma
from franchise.state.base import PreparedData


@dataclass(frozen=True)
class Model:
    """A hierarchical Dirichlet process mixture of some data.

    beta ~ GEM(gamma);  pi_j ~ DP(alpha, beta);  z_ji ~ pi_j;  phi_k ~ H;  x_ji ~ F(phi_{z_ji})
    """

    data: PreparedData
    family: Family
    alpha: float | Gamma  # group_concentration: fixed, or learned under a Gamma prior
    gamma: float | Gamma  # top_concentration: the same

    def start_alpha(self) -> float:
        """Where alpha starts: its value, or the mean of its prior."""
        return self.alpha.mean if isinstance(self.alpha, Gamma) else self.alpha

    def start_gamma(self) -> float:
        """Where gamma starts: its value, or the mean of its prior."""
        return self.gamma.mean if isinstance(self.gamma, Gamma) else self.gamma
