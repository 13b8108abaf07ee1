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
            help="What is predicted: completion (one half of a document from the other) or left-to-right "
            "(all of it).",
            autocompletion=one_of(METHODS),
        ),
    ] = "completion",
    seed: Annotated[int, typer.Option(help="The same seed gives the same draws.", rich_help_panel="Run")] = 0,
    output: Output,
) -> None:
    """Score how well new documents are predicted.

    Either one half of each document from the other, at random (of a hidden topic Markov model, the last half of the
    sentences from the first), or each document as a whole, from left to right, which takes longer. Prints the
    perplexity (lower is better), that of single words without topics, and the log probability per word with its
    standard errors over documents, over draws and, where there are such, for having few particles. The seed is that
    of the halves and of the particles.
    """
    from franchise.cli.library_arguments import read_like, read_run
    from franchise.diagnostics import document_completion, left_to_right
    from franchise.validation import check_choice

    check_choice("--method", method, METHODS)
    posterior = read_run(run)
    score_by = document_completion if method == "completion" else left_to_right
    score = score_by(posterior, read_like(source, posterior), seed=seed)
    if not output.json:
        print(score)
        return
    known = {name: None if math.isnan(value) else value for name, value in asdict(score).items()}
    print(json.dumps({"method": method, "perplexity": score.perplexity, **known}))
