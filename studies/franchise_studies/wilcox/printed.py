"""What the thesis prints: Tables 7.2 and 7.3, and the numbers of the comparison with LDA (7.2)."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A data set in Table 7.2 (EM) or 7.3 (Gibbs); beta is called phi here."""

    switch: float
    low: float | None
    high: float | None
    theta: float
    phi: float
    accuracy: float


EM = {
    1: Row(0.085, None, None, 0.197, 0.000103, 0.780),
    2: Row(0.394, None, None, 0.195, 0.000103, 0.739),
    3: Row(0.678, None, None, 0.186, 0.000101, 0.736),
    4: Row(0.102, None, None, 0.060, 0.000900, 0.365),
    5: Row(0.490, None, None, 0.060, 0.000810, 0.282),
    6: Row(0.889, None, None, 0.059, 0.000700, 0.276),
    7: Row(0.082, None, None, 0.166, 0.000021, 0.832),
    8: Row(0.462, None, None, 0.086, 0.000021, 0.753),
    9: Row(0.877, None, None, 0.051, 0.000021, 0.764),
    10: Row(0.096, None, None, 0.061, 0.000696, 0.376),
    11: Row(0.492, None, None, 0.073, 0.000873, 0.277),
    12: Row(0.898, None, None, 0.078, 0.000872, 0.276),
}
"""Table 7.2."""

GIBBS = {
    1: Row(0.086, 0.077, 0.093, 0.197, 0.000102, 0.998),
    2: Row(0.390, 0.377, 0.406, 0.196, 0.000103, 0.993),
    3: Row(0.669, 0.655, 0.683, 0.186, 0.000101, 0.992),
    4: Row(0.092, 0.083, 0.100, 0.060, 0.000804, 0.992),
    5: Row(0.483, 0.467, 0.496, 0.060, 0.000741, 0.960),
    6: Row(0.872, 0.862, 0.882, 0.060, 0.000815, 0.935),
    7: Row(0.082, 0.080, 0.083, 0.168, 0.000021, 0.999),
    8: Row(0.459, 0.457, 0.462, 0.088, 0.000021, 0.994),
    9: Row(0.872, 0.870, 0.874, 0.052, 0.000021, 0.991),
    10: Row(0.096, 0.094, 0.098, 0.064, 0.000867, 0.996),
    11: Row(0.490, 0.487, 0.492, 0.069, 0.000781, 0.972),
    12: Row(0.894, 0.892, 0.896, 0.071, 0.000789, 0.954),
}
"""Table 7.3."""

NIPS_DOCUMENTS, NIPS_TEST, NIPS_VOCABULARY = 1557, 180, 12_113
NIPS_SWITCH = 0.291
LDA_PERPLEXITY = (1460.1, 1952.7)  # training, test
HTMM_PERPLEXITY = (1159.8, 1157.3)
LDA_ITERATIONS = 37
