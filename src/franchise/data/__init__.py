"""Data as the samplers see it: flat arrays of observations, cut into groups.

`Groups` has observations of any kind with one group label each; `Corpus` has documents of words.  Both look the
same to a sampler (`grouped.GroupedData`).  Around them:

    readers/    files of texts, tables and counts
    sharded/    corpora that stay on disk
    datasets/   the data sets that ship with the package
    synthetic   data with a known truth; `planted` writes large ones to disk
    splits      held-out documents and words

Names are imported on first use (`__init__.pyi`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
