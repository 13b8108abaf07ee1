"""franchise: Bayesian nonparametric topic models and clustering of grouped data.

    import franchise as fr

    corpus = fr.datasets.load("sotu")
    posterior = fr.sample(corpus)
    print(posterior.topics())

The public names are listed once, in `__init__.pyi`.  Each is imported on first use, so that importing the
package is quick.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
