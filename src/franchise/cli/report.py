"""`franchise report`: the results of a run as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franchise.cli.options import Output, Rules, Run, with_options

if TYPE_CHECKING:
    from rich.console import Console

    from franchise.posterior.base import Posterior


@with_options(without=("json",))
def report(
    *,
    run: Run,
    rules: Rules,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="HTML file to write.", rich_help_panel="Output")
    ] = Path("report.html"),
    title: Annotated[
        str | None,
        typer.Option(help="Report title [default: the number of documents].", rich_help_panel="Output"),
    ] = None,
    documents: Annotated[
        int,
        typer.Option(help="Maximum number of documents to embed with full text.", rich_help_panel="Output"),
    ] = 3000,
    open_it: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser.", rich_help_panel="Output")
    ] = False,
    output: Output,
) -> None:
    """Write a self-contained HTML report: topics, documents and convergence diagnostics."""
    from franchise.cli.library_arguments import check_numbers, read_run
    from franchise.cli.render import convergence_sentence, make_console, print_line

    check_numbers(documents=documents)
    console = make_console(output.quiet)
    posterior = read_run(run, rules)
    written = write_with_progress(console, posterior, out, title=title, documents=documents)
    print_line(console, convergence_sentence(posterior))
    show_written(console, written)
    if open_it:
        import webbrowser

        webbrowser.open(written.resolve().as_uri())


def write_with_progress(console: Console, posterior: Posterior[Any], path: Path, **settings: Any) -> Path:
    """Write the report and show the progress, unless the console is quiet."""
    from franchise.cli.render import shared_progress
    from franchise.report import write_report

    with shared_progress(console) as on_progress:
        return write_report(posterior, path, progress=on_progress, **settings)


def show_written(console: Console, written: Path) -> None:
    """Print the path of the report; a quiet console gets nothing else."""
    if console.quiet:
        print(written)
        return
    from rich.markup import escape

    size, where = written.stat().st_size / 1e6, escape(str(written))
    console.print(
        f"The report is in [bold]{where}[/bold] ({size:.1f} MB). Open it in any browser.", soft_wrap=True
    )
