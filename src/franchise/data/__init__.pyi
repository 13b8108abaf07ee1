from . import datasets as datasets
from . import synthetic as synthetic
from .corpus import Cells as Cells
from .corpus import Corpus as Corpus
from .group_tree import GroupTree as GroupTree
from .groups import Groups as Groups
from .sentences import Sentences as Sentences
