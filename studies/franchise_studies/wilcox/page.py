"""The page: what was simulated, Tables 7.2 and 7.3, figures, the NIPS papers."""

from __future__ import annotations

from pathlib import Path

from franchise_studies.output import StudyFolder
from franchise_studies.wilcox import figures, nips, printed, tables
from franchise_studies.wilcox.fits import CROSSED, SHOWN, Outcome
from franchise_studies.wilcox.size import ADDED, WRITTEN, Size

TITLE = "Wilcox's hidden topic Markov model, done again"
Outcomes = dict[str, list[Outcome]]


def introduction(size: Size, quick: bool, data: Path | None) -> list[str]:
    """The first paragraphs."""
    words = [
        "Wilcox (2017) derives EM and a Gibbs sampler for the hidden topic Markov model of Gruber, Rosen-Zvi and "
        "Weiss: each sentence has one topic, and the next one keeps it or draws a new one. Chapter 7 tries both "
        "on twelve simulated data sets and compares the model with LDA on the NIPS papers. This page repeats the "
        "chapter with franchise and sets what the thesis says beside what was measured. Its beta is phi here.",
        f"Gibbs sampling: two chains for each data set, where the thesis has one. Those of short documents are as "
        f"long as its own ({size.small.warmup} sweeps of warm-up, {size.small.draws} draws, every "
        f"{size.small.thin}th sweep kept); those of long documents are shorter, as Table 7.3 says for each, "
        "with R-hat and the number of independent draws that they are worth. EM ends when a step gains less than "
        f"0.01; {size.starts} starts race each other.",
    ]
    if data is None:
        words.append(
            "No data folder was given, so the comparison with LDA on the NIPS papers (7.2) is left out. It needs "
            f"{nips.PAPERS} in the folder given by --data."
        )
    if quick:
        words.append("This is the quick form: it shows what comes out; its numbers prove little.")
    return words


def write_simulated(folder: StudyFolder, size: Size, outcomes: Outcomes, crossed: list[Outcome]) -> None:
    """Section 7.1."""
    _write_tables(folder, size, outcomes)
    _write_decoding(folder, outcomes)
    _write_epsilon(folder, outcomes, crossed)
    _write_figures(folder, outcomes[WRITTEN])


def _write_tables(folder: StudyFolder, size: Size, outcomes: Outcomes) -> None:
    folder.heading("The twelve simulated data sets")
    folder.text(
        f"Simulated as written: {size.documents} documents, of which the first {size.trained} are fitted (the "
        "thesis: 600 and 500), 1000 words, Poisson(10) or "
        "Poisson(250) sentences of Poisson(20) words, theta of a document from a Dirichlet law whose weights are a "
        "random permutation of (1/K, ..., K/K), phi of a topic from one with a permutation of (1/V, ..., V/V). "
        "Priors are the thesis': alpha = 1 + 50/K, eta = 1.01, zeta = 1. Accuracies are shares of words, topics "
        "matched one to one by the Hungarian method; errors are means over all entries."
    )
    for reading, found in outcomes.items():
        mark = "" if reading == WRITTEN else "_added"
        if reading == ADDED:
            folder.text(
                "Data simulated so are easier than the thesis': topics are recovered without error, and epsilon is "
                "estimated lower. Numbers like the printed ones come out if one is added to all these weights, to "
                "(1 + 1/K, ..., 2) and (1 + 1/V, ..., 2), so theta is less extreme and topics are more similar. "
                "The thesis does not say so. It is a guess, made from the printed epsilon and errors of the first "
                "data sets; the other data sets and all accuracies were not used for it. The same tables for data "
                "simulated in that way:"
            )
        folder.table(
            f"em{mark}",
            tables.table_of_em(found),
            f"Table 7.2, EM; simulated {reading}. Viterbi: the best path; sentence: the most probable topic of "
            "each sentence; true: decoded with the true parameters.",
        )
        folder.table(
            f"gibbs{mark}",
            tables.table_of_gibbs(found),
            f"Table 7.3, Gibbs sampling; simulated {reading}. Sweeps: chains x (warm-up + draws x thinning).",
        )
    far = _far_from_truth(outcomes.get(ADDED, []))
    if far:
        folder.text(
            f"With one added, accuracy is more than 0.01 below that with the true parameters on data sets {far}: "
            "topics that are very similar are estimated from too few words there, or a chain of Gibbs sampling has "
            "stayed where two topics share one, which epsilon hardly notices."
        )


def _write_decoding(folder: StudyFolder, outcomes: Outcomes) -> None:
    folder.heading("Why the thesis' accuracies are low")
    last = outcomes.get(ADDED, outcomes[WRITTEN])
    folder.text(
        "Within a sentence the topic cannot change, so that in (5.51) the maximum must be over the states of the "
        "same topic. As it is printed it is over all states. Then a word in the middle of a sentence is given the "
        f"topic in which it is most frequent, whatever the other words say. {_as_printed(last)} So this may be "
        "what was run, though the thesis' program is not known. How topics are matched matters little: with argmax "
        "matching, where two topics found may stand for one, accuracies change by at most "
        f"{_change_by_matching(last):.2f}."
    )
    for reading, found in outcomes.items():
        folder.table(
            f"decoding{'' if reading == WRITTEN else '_added'}",
            tables.table_of_decoding(found),
            f"Accuracy after EM, by decoder; simulated {reading}. (As printed: about the first 100,000 words.)",
        )
    folder.text(
        "Matching does matter for the errors of theta and phi, which compare topics by number. With two topics the "
        "print is near what matched topics give; with ten, near what topics give that are compared with any other."
    )
    folder.table(
        "matching",
        tables.table_of_matching(last),
        f"Errors of theta and phi after EM; simulated {ADDED if ADDED in outcomes else WRITTEN}. Not matched: the "
        "mean over all pairings of topics.",
    )


def _far_from_truth(found: list[Outcome]) -> str:
    """The data sets on which accuracy is more than 0.01 below that with the true parameters."""
    numbers = [
        str(outcome["design"]["number"])
        for outcome in found
        if min(outcome["em"]["path"], outcome["gibbs"]["accuracy"]) < outcome["truth"]["path"] - 0.01
    ]
    return ", ".join(numbers)


def _as_printed(found: list[Outcome]) -> str:
    """How accurate the printed recursion is, and how far from the printed accuracies."""
    table = tables.table_of_decoding(found)
    ours, theirs = table[tables.AS_PRINTED], table["thesis"]
    by_topics = ", ".join(
        f"{ours[table['K'] == topics].min():.2f} to {ours[table['K'] == topics].max():.2f} with {topics} topics"
        for topics in sorted(table["K"].unique())
    )
    return f"Accuracies are then {by_topics}; Table 7.2 is off these by at most {(ours - theirs).abs().max():.2f}."


def _change_by_matching(found: list[Outcome]) -> float:
    """The most that argmax matching changes accuracies."""
    table = tables.table_of_decoding(found)
    return float((table[tables.AS_PRINTED] - table[tables.BY_ARGMAX]).abs().max())


def _write_epsilon(folder: StudyFolder, outcomes: Outcomes, crossed: list[Outcome]) -> None:
    folder.heading("Why epsilon comes out low")
    folder.text(
        "A switch that draws the topic it came from cannot be seen: it looks like staying. How frequent that is, "
        "theta says: with probability theta_k of the topic. The prior alpha = 1 + 50/K is worth as much as 50 "
        "sentences that are spread evenly, so it pulls theta towards even proportions; the true ones are far from "
        "even. With even proportions fewer switches lead back to the same topic than with the true ones, so that "
        "sentences that keep their topic are put down to staying rather than to switching back to a large topic, "
        "and epsilon comes out low: most with two topics, where switching back "
        "is most frequent, and with short documents, which cannot outweigh the prior. With priors that fit the "
        "simulation, alpha = (K + 1)/(2K) and eta = (V + 1)/(2V), the symmetric laws of the same weight, it does "
        "not."
    )
    folder.table(
        "epsilon",
        tables.table_of_fitting(outcomes[WRITTEN]),
        "epsilon by Gibbs sampling, its mean and 95 % interval, and whether that covers the truth.",
    )
    folder.table(
        "epsilon_priors",
        tables.table_of_crossed(crossed),
        f"The two priors changed one by one, on data set {CROSSED}: which of them epsilon goes by.",
    )
    folder.figure(
        "epsilon", figures.draw_bias(outcomes), "Estimates of epsilon, by Gibbs sampling, over the truth."
    )


def _write_figures(folder: StudyFolder, found: list[Outcome]) -> None:
    folder.heading("Figures 7.1 to 7.13")
    numbers = {
        7: ("7.8 and 7.9", "7.10 and 7.11", "7.12 and 7.13"),
        1: ("7.2 and 7.3", "7.4 and 7.5", "7.6 and 7.7"),
    }
    for outcome in found:
        number = outcome["design"]["number"]
        if number not in SHOWN:
            continue
        if number == 1:
            climb = figures.draw_climb(
                outcome["em"]["objectives"], outcome["em"]["switches"], outcome["design"]["switch"]
            )
            folder.figure("climb", climb, "Figure 7.1: EM on data set 1, after the race of the starts.")
        else:
            folder.text(
                "The thesis' Figure 7.10 shows label switching. Here topics of all draws are matched, so that "
                "there is none to be seen. Of Figures 7.8 and 7.9 it says that epsilon is near 0.8; its Table 7.3 "
                f"has 0.082, and here it is {outcome['gibbs']['switch']:.3f}."
            )
        switch, theta, phi = numbers[number]
        folder.figure(
            f"switch_{number}",
            figures.draw_switch(outcome),
            f"Figures {switch}: epsilon on data set {number}, first chain.",
        )
        folder.figure(
            f"theta_{number}",
            figures.draw_paths(outcome, "theta"),
            f"Figures {theta}: theta of the first document of data set {number}, the thesis' priors.",
        )
        folder.figure(
            f"phi_{number}",
            figures.draw_paths(outcome, "phi"),
            f"Figures {phi}: probabilities of the first word, data set {number}, the thesis' priors.",
        )


# --- the NIPS papers ----------------------------------------------------------------------------------------


def write_papers(folder: StudyFolder, papers: nips.Papers, fits: list[nips.Fitted], size: Size) -> None:
    """Section 7.2."""
    htmm = fits[0]
    vocabulary = papers.train.vocabulary
    folder.heading("The NIPS papers, beside LDA")
    folder.text(
        f"{papers.train.n_documents} papers to train on and {papers.test.n_documents} to test, drawn at random "
        f"(the thesis: {printed.NIPS_DOCUMENTS} and {printed.NIPS_TEST}); {len(vocabulary)} words, those that are "
        f"in at least {papers.least} training papers, stop words left out (the thesis: {printed.NIPS_VOCABULARY}); "
        f"{papers.train.n_tokens} words in the text. Sentences end at every full stop, question mark, exclamation "
        f"mark and colon. {size.nips_topics} topics; theta's prior 1.5, words' 1.01. HTMM by EM, the best of "
        f"{size.nips_starts} starts, {htmm.steps} steps. LDA is scikit-learn's variational Bayes, "
        f"{size.lda_passes} passes over the papers (the thesis: {printed.LDA_ITERATIONS}); its priors, of means "
        "and not of maxima, are one less: 0.5 and 0.01."
    )
    folder.figure(
        "papers_climb",
        figures.draw_climb(htmm.path, htmm.switches[: len(htmm.path)], None),
        "Figure 7.14: EM on the papers, after the race of the starts.",
    )
    folder.table(
        "papers_perplexity",
        nips.table_of_perplexity(fits),
        "Perplexity. Fitted on the same words, as in the thesis: a test document's proportions are fitted on the "
        "very words that are scored, which flatters. Second halves: proportions fitted on the first half of its "
        "sentences, and the words of the others scored.",
    )
    folder.table(
        "papers_topics", nips.table_of_topics(fits, vocabulary), "The largest topics of both models."
    )
    folder.table(
        "papers_senses",
        nips.table_of_senses(fits, vocabulary),
        f"Topics that have '{nips.ASKED}' among their {nips.FREQUENT} most frequent words.",
    )
    folder.table(
        "papers_documents",
        nips.table_of_documents(fits),
        "Topics of a training document: effective number, one over the sum of the squared proportions.",
    )
    folder.figure(
        "papers_documents",
        figures.draw_documents(fits, nips.shown_documents(papers)),
        "Figures 7.17 and 7.18: topic proportions of some documents (not the thesis' documents: its split is "
        "not known).",
    )
