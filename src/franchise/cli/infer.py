"""`franchise infer`: the topics of new documents."""

from __future__ import annotations

import json as plain
import sys

from franchise.cli import options


def infer(
    run: options.Run,
    path: options.Data,
    format: options.Format = None,
    text: options.Text = None,
    name: options.Name = None,
    vocabulary: options.Vocabulary = None,
    encoding: options.Encoding = "utf-8",
    out: options.Table = None,
    json: options.Json = False,
) -> None:
    """Find the shares of a run's topics in new documents; they are read as those of the run were.

    A terminal shows the largest topics of each document; a pipe or a file gets all shares, as CSV.
    """
    from franchise.cli.library_arguments import File, corpus_of, read_like, read_run
    from franchise.cli.render import SHOWN, make_console, print_largest_topics, rows_of, write_table

    posterior = read_run(run)
    documents = read_like(File(path, format, text, name, vocabulary, encoding), corpus_of(posterior))
    table = posterior.infer(documents)
    if out is not None:
        write_table(out, table)
    if json:
        print(plain.dumps(rows_of(table)))
    elif out is None and sys.stdout.isatty():
        print_largest_topics(make_console(), table.head(SHOWN), len(table), posterior.consensus_topics.labels)
    elif out is None:
        table.to_csv(sys.stdout, float_format="%.6g")
