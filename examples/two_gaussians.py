"""A mixture of two Gaussians by Gibbs sampling, right and as printed, beside Wilcox (2017), section 3.6.

    z_i ~ Bernoulli(pi),   pi ~ Beta(0.5, 0.5),   y_i | z_i = k ~ N(mu_k, 1 / tau_k)
    tau_k ~ Gamma(shape a = 1, rate b = 5),   mu_k | tau_k ~ N(mu_0k, 1 / (nu tau_k)),   mu_0 = (-5, 5), nu = 50

The prior of mu_k depends on tau_k and so belongs to the conditional of tau_k; the thesis leaves it out:

    printed   Gamma(a + n/2,       b + sum (y - mu)^2 / 2)
    right     Gamma(a + (n + 1)/2, b + sum (y - mu)^2 / 2 + nu (mu - mu_0)^2 / 2)

With 50 pseudo-observations, five away from the data, this matters: as printed, tau comes out some 20% too large.
The proof: given the labels, (mu, tau) has a Normal-Gamma posterior, and the mean of tau is

    (a + n/2) / (b + sum (y - ybar)^2 / 2 + nu n (ybar - mu_0)^2 / (2 (nu + n)))

The second table compares both samplers with it, the true labels held fixed. The third shows which conditional the
printed figures come from: with the right one they would need data of a variance of 6.6, four standard errors
below the 9 that the thesis drew them with. All settings are the printed ones, but for the starting values, which
are not printed: we start from prior means.
"""

import numpy as np

import franchise as fr

A, B, ETA, NU, MU_0 = 1.0, 5.0, 0.5, 50.0, np.array([-5.0, 5.0])
BURN_IN, THINNING, DRAWS = 3000, 15, 200  # as printed
CHECKED = 20_000  # sweeps with the labels held
PRINTED = {
    "pi": (0.4991, 0.4688, 0.5293),
    "mu_1": (-9.4976, -9.7475, -9.2362),
    "mu_2": (9.5430, 9.3139, 9.7757),
    "tau_1": (0.1139, 0.0989, 0.1303),
    "tau_2": (0.1133, 0.1013, 0.1252),
}

rng = np.random.default_rng(1)
true_labels = np.repeat([0, 1], 500)
y = rng.normal(np.array([-10.0, 10.0])[true_labels], 3.0)


def gibbs(right, sweeps, labels=None):
    """Draws of pi (the weight of the second), mu and tau; labels that are given stay as they are."""
    pi, mu, tau = 0.5, MU_0, np.full(2, A / B)
    draws = np.empty((sweeps, 5))
    for sweep in range(sweeps):
        z = labels
        if labels is None:
            log_odds = np.log(pi / (1 - pi)) + np.log(tau[1] / tau[0]) / 2
            log_odds += (tau[0] * (y - mu[0]) ** 2 - tau[1] * (y - mu[1]) ** 2) / 2
            z = (rng.random(len(y)) < 1 / (1 + np.exp(-log_odds))).astype(int)
        n, sums = np.bincount(z, minlength=2), np.bincount(z, y, minlength=2)
        squares = np.bincount(z, (y - mu[z]) ** 2, minlength=2)
        pi = rng.beta(n[1] + ETA, n[0] + ETA)
        if right:
            tau = rng.gamma(A + (n + 1) / 2) / (B + squares / 2 + NU * (mu - MU_0) ** 2 / 2)
        else:
            tau = rng.gamma(A + n / 2) / (B + squares / 2)
        mu = rng.normal((sums + NU * MU_0) / (NU + n), 1 / np.sqrt(tau * (NU + n)))
        draws[sweep] = pi, *mu, *tau
    return draws


def implied_variance(right, k):
    """Variance that 500 observations must have for the sampler's mean of tau_k to be the printed one, nearly."""
    mu, tau = PRINTED[f"mu_{k + 1}"][0], PRINTED[f"tau_{k + 1}"][0]
    mean = ((NU + 500) * mu - NU * MU_0[k]) / 500
    if right:
        beyond = NU * 500 / (NU + 500) * (mean - MU_0[k]) ** 2
    else:
        beyond = 500 * ((mu - mean) ** 2 + 1 / (tau * (NU + 500)))
    return (2 * (A + 250) / tau - 2 * B - beyond) / 499


CONDITIONALS = {"printed": False, "right": True}
print("         thesis                        printed conditional           right conditional")
samples = [gibbs(right, BURN_IN + THINNING * DRAWS) for right in CONDITIONALS.values()]
samples = [draws[BURN_IN + THINNING - 1 :: THINNING] for draws in samples]
for number, (name, figures) in enumerate(PRINTED.items()):
    ours = [draws[:, number] for draws in samples]
    rows = [figures, *((draws.mean(), *np.quantile(draws, (0.025, 0.975))) for draws in ours)]
    print(f"{name:6}" + "".join("{:9.4f} ({:8.4f}, {:7.4f})".format(*row) for row in rows))

print("\nMean of tau given the true labels, and its Monte Carlo error")
samples = [gibbs(right, CHECKED, true_labels) for right in CONDITIONALS.values()]
for k in (0, 1):
    own = y[true_labels == k]
    squares = 500 * own.var() + NU * 500 / (NU + 500) * (own.mean() - MU_0[k]) ** 2
    exact = (A + 250) / (B + squares / 2)
    print(f"  tau_{k + 1}   exact    {exact:.6f}")
    for name, draws in zip(CONDITIONALS, samples, strict=True):
        summary = fr.diagnostics.summarise({"tau": draws[None, :, 3 + k]}).loc["tau"]
        mean, error = summary["mean"], summary["mcse_mean"]
        print(f"          {name:8} {mean:.6f} ({error:.6f}), off by {mean / exact - 1:+.1%}", end="")
        print(f" or {(mean - exact) / error:+.1f} errors")

print("\nVariance of data that lead to the thesis' tau_1 and tau_2; it drew them with 9, standard error 0.57")
for name, right in CONDITIONALS.items():
    one, other = (implied_variance(right, k) for k in (0, 1))
    print(f"  {name:8} {one:.2f} and {other:.2f}")
