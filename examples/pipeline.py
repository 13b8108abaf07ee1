"""Topics in a scikit-learn pipeline: paragraphs of the State of the Union addresses since 2001.

A CountVectorizer reads the texts, `fr.HDP` finds topics, and a logistic regression of their weights guesses the
president's party. The same parts give held-out scores for a choice of prior, and frames of pandas.
"""

import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import franchise as fr

corpus = fr.datasets.load("sotu", unit="paragraph")
speeches = pd.DataFrame({**corpus.metadata, "text": corpus.texts}, index=corpus.group_names)
speeches = speeches[speeches["year"] > 2000][::4]
texts, party = speeches["text"], speeches["party"]
print(f"{len(texts)} paragraphs, {(party == 'Republican').mean():.0%} by Republicans")

counts = CountVectorizer(stop_words="english", min_df=5, max_df=0.2)
topics = fr.HDP(draws=20, warmup=40, chains=1, start=30, sampler="direct")

print(
    "\nLog probability of a word in the other half of paragraphs that were held out, by the prior of topics' words:"
)
search = GridSearchCV(make_pipeline(counts, topics), {"hdp__prior": [0.02, 0.1, 0.5]}, cv=3).fit(texts)
for settings, mean in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    print(f"  {settings['hdp__prior']:<5} {mean:.3f}")

vectorizer, model = search.best_estimator_
print(f"\n{model.n_topics_} topics with a prior of {search.best_params_['hdp__prior']}; the largest:")
print(model.topics(words=6, vocabulary=vectorizer.get_feature_names_out()).head(6).to_string())

model.set_output(transform="pandas")
weights = search.best_estimator_.transform(texts).set_index(texts.index)
print(f"\nWeights of these in the first paragraphs:\n{weights.iloc[:3, :6].round(2).to_string()}")

guess = make_pipeline(*search.best_estimator_, LogisticRegression(C=10.0))
accuracy = cross_val_score(guess, texts, party, cv=3)
print(f"\nParty guessed from the weights of topics, held out: {accuracy.mean():.0%} right")
