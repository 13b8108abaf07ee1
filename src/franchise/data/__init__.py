"""Data as the samplers see it: flat arrays of observations, cut into groups.

`Groups` holds observations of any kind with a group label each; `Corpus` holds documents of words.  Both look
the same to a sampler (`grouped.GroupedData`).  Beside them: held-out splits (`splits`), data with a known
truth (`synthetic`), files (`readers`), the data sets that ship with the package (`datasets`), and corpora that stay
on disk (`shards`; `large` writes some with planted topics).
"""

from franchise.data.corpus import Cells, Corpus
from franchise.data.groups import Groups
from franchise.data.sentences import Sentences

__all__ = ["Cells", "Corpus", "Groups", "Sentences"]
