"""Three lines from a corpus to its topics: paragraphs of the State of the Union addresses.

A short run, for a first look; `franchise demo` runs longer and says whether the chains agree.
"""

import franchise as fr

corpus = fr.datasets.load("sotu", unit="paragraph")
posterior = fr.sample(corpus, draws=20, warmup=30, start=60)
print(posterior.topics(words=6).head(20).to_string())
