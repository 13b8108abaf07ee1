"""What was found, and how sure is it? The State of the Union addresses of fifty years, read by several chains.

Topics have no meaning across draws, so those of all draws and chains are matched first. Then: which topics do the
chains agree on, which words and documents have they, when were they talked about, and which is about silver?
"""

import franchise as fr

addresses = fr.datasets.load("sotu")
years = addresses.metadata["year"]
corpus = addresses.subset([place for place, year in enumerate(years) if 1865 <= year < 1900])

posterior = fr.sample(corpus, chains=3, draws=40, warmup=160, seed=3)
print(repr(posterior.matched))
print(posterior.consensus(words=6).head(8).to_string(float_format="{:.3f}".format))

print("\nHow much of their topics any two chains share")
print(posterior.matched.agreement().to_string(float_format="{:.2f}".format))

print("\nThe number of topics")
print(posterior.n_topics_posterior().round(2).to_string(index=False))

found = posterior.find_topics("silver", count=1)
topic = int(found.index[0])
print(f"\nSilver is of topic {topic}, {found['label'].iloc[0]!r}, with probability {found['probability'].iloc[0]:.2f}")
print(posterior.matched.words(topic, count=5).to_string(index=False, float_format="{:.4f}".format))
for row in posterior.representative_documents(topic, count=2).itertuples():
    print(f"{row.document} ({row.share:.0%}): {row.text}")

named = posterior.set_labels({topic: "money"})
over = named.topics_over("year", bins=[1865, 1875, 1885, 1900])
print(f"\nTopic {named.matched.labels[topic]!r} over time")
print(over[topic].to_string(float_format="{:.3f}".format))
