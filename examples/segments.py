"""Where does a speech change the subject? A hidden topic Markov model of some State of the Union addresses.

Each sentence has one topic; the next one keeps it or draws a new one. The number of topics is inferred. The table
shows the longest segments of Theodore Roosevelt's first address, each with its topic's most probable words and its
posterior probability.
"""

import franchise as fr

addresses = fr.datasets.load("sotu", sentences="english")
years = [int(name[:4]) for name in addresses.group_names]
corpus = addresses.subset([number for number, year in enumerate(years) if 1890 <= year < 1910])

model = fr.HTMM(draws=50, warmup=100, chains=1).fit(corpus)
topics = model.topics(words=5)
print(f"{corpus!r}: {model.n_topics_} topics, a switch every {1 / model.switch_probability_:.1f} sentences")

segments = model.segment()
speech = segments[segments["document"].str.startswith("1901")]
lengths = speech["last_sentence"] - speech["first_sentence"]
print("\nsentences    sure   topic")
for _, part in speech.loc[lengths.nlargest(8).index].sort_values("segment").iterrows():
    words = topics["words"].get(part["topic"], "(no consensus topic)")
    print(f"{part['first_sentence']:4} - {part['last_sentence']:4}   {part['probability']:.2f}   {words}")
