"""Frank, Greenberg & Lindner, "Replicating Hierarchical Dirichlet Processes" (2020): their experiments done again.

`ants` is the simulated data set, `speed` the run times of samplers and families, `text` the documents with LDA and
LSA beside the HDP, `script` what the paper took for perplexity; `corpora` gets the texts, `following` keeps hold of
topics through a chain, `figures` draws, `statements` judges.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from franchise_studies.frank import ants, figures, script, speed, statements, text
from franchise_studies.frank.corpora import REUTERS, SOTU, Texts, load_texts
from franchise_studies.judging import FEWEST
from franchise_studies.output import StudyFolder
from franchise_studies.running import Tell, side_by_side, versions


@dataclass(frozen=True)
class Size:
    """How much is run."""

    ants_chains: int  # of each sampler and grouping
    ants_sweeps: int
    speed_sweeps: int
    speed_repeats: int
    samples: int  # of the collection of texts
    documents: int  # of a sample, to train on, and as many to test
    chains: int  # of each sample
    sweeps: int
    warmup: int
    topics: tuple[int, ...]  # of LDA and LSA


FULL = Size(
    ants_chains=40,
    ants_sweeps=500,
    speed_sweeps=2000,
    speed_repeats=7,
    samples=10,
    documents=100,
    chains=10,
    sweeps=2000,
    warmup=500,
    topics=text.COUNTS,
)
QUICK = Size(
    ants_chains=10,
    ants_sweeps=500,
    speed_sweeps=400,
    speed_repeats=3,
    samples=5,
    documents=100,
    chains=5,
    sweeps=600,
    warmup=200,
    topics=(3, 10, 20, 40, 60),
)

TITLE = "Frank, Greenberg & Lindner's replication of the HDP, done again"


def run(
    folder: StudyFolder, quick: bool, data: Path | None, on_progress: Tell, size: Size | None = None
) -> Path:
    """Do the study and write its page; nothing is written before all is measured."""
    size = size or (QUICK if quick else FULL)
    texts = load_texts(data, size.samples, size.documents)
    on_progress("run times", 0.0)
    timings = speed.time_all(size.speed_sweeps, size.speed_repeats)
    chains = _run_ants(size, on_progress)
    runs = _run_texts(size, texts, on_progress)
    scores = script.score_as_the_script(texts.samples[0], size.sweeps, size.warmup)
    folder.make()
    _write_ants(folder, chains)
    _write_speed(folder, timings)
    _write_texts(folder, texts.name, runs, scores)
    _write_comparison(folder, runs)
    folder.facts(
        {
            "study": "frank",
            "quick": quick,
            "size": asdict(size),
            "texts": texts.name,
            "samples": [sample.facts() for sample in texts.samples],
            "versions": versions(),
        }
    )
    return folder.page(
        TITLE,
        _introduction(size, quick, texts.name),
        statements.judge(chains, timings, texts.name, runs, scores),
    )


def _run_ants(size: Size, on_progress: Tell) -> list[ants.Run]:
    tasks = [
        ants.Task(sampler, grouping, seed)
        for seed in range(size.ants_chains)
        for grouping in ants.GROUPINGS
        for sampler in ants.SAMPLERS
    ]
    return side_by_side(
        lambda task, _: ants.run_chain(task, size.ants_sweeps),
        tasks,
        lambda share: on_progress("ants", 0.15 + 0.15 * share),
    )


def _run_texts(size: Size, texts: Texts, on_progress: Tell) -> list[text.TextRun]:
    runs = []
    for sample in texts.samples:
        runs.append(text.run_sample(sample, size.chains, size.sweeps, size.warmup, size.topics))
        on_progress("text", 0.3 + 0.7 * len(runs) / len(texts.samples))
    return runs


# --- what is written ----------------------------------------------------------------------------------------


def _introduction(size: Size, quick: bool, name: str) -> list[str]:
    words = [
        "Quinn Frank, Morris Greenberg and George Lindner programmed the two Gibbs samplers of Teh et al. "
        "(2006), by restaurants (CRF) and by direct assignment, and tried them on made-up counts of ants and "
        "on documents. This page repeats their experiments with franchise and sets what they say beside "
        "what was measured.",
        "Settings that the paper does not print are those of its program and notebooks "
        "(github.com/quinnfrank/hdp-py). That program allows a fixed number of clusters, adds a small number "
        "to every weight, and loses the weight of a cluster that empties; the samplers here do none of "
        "this and draw from the posterior of the model.",
        f"Ants: {size.ants_chains} chains of {size.ants_sweeps} sweeps for each setting (the paper: one). "
        f"Text: {size.samples} samples of {size.documents} documents to train on and as many to test, "
        f"{size.chains} chains of {size.sweeps} sweeps each (the paper: one sample, one chain, 2000 sweeps). "
        f"With fewer than {FEWEST} chains or samples nothing is decided.",
    ]
    if name != REUTERS:
        words.append(
            "No data folder was given, so paragraphs of the bundled State of the Union addresses stand in "
            "for the Reuters stories; what the paper prints for Reuters is then not decided."
        )
    if quick:
        words.append("This is the quick form: it shows what comes out; its numbers prove little.")
    return words


def _write_ants(folder: StudyFolder, chains: list[ants.Run]) -> None:
    folder.heading("The ants")
    folder.text(
        f"184 counts of three studies with four conditions each; rates ~ Gamma({ants.SHAPE:g}, "
        f"{ants.RATE:g}), both concentrations 1, {ants.WARMUP} sweeps of warm-up, as in the paper's "
        "notebook. Its groups are the three studies; the text speaks of twelve, which are tried beside. The "
        "two samplers have one posterior: where they differ, chains of this length are too short. How well "
        "each mixes, the table of chains says."
    )
    folder.table(
        "ants_clusters",
        ants.table_of_clusters(chains),
        "The paper's first table: sweeps, out of 450, with this many clusters.",
    )
    folder.figure("ants_clusters", figures.draw_histogram(chains), "The same as bars.")
    folder.table(
        "ants_chains",
        ants.table_of_chains(chains),
        "The number of clusters: its mean, how it differs from chain to chain, and how well chains mix "
        "(R-hat near 1 and many effective draws are good).",
    )
    first = {sampler: ants.choose(chains, sampler)[0] for sampler in ants.SAMPLERS}
    folder.figure(
        "ants_traces",
        figures.draw_shares(first[ants.DIRECT]),
        "Trace plots: the share of the trials in each of the largest clusters (direct, first chain; the "
        "paper plots the weights of its 12 clusters).",
    )
    for sampler, chain in first.items():
        folder.figure(
            f"ants_heat_{sampler}",
            figures.draw_heat_maps(chain),
            f"Heat maps of the last {ants.SHOWN} sweeps ({sampler}, first chain): a row is a trial, a colour "
            "a cluster, followed from sweep to sweep by the trials it holds.",
        )
    folder.table(
        "ants_links",
        ants.table_of_links(chains),
        "The chance that a trial of one group and a trial of another share a cluster: controls of different "
        "studies, the two groups of changed temperature, and all other pairs of groups.",
    )
    folder.figure(
        "ants_links", figures.draw_together(chains), "The same for all pairs of groups; groups: 3 studies."
    )


def _write_speed(folder: StudyFolder, timings: list[speed.Timing]) -> None:
    folder.heading("Run times of the samplers and families")
    folder.text(
        f"Ten sweeps on {speed.PAPER.observations} observations of {speed.PAPER.categories} categories in "
        f"{speed.PAPER.groups} groups, the paper's data from its seed; and on {speed.LARGE.observations} "
        f"observations in {speed.LARGE.groups} groups made the same way, since a compiled sweep over so few "
        "observations as the paper's is mostly bookkeeping. Compilation is left out. One thread; median of "
        "the repeats. The paper also times the functions of its mixture components by themselves; here they "
        "are compiled into the sweep, so there is no such function to time."
    )
    folder.table("speed", speed.table_of_times(timings), "Milliseconds for ten sweeps.")
    folder.table(
        "speed_ratios", speed.table_of_ratios(timings), "Ratios of these times: how many times as long."
    )


_WHAT = {
    REUTERS: "Sample 0 is the paper's: the first stories of the collection. (The "
    "script in the paper's repository, Real Data Example.py, tells its sampler of 50 words only, which then "
    "takes every other word for the most frequent one; here all words count.)",
    SOTU: "Paragraphs come in random order; none of the samples is the paper's.",
}


def _write_texts(
    folder: StudyFolder, name: str, runs: list[text.TextRun], scores: list[script.ScriptScore]
) -> None:
    folder.heading(f"Documents: {name}")
    folder.text(
        f"Direct assignment with a Dirichlet prior of {text.PRIOR} for every word and both concentrations 1. "
        "The vocabulary of a sample is of the words that occur at least 10 times in its documents, stop "
        "words left out. " + _WHAT[name]
    )
    folder.table(
        "text_samples",
        text.table_of_samples(runs),
        "Every sample: the HDP's number of topics and perplexities (means of the chains), what word "
        "frequencies alone have on the same words, and LDA with the number of topics that turns out best.",
    )
    folder.figure(
        "text_topics",
        figures.draw_topics(runs[0], printed=name == REUTERS),
        f"The number of topics, {name}, sample 0.",
    )
    folder.table(
        "text_perplexity",
        text.table_of_perplexity(runs[0]),
        f"The paper's table of perplexities (Reuters), and ours ({name}, sample 0).",
    )
    folder.table(
        "text_script",
        script.table_of_script(scores),
        f"What the script in the paper's repository would print for one chain of ours ({name}, sample 0). It "
        "counts the topic labels of words in the place of the words themselves, so its number hangs on how "
        "topics are numbered, which means nothing; a perplexity does not.",
    )


def _write_comparison(folder: StudyFolder, runs: list[text.TextRun]) -> None:
    folder.heading("LDA and LSA")
    folder.text(
        f"LDA and LSA are scikit-learn's, LDA with the HDP's prior of words, {text.PRIOR}, and 1 / topics "
        "for the weights of a document. LSA gives no probabilities, so it is timed only, as in the paper. "
        "HDP and LDA predict the same halves of the same test documents. All run on one thread."
    )
    folder.table(
        "comparison_times",
        text.table_of_seconds(runs),
        f"Run times: one chain of the HDP ({runs[0].hdp.topics.shape[1]} sweeps), and LDA and LSA with "
        f"{len(runs[0].lda)} numbers of topics; means of the samples.",
    )
    folder.figure(
        "comparison_lda",
        figures.draw_lda(runs),
        "Perplexity of test documents against the number of topics of LDA.",
    )
    folder.table(
        "comparison_lda",
        text.table_of_lda(runs),
        "LDA by number of topics, means of the samples.",
        on_page=False,
    )
