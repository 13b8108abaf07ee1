"""`franchise infer`: the topics of new documents."""

from __future__ import annotations

import sys

from franchise.cli.options import Rules, Run, Source, TableOutput, with_options


@with_options()
def infer(run: Run, source: Source, rules: Rules, output: TableOutput) -> None:
    """Infer the topic proportions of new documents, preprocessed like the training corpus.

    In a terminal this prints the largest topics of each document; in a pipe, all proportions as CSV. For runs of
    tables of observations, --group names the columns of the new table.
    """
    from franchise.cli.library_arguments import read_like, read_run
    from franchise.cli.new_observations import read_observations
    from franchise.cli.render import SHOWN, give_table, make_console, print_largest_topics, print_line

    posterior = read_run(run, rules)
    observations = read_observations(source, posterior)
    table = posterior.infer(read_like(source, posterior) if observations is None else observations)
    if give_table(output, table):
        return
    if sys.stdout.isatty():
        console = make_console()
        print_largest_topics(console, table.head(SHOWN), len(table), posterior.consensus_topics.labels)
        print_line(
            console, f"Largest Monte Carlo error of a proportion: {table.attrs['monte_carlo_error']:.3f}."
        )
    else:
        table.to_csv(sys.stdout, float_format="%.6g")
