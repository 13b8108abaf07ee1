"""Points in the plane whose distances are close to given ones: multidimensional scaling.

SMACOF (de Leeuw, 1977, by scikit-learn) starts from the classical solution (Torgerson, 1952): the two largest
eigenvectors of the doubly centred squares.
"""

from __future__ import annotations

import numpy as np


def in_the_plane(distances: np.ndarray) -> tuple[np.ndarray, float]:
    """Places (n, 2) whose distances are as near these (n, n) as the plane allows, and Kruskal's stress."""
    from sklearn.manifold import smacof
    from threadpoolctl import threadpool_limits

    if not distances.any():
        return np.zeros((len(distances), 2)), 0.0
    squares = np.square(distances)
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    with threadpool_limits(1):  # with a few hundred points, threads mostly wait for each other
        values, vectors = np.linalg.eigh(-0.5 * centred)
        classical = vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0.0))
        places, raw = smacof(distances, init=classical, n_init=1, normalized_stress=False, random_state=0)
    return np.asarray(places), float(np.sqrt(raw / (squares.sum() / 2.0)))
