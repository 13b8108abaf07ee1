"""`franchise evaluate`: how well a run predicts new documents."""

from __future__ import annotations

import json as plain
from dataclasses import asdict

from franchise.cli import options


def evaluate(
    run: options.Run,
    path: options.Data,
    format: options.Format = None,
    text: options.Text = None,
    vocabulary: options.Vocabulary = None,
    encoding: options.Encoding = "utf-8",
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Predict one half of each new document from the other, and score it.

    Of a hidden topic Markov model, the last half of the sentences from the first. Prints the perplexity (lower is
    better), that of single words without topics, and the log probability per word
    with its standard error over documents. The seed is that of the halves.
    """
    from franchise.cli.reading import File, corpus_of, read_like, read_run
    from franchise.diagnostics.heldout import document_completion
    from franchise.htmm.posterior import SegmentPosterior

    posterior = read_run(run)
    documents = read_like(File(path, format, text, None, vocabulary, encoding), corpus_of(posterior))
    if isinstance(posterior, SegmentPosterior):
        figure = posterior.perplexity(documents)
        print(plain.dumps({"perplexity": figure}) if json else f"perplexity {figure:.1f}")
        return
    score = document_completion(posterior, documents, seed)
    print(plain.dumps({"perplexity": score.perplexity, **asdict(score)}) if json else score)
