"""`franchise demo`: topics of the State of the Union addresses, which ship with the package, and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table

    from franchise.data.corpus import Corpus
    from franchise.posterior.hdp_posterior import HDPPosterior

TITLE = "State of the Union addresses, 1790 to 2026"
PRIOR = 0.1  # Dirichlet prior on topic-word distributions
YEARS_PER_BAR = 20
IN_BOX = 10  # topics in the first box


def demo(
    out: Annotated[Path, typer.Option(help="Directory for the report and the tables.")] = Path("demo"),
    draws: Annotated[int, typer.Option(help="Draws per chain.")] = 80,
    warmup: Annotated[int, typer.Option(help="Warm-up sweeps per chain.")] = 150,
    chains: Annotated[int, typer.Option(help="Number of chains, run in parallel.")] = 4,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same draws.")] = 0,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only the paths of the files written.")
    ] = False,
) -> None:
    """Fit the State of the Union addresses, 1790 to 2026, and write a report (about three minutes)."""
    from franchise.cli.library_arguments import check_numbers
    from franchise.cli.render import make_console, print_size_and_verdict
    from franchise.cli.report import show_written, write_with_progress
    from franchise.families.categorical import Categorical
    from franchise.sampling import sample
    from franchise.validation import check_folder

    check_folder("--out", out)
    check_numbers(draws=draws, warmup=warmup, chains=chains, seed=seed)
    console = make_console(quiet)
    corpus = _load(console)
    posterior = sample(
        corpus,
        Categorical(corpus.vocabulary_size, prior=PRIOR),
        draws=draws,
        warmup=warmup,
        chains=chains,
        seed=seed,
        progress=False if quiet else None,
    )
    out.mkdir(parents=True, exist_ok=True)
    page = write_with_progress(console, posterior, out / "report.html", title=TITLE)
    shares = shares_of_addresses(corpus, posterior.document_topics())
    console.print()
    console.print(_answer(posterior))
    console.print(_topic_table(posterior, shares, console))
    print_size_and_verdict(console, posterior)
    topics, addresses = out / "topics.csv", out / "document_topics.csv"
    posterior.consensus(words=20).to_csv(topics, float_format="%.6f")
    shares.to_csv(addresses, float_format="%.5f")
    if quiet:
        print(topics, addresses, sep="\n")
    else:
        _print_what_next(console, topics, addresses)
    show_written(console, page)


def _load(console: Console) -> Corpus:
    from franchise.data.datasets import load

    corpus = load("sotu", unit="paragraph")
    years = corpus.metadata["year"]
    console.print(
        f"State of the Union addresses, {min(years)} to {max(years)}: {corpus.n_documents:,} paragraphs, "
        f"{corpus.n_tokens:,} words, {corpus.vocabulary_size:,} distinct words.\n"
        f"Fitting topics (their number is inferred). The first run compiles code for a few seconds."
    )
    return corpus


def shares_of_addresses(corpus: Corpus, document_topics: pd.DataFrame) -> pd.DataFrame:
    """Return the expected share of each address's words in each topic, from the topics of its paragraphs.

    One row per address, indexed by date, president, delivery, year and number of words; columns as in
    `document_topics`.
    """
    facts = corpus.documents[["date", "president", "delivery", "year", "tokens"]]
    keys = ["date", "president", "delivery", "year"]
    words = document_topics.reset_index(drop=True).mul(facts["tokens"], axis=0)
    by_address = words.groupby([facts[key] for key in keys], sort=False).sum()
    tokens = facts.groupby(keys, sort=False)["tokens"].sum().rename("words")
    return by_address.div(tokens, axis=0).set_index(tokens, append=True)


def _answer(posterior: HDPPosterior) -> Panel:
    """Return what is in the addresses: the largest topics that most chains share, in plain words."""
    from rich.markup import escape
    from rich.panel import Panel

    topics, chains = posterior.topics(), posterior.n_chains
    topics["words"] = [", ".join(words) for words in posterior.consensus_topics.relevant_words(7)]
    least = chains // 2 + 1  # more than half of the chains
    common = topics[topics["chains"] >= least]
    every = topics[topics["chains"] == chains]
    fits = f"at least {least}" if least < chains else "all"
    lines = [
        f"The model was fitted {chains} times, in independent chains. {len(common)} topics are in {fits} of "
        f"them, with {common['share'].sum():.0%} of the words. The largest, with their share of the words:",
        *(f"  {row['share']:5.1%}  {escape(row['words'])}" for _, row in common.head(IN_BOX).iterrows()),
        f"{len(every)} topics with {every['share'].sum():.0%} of the words are in all {chains} chains: rely on "
        "these first. Topics of a single chain may not appear in another fit.",
    ]
    return Panel("\n".join(lines), title="Topics of the addresses", title_align="left")


def _topic_table(posterior: HDPPosterior, shares: pd.DataFrame, console: Console) -> Table:
    from rich.table import Column, Table

    from franchise.cli.render import SHOWN, WIDE, sparkline

    topics = posterior.consensus(words=8 if console.width >= WIDE else 5)
    history = _history(shares)
    years = shares.index.get_level_values("year")
    table = Table(
        *(Column(name, justify="right") for name in ("topic", "share", "draws", "chains")),
        Column(f"{years.min()}-{years.max()}", no_wrap=True),
        "words",
        title=f"The {min(SHOWN, len(topics))} largest of {len(topics)} consensus topics",
        title_justify="left",
    )
    for topic, row in topics.head(SHOWN).iterrows():
        picture = sparkline(history[topic].tolist(), console.encoding)
        seen = f"{row['chains']} of {row['n_chains']}"
        table.add_row(str(topic), f"{row['share']:.1%}", f"{row['draws']:.0%}", seen, picture, row["words"])
    return table


def _history(shares: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each topic in the words of each 20-year period."""
    years, words = (shares.index.get_level_values(level) for level in ("year", "words"))
    by_period = shares.mul(words, axis=0).groupby((years - years.min()) // YEARS_PER_BAR).sum()
    return by_period.div(by_period.sum(axis=1), axis=0)


def _print_what_next(console: Console, topics: Path, addresses: Path) -> None:
    console.print(
        f"\nFiles: [bold]{topics}[/bold] (all topics), [bold]{addresses}[/bold] (topics of each address)."
    )
    console.print("Next:", style="bold")
    console.print("  franchise demo --warmup 2000 --draws 1000            run longer chains")
    console.print("  franchise samplers                                   list the samplers")
    console.print("  franchise fit PATH                                   fit your own texts")
    console.print("  python: import franchise as fr; fr.sample(fr.read_corpus(path)).topics()", markup=False)
