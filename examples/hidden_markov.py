"""A hidden Markov model fitted by EM and decoded by Viterbi, beside the figures of Wilcox (2017), chapter 4.

The hidden state, one of two, moves on by A; each state shows one of three symbols by its row of B. As in section
4.5 we make 10,000 observations and fit them from the printed start, in which the states are almost identical. EM
learns at once how common the symbols are and then hardly gains for dozens of iterations before the states part:
a rule that stops at small gains stops there, as in the thesis' earlier trials ("converged in three iterations").

What to know of the printed figures, each but the last shown in the output:
- The log likelihoods -1111.2 and -1034 are those of about 1,000 observations, not 10,000, and the estimates are
  as far from the truth as those from 1,000.
- pi cannot be learnt from one sequence, which has but one first state: its estimate goes to 0 or 1.
- The printed start leads to the states in the other order than printed. We name ours in the order of the truth.
- Figure 4.4 updates b_i(j) by the sum of omega_t(i) over y_t = j, divided by the one over y_t != j. These are
  odds, and rows of B then sum to more than 1. Equation 4.9 is right: divide by the sum over all t.
- Figure 4.4 adds up log c_t for as many t as there are states. The log likelihood is minus the sum over all t.
"""

import numpy as np
from numba import njit

TRUE = np.array([0.8, 0.2]), np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
START = (
    np.array([0.4934, 0.5066]),
    np.array([[0.5274, 0.4726], [0.4826, 0.5174]]),  # 0.4725 in print; rows sum to 1
    np.array([[0.3626, 0.3542, 0.2832], [0.3356, 0.3270, 0.3374]]),
)
PRINTED = [1.0, 0.0, 0.7625, 0.2375, 0.2752, 0.7248, 0.1001, 0.1496, 0.7503, 0.5848, 0.3128, 0.1024]
NAMES = ["pi0", "pi1", "a00", "a01", "a10", "a11", "b00", "b01", "b02", "b10", "b11", "b12"]


@njit
def forward_backward(y, pi, a, b):
    """p(state at t | all y), expected numbers of moves from state to state, and p(y_t | those before)."""
    forward, scale = np.zeros((len(y), len(pi))), np.zeros(len(y))  # scale is 1 / c_t in the thesis
    for t in range(len(y)):
        for j in range(len(pi)):
            arriving = pi[j] if t == 0 else 0.0
            for i in range(len(pi)):
                arriving += forward[t - 1, i] * a[i, j]  # before the first, zeros
            forward[t, j] = arriving * b[j, y[t]]
            scale[t] += forward[t, j]
        for j in range(len(pi)):
            forward[t, j] /= scale[t]
    at, backward, moves = forward.copy(), np.ones(len(pi)), np.zeros((len(pi), len(pi)))
    for t in range(len(y) - 2, -1, -1):
        later = backward.copy()
        for i in range(len(pi)):
            backward[i] = 0
            for j in range(len(pi)):
                ahead = a[i, j] * b[j, y[t + 1]] * later[j] / scale[t + 1]
                backward[i] += ahead
                moves[i, j] += forward[t, i] * ahead
            at[t, i] *= backward[i]
    return at, moves, scale


@njit
def viterbi(y, pi, a, b):
    """Most probable sequence of states, from the logarithms of pi, A and B."""
    best, before = np.full((len(y), len(pi)), -np.inf), np.zeros((len(y), len(pi)), np.int64)
    for t in range(len(y)):
        for j in range(len(pi)):
            for i in range(len(pi)):
                score = (best[t - 1, i] + a[i, j] if t else pi[j]) + b[j, y[t]]
                if score > best[t, j]:
                    best[t, j], before[t, j] = score, i
    path = np.full(len(y), np.argmax(best[-1]))
    for t in range(len(y) - 1, 0, -1):
        path[t - 1] = before[t, path[t]]
    return path


def fit(y, pi, a, b, tolerance):
    """EM until an iteration gains less than the tolerance; the model and the log likelihoods on the way."""
    history = []
    while True:
        at, moves, scale = forward_backward(y, pi, a, b)
        history.append(np.log(scale).sum())
        if len(history) > 1 and history[-1] - history[-2] < tolerance:
            return (pi, a, b), history
        symbols = at.T @ np.eye(b.shape[1])[y]
        pi, a, b = at[0], moves / moves.sum(1, keepdims=True), symbols / symbols.sum(1, keepdims=True)


def in_a_row(model):
    """All parameters one after another."""
    return np.concatenate([part.ravel() for part in model])


rng = np.random.default_rng(1)
x, y = np.zeros((2, 10_000), np.int64)
for t in range(len(y)):
    x[t] = rng.choice(2, p=TRUE[1][x[t - 1]] if t else TRUE[0])
    y[t] = rng.choice(3, p=TRUE[2][x[t]])

(pi, a, b), history = fit(y, *START, tolerance=1e-6)
order = np.argsort(-b[:, 2])  # the truth's first state shows the third symbol most
fitted = pi[order], a[order][:, order], b[order]
truth, ours = in_a_row(TRUE), in_a_row(fitted)
of_pieces = [in_a_row(fit(piece, *TRUE, tolerance=1e-4)[0]) for piece in np.split(y, 10)]
error = np.std(of_pieces, axis=0, ddof=1) / 10**0.5  # their mean errs like the fit of all

print("        true   thesis     ours   standard error")
for name, *figures in zip(NAMES, truth, PRINTED, ours, error, strict=True):
    shown = figures[:3] if name[0] == "p" else figures
    print(name + "".join(f"{figure:9.4f}" for figure in shown))
print(f"The states came out in {'this' if order[0] == 0 else 'the other'} order.")
away = np.max((np.abs(PRINTED - truth) / error)[2:])
print(f"The thesis' a and b are up to {away:.1f} standard errors from the truth,")
print(f"or up to {away / 10**0.5:.1f} standard errors of 1,000 observations.\n")

first, *_, last = history
print(f"Log likelihood {first:.1f} at the start, {last:.1f} after {len(history) - 1} iterations (thesis: 72)")
gains = np.diff(history)
print(f"  Iteration 1 gains {gains[0]:.1f}, iteration 2 {gains[1]:.3f};", end=" ")
print(f"the next to gain more than 1 is {np.argmax(gains[1:] > 1) + 2}.")
for printed, mine in ((-1111.2, first), (-1034, last)):
    print(f"  The printed {printed} would be that of {printed / mine * len(y):.0f} observations.")
for name, model in (("fitted", fitted), ("true", TRUE)):
    decoded = viterbi(y, *(np.log(np.maximum(part, 1e-300)) for part in model))
    print(f"Viterbi with the {name} parameters finds {np.mean(decoded == x):.4f} of the states.")
odds = fitted[2] / (1 - fitted[2])
print("Figure 4.4's update of B would give rows that sum to {:.2f} and {:.2f}.".format(*odds.sum(1)))
