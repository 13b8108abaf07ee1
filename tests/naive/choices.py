"""Small shared tools: a choice among named alternatives, with weights kept in logs.

A full conditional is a dictionary choice -> log weight. The choice "something not in use yet" (a new table,
a new topic) has the name `NEW`.
"""

import math

NEW = "new"


def log_sum_exp(log_terms):
    """log of the sum of exp(terms), safe against overflow; minus infinity for no terms."""
    log_terms = list(log_terms)
    largest = max(log_terms, default=-math.inf)
    if largest == -math.inf:
        return -math.inf
    return largest + math.log(sum(math.exp(term - largest) for term in log_terms))


def log_of(weight):
    """Natural logarithm with log 0 = minus infinity."""
    return math.log(weight) if weight > 0 else -math.inf


def exponentiated(log_weights):
    """Dictionary choice -> weight from choice -> log weight, not normalised."""
    return {choice: math.exp(log_weight) for choice, log_weight in log_weights.items()}


def normalised(log_weights):
    """Dictionary choice -> probability from choice -> log weight."""
    log_total = log_sum_exp(log_weights.values())
    return {choice: math.exp(log_weight - log_total) for choice, log_weight in log_weights.items()}


def draw_choice(log_weights, rng):
    """Draw one choice with probability proportional to exp(log weight): walk along the line of weights."""
    largest = max(log_weights.values())
    weights = [(choice, math.exp(log_weight - largest)) for choice, log_weight in log_weights.items()]
    position = rng.random() * sum(weight for _, weight in weights)
    for choice, weight in weights:
        position -= weight
        if position < 0:
            return choice
    return max(weights, key=lambda pair: pair[1])[0]  # only reached by rounding at the very end of the line
