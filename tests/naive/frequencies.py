"""Do visit frequencies match an enumerated distribution?

docs/theory/enumeration.md#sec-visit-frequencies.

A chain's draws are correlated, so they are worth fewer independent ones: with integrated autocorrelation
time tau, n draws are worth n / tau. The total variation distance of a chain's frequencies is therefore held
against what INDEPENDENT draws of the same effective size would give: mean + 4 standard deviations of their
distance (one false alarm in some 30,000). An exact but slow chain passes; a fast wrong one does not.

Two effective sizes matter. The distance adds up the errors of all single frequencies, so its mean is ruled by
the autocorrelation of "the chain is at this partition", averaged over partitions with the weight each has in
the sum. Its spread is ruled by whatever moves slowest (say, the number of topics), because that pushes many
frequencies at once. Using the slowest for both would be safe, but would let small biases through.
"""

from collections import Counter

import numpy as np


def total_variation(frequencies, probabilities):
    """Half the sum of |frequency - probability|; both dictionaries, missing entries are 0."""
    outcomes = set(frequencies) | set(probabilities)
    return 0.5 * sum(abs(frequencies.get(o, 0.0) - probabilities.get(o, 0.0)) for o in outcomes)


def frequencies_of(draws):
    """Dictionary outcome -> share of the draws."""
    return {outcome: count / len(draws) for outcome, count in Counter(draws).items()}


def autocorrelation_time(values, window_factor=6.0):
    """Integrated autocorrelation time 1 + 2 sum_l rho_l, lags up to window_factor times itself (Sokal).

    1 for a constant series and at least 1 always.
    """
    values = np.asarray(values, dtype=float)
    centred = values - values.mean()
    variance = float(centred @ centred) / len(values)
    if variance == 0.0:
        return 1.0
    time = 1.0
    for lag in range(1, len(values) // 4):
        time += 2.0 * float(centred[:-lag] @ centred[lag:]) / (len(values) * variance)
        if lag >= window_factor * time:
            break
    return max(time, 1.0)


def slowest_effective_size(draws, probabilities):
    """Draws divided by the slowest autocorrelation time among label-free summaries of the partition.

    Summaries: log probability, number of blocks, largest block, and for every pair of items whether they
    share one.
    """
    summaries = [
        [np.log(probabilities[labels]) for labels in draws],
        [len(set(labels)) for labels in draws],
        [max(Counter(labels).values()) for labels in draws],
    ]
    item_count = len(draws[0])
    for first in range(item_count):
        for second in range(first + 1, item_count):
            summaries.append([labels[first] == labels[second] for labels in draws])
    return len(draws) / max(autocorrelation_time(summary) for summary in summaries)


def typical_effective_size(draws, probabilities):
    """The number of independent draws whose expected total variation is that of these correlated ones.

    A frequency is off by about sqrt(p (1-p) tau / n), so tau is averaged as a square root with weights
    sqrt(p (1-p)).
    """
    weights = {outcome: np.sqrt(p * (1 - p)) for outcome, p in probabilities.items()}
    visited = set(draws)
    average = 0.0
    for outcome, weight in weights.items():
        time = autocorrelation_time([draw == outcome for draw in draws]) if outcome in visited else 1.0
        average += weight * np.sqrt(time)
    total = sum(weights.values())
    return len(draws) if total == 0 else len(draws) / (average / total) ** 2


def threshold_of_independent_draws(probabilities, size, rng, slowest=None, repetitions=2000, deviations=4.0):
    """Total variation that `size` independent draws practically never exceed: mean + deviations * spread.

    With `slowest` given, the spread is that of this many independent draws instead (it falls like 1/sqrt).
    """
    exact = np.array(list(probabilities.values()))
    exact = exact / exact.sum()
    counts = rng.multinomial(int(size), exact, size=repetitions)
    distances = 0.5 * np.abs(counts / int(size) - exact).sum(axis=1)
    spread = distances.std() * np.sqrt(size / slowest if slowest is not None else 1.0)
    return float(distances.mean() + deviations * spread)


def compare_draws(draws, probabilities, rng, independent=False):
    """Total variation of the draws, and the threshold it must stay below.

    Parameters
    ----------
    draws : list of canonical label tuples, in the order of the chain
    probabilities : dictionary canonical labels -> exact probability, of every partition that occurs
    independent : True when the draws are independent, so that their effective size is their number

    Returns
    -------
    (distance, threshold, slowest effective size)
    """
    typical = len(draws) if independent else typical_effective_size(draws, probabilities)
    slowest = len(draws) if independent else slowest_effective_size(draws, probabilities)
    distance = total_variation(frequencies_of(draws), probabilities)
    return distance, threshold_of_independent_draws(probabilities, typical, rng, slowest), slowest
