"""Gaussian clusters: the kernels beside NumPy, and a fit beside scikit-learn's BayesianGaussianMixture.

    python benchmarks/gaussian.py --part kernels   # densities, draws and statistics, processor seconds
    python benchmarks/gaussian.py --part fit       # simulated wells in several units
    python benchmarks/gaussian.py --part prior     # default priors under other rules

`kernels`: 200,000 observations in 10 dimensions at 30 clusters, one thread.  A pass computes the densities of all
clusters for every observation, draws a cluster and counts the statistics of the clusters again.  NumPy does the
same in chunks that fit in the cache, with one BLAS thread.  The least of several passes is printed.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

import franchise as fr
from franchise.diagnostics import group_completion
from franchise.kernels import family_ops
from franchise.kernels.random.weights import draw_from_weights
from franchise.kernels.recount import recount
from franchise.kernels.runtime.compile import kernel

CHUNK = 4096


# --- kernels ------------------------------------------------------------------------------------------------


@kernel
def draw_all(parameters, observations, prior_weights, uniforms, labels):
    """Draw the topic of every observation given the parameters."""
    limit = len(prior_weights)
    weights = np.empty(limit)
    for index in range(len(labels)):
        total = family_ops.fill_weights(parameters, observations, index, prior_weights, limit, weights)
        labels[index] = draw_from_weights(weights, total, limit, uniforms[index])


def points(size: int, dimension: int, clusters: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, clusters, size).astype(np.int32)
    spread = rng.normal(size=(clusters, dimension, dimension)) / 3.0 + np.eye(dimension)
    noise = np.einsum("nij,nj->ni", spread[labels], rng.normal(size=(size, dimension)))
    return rng.normal(0.0, 3.0, (clusters, dimension))[labels] + noise, labels


def draw_by_numpy(rows, parameters, prior_weights, uniforms):  # type: ignore[no-untyped-def]
    labels = np.empty(len(rows), np.int32)
    logs = np.empty((CHUNK, len(prior_weights)))
    for begin in range(0, len(rows), CHUNK):
        part = rows[begin : begin + CHUNK]
        own = logs[: len(part)]
        for cluster in range(len(prior_weights)):
            white = (part - parameters.means[cluster]) @ parameters.whiteners[cluster].T
            own[:, cluster] = parameters.log_normalisers[cluster] - 0.5 * np.einsum("nd,nd->n", white, white)
        own -= own.max(axis=1, keepdims=True)
        np.exp(own, out=own)
        own *= prior_weights
        sums = own.cumsum(axis=1)
        drawn = uniforms[begin : begin + CHUNK, None] * sums[:, -1:]
        labels[begin : begin + CHUNK] = (sums <= drawn).sum(axis=1)
    return labels


def count_by_numpy(rows, labels, clusters):  # type: ignore[no-untyped-def]
    order = np.argsort(labels, kind="stable")
    ordered, found = rows[order], []
    for part in np.split(ordered, np.cumsum(np.bincount(labels, minlength=clusters))[:-1]):
        mean = part.mean(axis=0)
        centred = part - mean
        scatter = centred.T @ centred
        found.append((mean, scatter, np.linalg.cholesky(scatter + np.eye(len(mean)))))
    return found


def least_seconds(call: Callable[[], object], passes: int) -> float:
    found = math.inf
    for _ in range(passes):
        begin = time.process_time()
        call()
        found = min(found, time.process_time() - begin)
    return found


def kernels(size: int, dimension: int, clusters: int, passes: int) -> None:
    rows, labels = points(size, dimension, clusters)
    rng = np.random.default_rng(1)
    family = fr.GaussianFull().for_data(rows)
    prepared = family.prepare(rows)
    statistics, sizes = family.empty_statistics(clusters), np.zeros(clusters, np.int64)
    recount(statistics, prepared, labels, sizes)
    parameters = family.draw_parameters(statistics, clusters, rng)
    prior_weights, uniforms, drawn = rng.dirichlet(np.ones(clusters)), rng.random(size), labels.copy()
    draw_all(parameters, prepared[:10], prior_weights, uniforms, drawn[:10])
    ours = [
        least_seconds(lambda: draw_all(parameters, prepared, prior_weights, uniforms, drawn), passes),
        least_seconds(lambda: recount(statistics, prepared, drawn, sizes), passes),
    ]
    with threadpool_limits(1):
        theirs = [
            least_seconds(lambda: draw_by_numpy(rows, parameters, prior_weights, uniforms), passes),
            least_seconds(lambda: count_by_numpy(rows, drawn, clusters), passes),
        ]
        same = (draw_by_numpy(rows, parameters, prior_weights, uniforms) == drawn).mean()
    print(f"{size:,} x {dimension}, {clusters} clusters; processor seconds, least of {passes}")
    print(f"{'':24}{'franchise':>10}{'NumPy':>10}{'ratio':>8}")
    for name, one, other in [
        ("densities and draws", ours[0], theirs[0]),
        ("statistics", ours[1], theirs[1]),
        ("together", sum(ours), sum(theirs)),
    ]:
        print(f"{name:24}{one:10.3f}{other:10.3f}{one / other:8.2f}")
    print(f"the same labels: {same:.6f}")


# --- fits ---------------------------------------------------------------------------------------------------

UNITS = {"as simulated": 1.0, "x 1000": 1000.0, "/ 1000": 0.001, "each column its own": None}


def wells(seed: int, dimension: int, clusters: int, spread: float, cells: int, n_wells: int = 8):  # type: ignore[no-untyped-def]
    """Return cells of wells, the well of each and its true cluster."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0.0, spread, (clusters, dimension))
    shapes = rng.normal(size=(clusters, dimension, dimension)) * 0.7 / math.sqrt(dimension)
    shapes += 0.5 * np.eye(dimension)
    proportions = rng.dirichlet(np.ones(clusters), n_wells)
    well = np.repeat(np.arange(n_wells), cells // n_wells)
    truth = np.concatenate([rng.choice(clusters, cells // n_wells, p=each) for each in proportions])
    noise = np.einsum("nij,nj->ni", shapes[truth], rng.normal(size=(len(truth), dimension)))
    return centres[truth] + noise, well, truth


def labels_of_franchise(values: np.ndarray, well: np.ndarray, seed: int) -> np.ndarray:
    model = fr.HDP(fr.GaussianFull(), draws=200, warmup=200, chains=1, seed=seed, workers=1, progress=False)
    return model.fit_predict(values, groups=well)


def labels_of_mixture(values: np.ndarray, well: np.ndarray, seed: int) -> np.ndarray:
    from sklearn.mixture import BayesianGaussianMixture

    return BayesianGaussianMixture(n_components=30, max_iter=500, random_state=seed).fit_predict(values)


METHODS = {"franchise HDP": labels_of_franchise, "BayesianGaussianMixture": labels_of_mixture}


def fit(cells: int, seeds: int) -> None:
    from sklearn.metrics import adjusted_rand_score

    print(
        "clusters: with 0.5% of the cells or more; ARI: adjusted Rand index with the truth; processor seconds"
    )
    print(f"{'data':24}{'units':22}{'method':26}{'clusters':>9}{'ARI':>7}{'seconds':>9}")
    for dimension, clusters, spread in [(2, 6, 3.0), (6, 10, 2.0), (10, 12, 1.5)]:
        for unit, factor in UNITS.items():
            rows: dict[str, list[tuple[float, float, float]]] = {}
            for seed in range(seeds):
                values, well, truth = wells(seed, dimension, clusters, spread, cells)
                values = values * (10.0 ** np.linspace(-3, 3, dimension) if factor is None else factor)
                for method, call in METHODS.items():
                    begin = time.process_time()
                    labels = call(values, well, seed)
                    seconds = time.process_time() - begin
                    sizes = np.bincount(labels[labels >= 0])
                    found = int((sizes >= 0.005 * len(labels)).sum())
                    rows.setdefault(method, []).append((found, adjusted_rand_score(truth, labels), seconds))
            for method, results in rows.items():
                found, score, seconds = np.mean(results, axis=0)
                data = f"D={dimension}, {clusters} clusters"
                print(f"{data:24}{unit:22}{method:26}{found:9.1f}{score:7.3f}{seconds:9.1f}", flush=True)


# --- priors -------------------------------------------------------------------------------------------------

RULES = {
    "c = 0.01, S c / (1 + c)": (0.01, 0.01 / 1.01),
    "c = 0.1, S c / (1 + c)": (0.1, 0.1 / 1.1),
    "c = 1, S c / (1 + c)": (1.0, 0.5),
    "c = 0.01, S": (0.01, 1.0),
}
"""Weight of the prior mean, and the expected covariance within clusters as a part of that of the data, S."""


def prior(cells: int, seeds: int) -> None:
    from sklearn.metrics import adjusted_rand_score

    print("nats: held-out log density per cell, one half of a well given the other")
    print(f"{'data':24}{'rule':26}{'topics':>8}{'ARI':>7}{'nats':>9}")
    for dimension, clusters, spread in [(2, 6, 3.0), (2, 15, 3.0), (6, 10, 2.0), (10, 12, 1.5)]:
        for rule, (count, part) in RULES.items():
            found = []
            for seed in range(seeds):
                values, well, truth = wells(seed, dimension, clusters, spread, cells)
                held_out = np.arange(len(values)) % 4 == 0
                kept, own = values[~held_out], fr.Groups(values[~held_out], well[~held_out])
                family = fr.GaussianFull(dimension, kept.mean(axis=0), count, scale=part * np.cov(kept.T))
                posterior = fr.sample(
                    own, family, draws=150, warmup=150, chains=1, seed=seed, workers=1, progress=False
                )
                labels = posterior.observation_probabilities().argmax(axis=1)
                score = group_completion(posterior, fr.Groups(values[held_out], well[held_out]))
                topics = posterior.trace["n_topics"].mean()
                found.append((topics, adjusted_rand_score(truth[~held_out], labels), score))
            topics, ari, score = np.mean(found, axis=0)
            data = f"D={dimension}, {clusters} clusters"
            print(f"{data:24}{rule:26}{topics:8.1f}{ari:7.3f}{score:9.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["kernels", "fit", "prior"], default="kernels")
    parser.add_argument("--size", type=int, default=200_000, help="observations of the part kernels")
    parser.add_argument("--dimension", type=int, default=10)
    parser.add_argument("--clusters", type=int, default=30)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--cells", type=int, default=2000, help="cells of the parts fit and prior")
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.part == "kernels":
        kernels(chosen.size, chosen.dimension, chosen.clusters, chosen.passes)
    else:
        {"fit": fit, "prior": prior}[chosen.part](chosen.cells, chosen.seeds)


if __name__ == "__main__":
    main()
