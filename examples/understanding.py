"""Topics with their uncertainty: paragraphs of the State of the Union addresses around 1900, three chains.

Topics have no meaning across draws, so those of all draws and chains are matched first. Then: which topics do the
chains agree on, which words and documents have they, when were they talked about, and which is about silver?
"""

import franchise as fr

paragraphs = fr.datasets.load("sotu", unit="paragraph")
chosen = [place for place, year in enumerate(paragraphs.metadata["year"]) if 1893 <= year < 1902]
corpus = paragraphs.subset(chosen)

posterior = fr.sample(corpus, chains=3, draws=30, warmup=70, start=20, seed=1)
print(posterior.consensus_topics)
print(posterior.topics(words=6).head(8).to_string(float_format="{:.3f}".format))

print("\nHow much of their topics any two chains share")
print(posterior.consensus_topics.agreement().to_string(float_format="{:.2f}".format))

print("\nThe number of topics")
print(posterior.n_topics_posterior().to_string(index=False, float_format="{:.2f}".format))

found = posterior.find_topics("silver", count=1)
topic, label, sure = int(found.index[0]), found["label"].iloc[0], found["probability"].iloc[0]
print(f"\nSilver is of topic {topic}, {label!r}, with probability {sure:.2f}")
print(posterior.consensus_topics.words(topic, count=5).to_string(index=False, float_format="{:.4f}".format))
for row in posterior.representative_documents(topic, count=2).itertuples():
    print(f"{row.document} ({row.share:.0%}): {row.text}")

named = posterior.set_labels({topic: "money"})
shares = named.topics_over_interval("year", bins=[1893, 1896, 1899, 1902])
print(f"\nThe share of {named.consensus_topics.labels[topic]!r} over time, and the middle 95% of draws")
for years, mean in shares.mean[topic].items():
    low, high = shares.low.loc[years, topic], shares.high.loc[years, topic]
    print(f"{years.left} to {years.right - 1}  {mean:.3f}  ({low:.3f} to {high:.3f})")
