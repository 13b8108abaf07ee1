"""Where does a speech change the subject? A hidden topic Markov model of some State of the Union addresses.

Each sentence has one topic; the next one keeps it or draws a new one. The number of topics is inferred. The table
shows the longest segments of Theodore Roosevelt's first address, each with its topic's most probable words and its
posterior probability.
"""

import franchise as fr

addresses = fr.datasets.load("sotu", sentences="english")
years = [int(name[:4]) for name in addresses.group_names]
corpus = addresses.subset([number for number, year in enumerate(years) if 1890 <= year < 1910])

model = fr.HTMM(n_topics=None, word_prior=0.1, draws=50, warmup=100, chains=1).fit(corpus)
topics = model.topics(words=5)
print(f"{corpus!r}: {model.n_topics_} topics, a switch every {1 / model.switch_probability_:.1f} sentences")

sentences = model.sentence_topics()
speech = sentences[sentences["document"].str.startswith("1901")].reset_index(drop=True)
parts = speech.groupby((speech["topic"] != speech["topic"].shift()).cumsum())
longest = sorted(parts, key=lambda part: -len(part[1]))[:8]
print("\nsentences    sure   topic")
for _, part in sorted(longest, key=lambda part: part[1].index[0]):
    topic = part["topic"].iloc[0]
    words = topics["words"].get(topic, "(no consensus topic)")
    print(f"{part.index[0]:4} - {part.index[-1]:4}   {part['probability'].mean():.2f}   {words}")
