"""The hidden topic Markov model: each sentence has one topic, which persists or is redrawn at the next sentence.

    theta_d ~ Dirichlet(alpha);  phi_k ~ Dirichlet(eta);  epsilon ~ Beta(zeta1, zeta2)
    the first sentence of a document draws its topic from theta_d; each later one switches with probability epsilon
    (psi = 1) and then draws from theta_d, else (psi = 0) keeps the previous topic;  words ~ phi of their sentence

Gruber, Rosen-Zvi & Weiss (2007); Wilcox (2017), whose beta is phi here; docs/theory/htmm.md#sec-htmm.
"""
