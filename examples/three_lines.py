"""Three lines from a corpus to its topics: paragraphs of the State of the Union addresses.

A short run of one chain, for a first look; `franchise demo` runs four longer ones and reports whether they agree.
"""

import franchise as fr

corpus = fr.datasets.load("sotu", unit="paragraph")
posterior = fr.sample(corpus, draws=20, warmup=30, chains=1, start=60)
print(posterior.topics(words=6).head(20).to_string())
