"""Topics of documents, and LDA and LSA beside ("Applications to real data sets", "Comparative analysis ...").

The HDP as in the paper's program: direct assignment, Dirichlet prior of 0.5 for every word, both concentrations
1, every word first in one of 50 topics at random.  LDA and LSA are scikit-learn's (the paper's are gensim's), with
every number of topics from 3 to 60.

Perplexities of test documents are by document completion, for both HDP and LDA: the weights of a document are
fitted on one half of its words and the other half is scored.  The perplexity of training documents is of their own
words, which the topics were made from, so it flatters.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.data.corpus import Corpus
from franchise.data.splits import halve_documents
from franchise.diagnostics.convergence import summarise
from franchise.diagnostics.held_out import document_completion, training_probabilities
from franchise.families.categorical import Categorical
from franchise.posterior.hdp_posterior import HDPPosterior
from franchise.sampling import sample
from franchise_studies.frank.corpora import TextSample

if TYPE_CHECKING:
    import pandas as pd

PRIOR = 0.5
TOPICS = 50  # at the start; the paper's program allows no more
COUNTS = tuple(range(3, 61))  # numbers of topics of LDA and LSA
PRINTED_TOPICS = 20  # the most common number, Reuters
PRINTED = {"train": 86.776, "test": 116.690}  # perplexities, Reuters
PRINTED_MINUTES = {100: 16.0, 200: 105.0}  # of 2000 sweeps, by documents
PRINTED_SECONDS = {"HDP": 60.0 * PRINTED_MINUTES[100], "LDA": 52.6, "LSA": 2.61}


@dataclass(frozen=True)
class HdpChains:
    """The chains of one sample."""

    topics: np.ndarray  # int (chains, sweeps): of every sweep, warm-up included
    warmup: int
    train: np.ndarray  # float (chains,): log probability per word, nats
    test: np.ndarray  # float (chains,): log probability per word of second halves, nats
    unigram: float  # perplexity of word frequencies on the same second halves
    seconds: float  # of one chain
    seconds_of_both: float  # of a chain on training and test documents together

    @property
    def after_warmup(self) -> np.ndarray:
        """Topics of every kept draw: int (chains, draws)."""
        return self.topics[:, self.warmup :]

    @property
    def commonest(self) -> np.ndarray:
        """The most common number of topics of each chain: int (chains,)."""
        return np.array([int(np.bincount(chain).argmax()) for chain in self.after_warmup])

    @property
    def arrival(self) -> float:
        """The sweep at which a chain first has a number of topics within the middle 90 % of its draws; median."""
        arrivals = []
        for chain, later in zip(self.topics, self.after_warmup, strict=True):
            low, high = np.quantile(later, [0.05, 0.95])
            arrivals.append(1 + int(np.argmax((chain >= low) & (chain <= high))))
        return float(np.median(arrivals))

    @property
    def r_hat(self) -> float:
        """R-hat of the number of topics over the chains."""
        return float(summarise({"topics": self.after_warmup}).loc["topics", "r_hat"])  # type: ignore[arg-type]


@dataclass(frozen=True)
class LdaFit:
    """LDA with one number of topics."""

    topics: int
    test: float  # log probability per word of second halves, nats
    bound: float  # perplexity from the variational bound of whole test documents
    seconds: float


@dataclass(frozen=True)
class TextRun:
    """All methods on one sample."""

    facts: dict[str, Any]  # of the sample
    hdp: HdpChains
    lda: list[LdaFit]
    lsa_seconds: float  # for all numbers of topics

    @property
    def seconds(self) -> dict[str, float]:
        """One chain of the HDP; LDA and LSA with all their numbers of topics."""
        return {
            "HDP": self.hdp.seconds,
            "LDA": sum(fit.seconds for fit in self.lda),
            "LSA": self.lsa_seconds,
        }

    @property
    def gains(self) -> np.ndarray:
        """HDP less LDA in log probability per word, nats, by LDA's number of topics."""
        return np.array([float(self.hdp.test.mean()) - fit.test for fit in self.lda])


def run_sample(sample: TextSample, chains: int, sweeps: int, warmup: int, counts: tuple[int, ...]) -> TextRun:
    """All methods on one sample, one after another and each on one thread, so that times compare."""
    return TextRun(
        facts=sample.facts(),
        hdp=run_hdp(sample, chains, sweeps, warmup),
        lda=[fit_lda(sample, topics) for topics in counts],
        lsa_seconds=time_lsa(sample.train, counts),
    )


def run_hdp(text: TextSample, chains: int, sweeps: int, warmup: int) -> HdpChains:
    """The chains of a sample, and the time of one on twice the documents."""
    posterior = sample_hdp(text.train, chains, sweeps, warmup)
    single = [dataclasses.replace(posterior, snapshots=[kept]) for kept in posterior.snapshots]
    scores = [document_completion(chain, text.test) for chain in single]
    twice = sample_hdp(text.both, 1, sweeps, warmup)
    return HdpChains(
        topics=np.hstack([posterior.warmup_trace["n_topics"], posterior.trace["n_topics"]]).astype(np.int64),
        warmup=warmup,
        train=np.array([_log_probability_of_training(chain, text.train) for chain in single]),
        test=np.array([score.log_probability_per_word for score in scores]),
        unigram=scores[0].baseline_perplexity,
        seconds=float(posterior.trace["seconds"][:, -1].mean()),
        seconds_of_both=float(twice.trace["seconds"][0, -1]),
    )


def sample_hdp(
    corpus: Corpus, chains: int, sweeps: int, warmup: int, keep_labels: bool = False
) -> HDPPosterior:
    """Chains with the settings of the paper's program, one after another on one thread."""
    return sample(
        corpus,
        Categorical(corpus.vocabulary_size, prior=PRIOR),
        sampler="direct",
        alpha=1.0,
        gamma=1.0,
        start=TOPICS,
        warmup=warmup,
        draws=sweeps - warmup,
        chains=chains,
        keep_labels=keep_labels,
        workers=1,
        progress=False,
    )


def _log_probability_of_training(posterior: HDPPosterior, corpus: Corpus) -> float:
    documents = corpus.group_of_observation.astype(np.int64)
    return float(np.log(training_probabilities(posterior, documents, corpus.observations)).mean())


def fit_lda(text: TextSample, topics: int) -> LdaFit:
    """LDA with the prior of words that the HDP has, scored on the halves that the HDP is scored on.

    The prior of a document's weights is scikit-learn's, 1 / topics.
    """
    from sklearn.decomposition import LatentDirichletAllocation
    from threadpoolctl import threadpool_limits

    begun = time.perf_counter()
    with threadpool_limits(1):
        model = LatentDirichletAllocation(topics, topic_word_prior=PRIOR, random_state=0)
        model.fit(text.train.to_matrix())
    seconds = time.perf_counter() - begun
    first, second = halve_documents(text.test, seed=0)
    weights = model.transform(first.to_matrix())
    words = model.components_ / model.components_.sum(axis=1, keepdims=True)
    probabilities = np.sum(weights[second.group_of_observation] * words[:, second.observations].T, axis=1)
    return LdaFit(
        topics=topics,
        test=float(np.log(probabilities).mean()),
        bound=float(model.perplexity(text.test.to_matrix())),
        seconds=seconds,
    )


def time_lsa(train: Corpus, counts: tuple[int, ...]) -> float:
    """Seconds of scikit-learn's truncated singular value decomposition, for all ranks together."""
    from sklearn.decomposition import TruncatedSVD
    from threadpoolctl import threadpool_limits

    matrix = train.to_matrix().astype(np.float64)
    begun = time.perf_counter()
    with threadpool_limits(1):
        for rank in counts:
            TruncatedSVD(rank, random_state=0).fit(matrix)
    return time.perf_counter() - begun


def table_of_samples(runs: list[TextRun]) -> pd.DataFrame:
    """One row a sample: its size, topics, perplexities; LDA at its best."""
    import pandas as pd

    rows = []
    for run in runs:
        best = max(run.lda, key=lambda fit: fit.test)
        rows.append(
            {
                **run.facts,
                "topics (medians of chains)": float(np.median(run.hdp.commonest)),
                "train perplexity": float(np.exp(-run.hdp.train.mean())),
                "test perplexity": float(np.exp(-run.hdp.test.mean())),
                "word frequencies": run.hdp.unigram,
                "best LDA": float(np.exp(-best.test)),
                "its topics": best.topics,
            }
        )
    return pd.DataFrame(rows)


def table_of_perplexity(run: TextRun) -> pd.DataFrame:
    """The paper's table of perplexities, and ours on the same sample."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "documents": name,
                "the paper": PRINTED[name],
                "here": float(np.exp(-logs.mean())),
                "lowest of a chain": float(np.exp(-logs.max())),
                "highest": float(np.exp(-logs.min())),
            }
            for name, logs in (("train", run.hdp.train), ("test", run.hdp.test))
        ]
    )


def table_of_seconds(runs: list[TextRun]) -> pd.DataFrame:
    """The paper's run times, and ours, mean over samples."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "method": name,
                "the paper, s": printed,
                "here, s": float(np.mean([run.seconds[name] for run in runs])),
            }
            for name, printed in PRINTED_SECONDS.items()
        ]
    )


def table_of_lda(runs: list[TextRun]) -> pd.DataFrame:
    """LDA by number of topics, mean over samples."""
    import pandas as pd

    rows = []
    for place, fit in enumerate(runs[0].lda):
        fits = [run.lda[place] for run in runs]
        rows.append(
            {
                "topics": fit.topics,
                "test perplexity": float(np.mean([np.exp(-f.test) for f in fits])),
                "by the variational bound": float(np.mean([f.bound for f in fits])),
                "HDP less LDA, nats per word": float(np.mean([run.gains[place] for run in runs])),
                "seconds": float(np.mean([f.seconds for f in fits])),
            }
        )
    return pd.DataFrame(rows)
