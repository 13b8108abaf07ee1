"""`franchise evaluate`: how well a run predicts new documents."""

from __future__ import annotations

import json as plain
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli import options

if TYPE_CHECKING:
    from franchise.diagnostics.score import Score

METHODS = ("completion", "left-to-right")

Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="What is predicted: completion (one half of a document from the other) or left-to-right (all of it).",
        autocompletion=lambda incomplete: [name for name in METHODS if name.startswith(incomplete)],
    ),
]


def evaluate(
    run: options.Run,
    path: options.Data,
    method: Method = "completion",
    format: options.Format = None,
    text: options.Text = None,
    vocabulary: options.Vocabulary = None,
    encoding: options.Encoding = "utf-8",
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Score how well new documents are predicted.

    Either one half of each document from the other, at random (of a hidden topic Markov model, the last half of the
    sentences from the first), or each document as a whole, from left to right, which takes longer. Prints the
    perplexity (lower is better), that of single words without topics, and the log probability per word with its
    standard errors over documents, over draws and, where there are such, for having few particles. The seed is that
    of the halves and of the particles.
    """
    from franchise.cli.library_arguments import File, corpus_of, read_like, read_run
    from franchise.diagnostics import document_completion, left_to_right
    from franchise.validation import check_choice

    method = check_choice("--method", method, METHODS)
    posterior = read_run(run)
    documents = read_like(File(path, format, text, None, vocabulary, encoding), corpus_of(posterior))
    if method == "completion":
        score = document_completion(posterior, documents, seed)
    else:
        score = left_to_right(posterior, documents, seed=seed)
    print(plain.dumps(as_plain(method, score)) if json else score)


def as_plain(method: str, score: Score) -> dict[str, Any]:
    """A score as plain values that JSON can hold; what cannot be known is None."""
    known = {name: None if math.isnan(value) else value for name, value in asdict(score).items()}
    return {"method": method, "perplexity": score.perplexity, **known}
