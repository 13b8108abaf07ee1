"""A Gibbs sampler that cannot change a sign, beside the figures of Wilcox (2017), section 3.5.

    y_i = theta z_i + noise,   z_i ~ N(0, 1),   noise ~ N(0, 1),   theta ~ N(5, tau_0^2)

200 observations made with theta = 10, as printed; tau_0^2 is not printed, and we take 100. With z integrated out,
y_i ~ N(0, theta^2 + 1), so the posterior of theta is a density in one dimension: a grid gives the exact answer.

The data say nothing about the sign of theta: (theta, z) and (-theta, -z) give the same y, and only the prior
tells them apart. Gibbs sampling does not cross zero and keeps the sign that it has come to first, so a run may end
at -9.4 for 10, like the thesis'. One more move helps: change both signs with the chance that the prior allows.
What can be learnt is |theta|. The chain is slow, too: z and theta hold each other fast.

Of the printed figures not all can be right. The interval holds neither the printed mean nor the printed median.
It is as narrow as if z were known, and whatever tau_0^2, a posterior there is several times as wide. And the
text has the prior mean of 5 "above the true theta", which is so for -10, not for 10.
"""

import numpy as np

import franchise as fr

N, MU, PRIOR_VARIANCE, SWEEPS, DROPPED = 200, 5.0, 100.0, 40_000, 1_000

rng = np.random.default_rng(1)
y = 10.0 * rng.standard_normal(N) + rng.standard_normal(N)


def gibbs(theta, change_signs=False):
    """Draws of theta by the conditionals of Figure 3.3, and, if asked for, changes of sign."""
    draws = np.empty(SWEEPS)
    for sweep in range(SWEEPS):
        z = theta * y / (theta**2 + 1) + rng.standard_normal(N) / np.sqrt(theta**2 + 1)
        precision = z @ z + 1 / PRIOR_VARIANCE
        theta = (z @ y + MU / PRIOR_VARIANCE) / precision + rng.standard_normal() / np.sqrt(precision)
        log_ratio = -2 * theta * MU / PRIOR_VARIANCE  # prior at -theta over prior at theta
        if change_signs and rng.random() < np.exp(log_ratio):
            theta = -theta  # and z, which is drawn again in any case
        draws[sweep] = theta
    return draws[DROPPED:]


def figures(values, weights):
    """Mean, median, 95% interval and chance to be negative of values with these weights."""
    order = np.argsort(values)
    quantiles = values[order][np.searchsorted(np.cumsum(weights[order]), (0.5, 0.025, 0.975))]
    return [weights @ values, *quantiles, weights @ (values < 0)]


chains = {
    "Gibbs from -1": gibbs(-1.0),
    "Gibbs from 1": gibbs(1.0),
    "Gibbs and changes of sign": gibbs(1.0, True),
}
grid = np.linspace(-20, 20, 400_001)
log_density = -((grid - MU) ** 2) / (2 * PRIOR_VARIANCE)
log_density += -N / 2 * np.log(grid**2 + 1) - y @ y / (2 * (grid**2 + 1))
density = np.exp(log_density - log_density.max())
density /= density.sum()

table = {"theta": {"thesis": [-9.3757, -9.3411, -9.7201, -9.4612]}, "|theta|": {}}
for what, of in (("theta", np.positive), ("|theta|", np.abs)):
    for name, draws in chains.items():
        error = fr.diagnostics.summarise({what: of(draws)[None]}).loc[what, "mcse_mean"]
        table[what][name] = [*figures(of(draws), np.full(len(draws), 1 / len(draws))), error]
    table[what]["exact"] = figures(of(grid), density)
    print(f"{what:27}     mean   median     2.5%    97.5%    P(<0)  Monte Carlo error")
    for name, row in table[what].items():
        print(f"  {name:25}" + "".join(f"{figure:9.4f}" for figure in row))

_, _, low, high, _ = table["|theta|"]["exact"]
plain = np.stack([chains["Gibbs from -1"], chains["Gibbs from 1"]])
summary = fr.diagnostics.summarise({"theta": plain, "|theta|": np.abs(plain)})
print("\nR-hat of the two plain chains: {:.2f} for theta, {:.2f} for |theta|".format(*summary["r_hat"]))
print(f"Their {plain.size} draws of |theta| are worth {summary['ess_bulk']['|theta|']:.0f} independent ones")
print(
    f"Width of the 95% interval: printed 0.26, exact {high - low:.2f}, with z known {2 * 1.96 / N**0.5:.2f}"
)
