"""Do visit frequencies match an enumerated distribution? (section 1.3; style page 9.4)

A chain's draws are correlated, so they are worth fewer independent ones: with integrated autocorrelation time tau,
n draws are worth n / tau. The total variation distance of a chain's frequencies is therefore held against what
INDEPENDENT draws of that effective size would give, by drawing many such samples and taking mean + 4 standard
deviations (one false alarm in some 30,000). An exact but slow chain passes; a fast wrong one does not.
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
    """Integrated autocorrelation time 1 + 2 sum_l rho_l, lags summed up to window_factor times itself (Sokal).

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


def effective_size(draws, probabilities):
    """Draws divided by the slowest autocorrelation time among label-free summaries of the partition.

    Summaries: log probability, number of blocks, largest block, and for every pair of items whether they share one.
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


def threshold_of_independent_draws(probabilities, size, rng, repetitions=2000, deviations=4.0):
    """Total variation that `size` independent draws practically never exceed: mean + deviations * spread."""
    exact = np.array(list(probabilities.values()))
    exact = exact / exact.sum()
    counts = rng.multinomial(int(size), exact, size=repetitions)
    distances = 0.5 * np.abs(counts / int(size) - exact).sum(axis=1)
    return float(distances.mean() + deviations * distances.std())


def compare_draws(draws, probabilities, rng, independent=False):
    """Total variation of the draws, and the threshold it must stay below.

    Parameters
    ----------
    draws : list of canonical label tuples, in the order of the chain
    probabilities : dictionary canonical labels -> exact probability
    independent : True when the draws are independent, so that their effective size is their number

    Returns
    -------
    (distance, threshold, effective size)
    """
    size = len(draws) if independent else effective_size(draws, probabilities)
    distance = total_variation(frequencies_of(draws), probabilities)
    return distance, threshold_of_independent_draws(probabilities, size, rng), size
