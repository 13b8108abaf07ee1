"""`franchise evaluate`: how well a run predicts new documents."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Annotated

import typer

from franchise.cli.options import Output, Run, Source, one_of, with_options

METHODS = ("completion", "left-to-right")


@with_options(without=("name", "group", "columns", "quiet"))
def evaluate(
    *,
    run: Run,
    source: Source,
    method: Annotated[
        str,
        typer.Option(
            help="completion (predict half of each document from the other half) or left-to-right (score whole "
            "documents).",
            autocompletion=one_of(METHODS),
        ),
    ] = "completion",
    seed: Annotated[
        int, typer.Option(help="Random seed of the halves and particles.", rich_help_panel="Run")
    ] = 0,
    output: Output,
) -> None:
    """Score how well a run predicts new documents.

    Completion splits each document at random and predicts one half from the other. With a hidden topic Markov
    model it predicts the last half of the sentences from the first. Left-to-right scores whole documents and takes
    longer. Prints the perplexity (lower is better), a unigram baseline, and the log probability per word with
    standard errors (documents, draws, particles).
    """
    from franchise.cli.library_arguments import check_numbers, read_like, read_run
    from franchise.diagnostics import document_completion, left_to_right
    from franchise.validation import check_choice

    check_choice("--method", method, METHODS)
    check_numbers(seed=seed)
    posterior = read_run(run)
    score_by = document_completion if method == "completion" else left_to_right
    score = score_by(posterior, read_like(source, posterior), seed=seed)
    if not output.json:
        print(score)
        return
    known = {name: None if math.isnan(value) else value for name, value in asdict(score).items()}
    print(json.dumps({"method": method, "perplexity": score.perplexity, **known}))
