"""Small dense linear algebra on lower triangular Cholesky factors, L L' = A, in plain loops.

Only the lower triangle of a factor is read or written.  Matrices here have the dimension of one observation,
so loops beat calls into a library, and everything compiles into the kernels that use it.
"""

from __future__ import annotations

import math

import numpy as np

from franchise.kernels.runtime.compile import helper

LARGEST_LOSS = 1e-6
"""A downdate that leaves less than this part of a squared pivot has lost six digits and counts as failed."""


@helper
def scaled_difference(left, right, weight):
    """A new vector, weight (left - right)."""
    result = np.empty(len(left))
    for row in range(len(left)):
        result[row] = weight * (left[row] - right[row])
    return result


@helper
def add_outer_product(matrix, vector, weight):
    """A becomes A + weight v v'."""
    for row in range(len(vector)):
        for column in range(len(vector)):
            matrix[row, column] += weight * (vector[row] * vector[column])


@helper
def factorise(matrix, factor):
    """Fill `factor`, which may be `matrix` itself, with L, L L' = matrix; False if not positive definite.

    L_jj = sqrt(A_jj - sum_{m<j} L_jm^2),   L_ij = (A_ij - sum_{m<j} L_im L_jm) / L_jj
    """
    dimension = len(matrix)
    for column in range(dimension):
        pivot = matrix[column, column]
        for inner in range(column):
            pivot -= factor[column, inner] * factor[column, inner]
        if not pivot > 0.0:
            return False
        diagonal = math.sqrt(pivot)
        factor[column, column] = diagonal
        for row in range(column + 1, dimension):
            entry = matrix[row, column]
            for inner in range(column):
                entry -= factor[row, inner] * factor[column, inner]
            factor[row, column] = entry / diagonal
    return True


@helper
def rank_one_update(factor, vector):
    """L becomes the factor of L L' + v v'; `vector` is used up.  One plane rotation for each column."""
    dimension = len(vector)
    for column in range(dimension):
        old = factor[column, column]
        new = math.hypot(old, vector[column])
        cosine = new / old
        sine = vector[column] / old
        factor[column, column] = new
        for row in range(column + 1, dimension):
            entry = (factor[row, column] + sine * vector[row]) / cosine
            vector[row] = cosine * vector[row] - sine * entry
            factor[row, column] = entry


@helper
def rank_one_downdate(factor, vector):
    """L becomes the factor of L L' - v v'; `vector` is used up.  One hyperbolic rotation for each column.

    False, with `factor` spoiled, if L L' - v v' is not positive definite or too close to it (LARGEST_LOSS).
    """
    dimension = len(vector)
    for column in range(dimension):
        old = factor[column, column]
        left = (old - vector[column]) * (old + vector[column])
        if not left > LARGEST_LOSS * old * old:
            return False
        new = math.sqrt(left)
        cosine = new / old
        sine = vector[column] / old
        factor[column, column] = new
        for row in range(column + 1, dimension):
            entry = (factor[row, column] - sine * vector[row]) / cosine
            vector[row] = cosine * vector[row] - sine * entry
            factor[row, column] = entry
    return True


@helper
def solve_lower(factor, vector):
    """`vector` becomes L^-1 v, by forward substitution."""
    for row in range(len(vector)):
        entry = vector[row]
        for inner in range(row):
            entry -= factor[row, inner] * vector[inner]
        vector[row] = entry / factor[row, row]


@helper
def inverse_quadratic_form(factor, vector):
    """The form v' A^-1 v = |L^-1 v|^2; `vector` is used up."""
    solve_lower(factor, vector)
    total = 0.0
    for row in range(len(vector)):
        total += vector[row] * vector[row]
    return total


@helper
def log_determinant(factor):
    """The log of |A|: 2 sum_j log L_jj."""
    total = 0.0
    for row in range(len(factor)):
        total += math.log(factor[row, row])
    return 2.0 * total


@helper
def log_multivariate_gamma_ratio(argument, increase, dimension):
    """The log of Gamma_d(a + increase) / Gamma_d(a), with Gamma_d(a) ~ prod_{i<d} Gamma(a - i/2)."""
    total = 0.0
    for axis in range(dimension):
        lowered = argument - 0.5 * axis
        total += math.lgamma(lowered + increase) - math.lgamma(lowered)
    return total
